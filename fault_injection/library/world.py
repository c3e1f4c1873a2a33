"""What a scene has in its hands: the vocabulary of scenes, the variant of its seed, and steps in time.

def scene(world: World) -> None:
    node = world.nodes()[0]
    claim = world.scene.claim(request(world.gpu.device_class, 9))
    world.role(pod=world.scene.pod(claim), claim=claim)

Objects that were described count from the next step on, or from the end. A role is given to whatever the golden file speaks of; `pod`, or
what `ask` names, is what the user asks about.
"""

from __future__ import annotations

import copy
import random
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fault_injection.scenes import Scene

from .declared import Fault
from .herd import Herd
from .roles import Named, Value
from .signs import Sign
from .steps import Component, Create, Delete, Found, Hold, Log, Patch, Said, Step, Wait
from .variants import Accelerator, Variant

Object = dict[str, Any]


class World:
    """One injection as it is being described."""

    def __init__(self, name: str, fault: Fault, variant: Variant, real: str | None = None) -> None:
        """`real`: the controller that runs beside the control plane, whose part the scene leaves to it."""
        self.fault = fault
        self.variant = variant
        self.settings: dict[str, Any] = {}
        self._real = real
        self.scene = Scene(zlib.crc32(f"{name} {variant.seed}".encode()), release=fault.plane.release)
        self.draw = random.Random(f"scene {name} {variant.seed}")
        self.steps: list[Step] = []
        self.logs: list[Log] = []
        self._roles: dict[str, Any] = {}
        self._said: set[str] = set()
        self._working: Callable[[], Object] | None = None
        self._herd = Herd(self.scene, fault.variants.herd, variant)
        self._herd.early()

    # --- vocabulary -------------------------------------------------------------------------------------------------------------

    @property
    def gpu(self) -> Accelerator:
        """The accelerator of this seed."""
        return self.variant.accelerator

    def nodes(self, number: int = 1, **options: Any) -> list[Object]:
        """Nodes with eight accelerators of this seed, with their slices and class. Options as for `Scene.nodes`."""
        return self.scene.nodes(self.gpu.shape, number, **options)

    def devices(self, node: Object) -> list[str]:
        """The names of a node's accelerators."""
        return [device["name"] for device in self.scene.devices_of(node, self.gpu.driver)]

    def publish(
        self, node: Object, driver: str, devices: Sequence[Object], *, slices: int = 1, device_class: bool = True, **spec: Any
    ) -> Object:
        """A slice of a driver of which the catalogue knows nothing (or not this), and its class. Without devices: an empty slice."""
        name = node["metadata"]["name"]
        pool = {"name": name, "generation": 1, "resourceSliceCount": slices}
        content = {"driver": driver, "nodeName": name, "pool": pool, **({"devices": list(devices)} if devices else {}), **spec}
        if device_class:
            self.scene.device_class(driver, f"device.driver == '{driver}'")
        slice_name = f"{name}-{driver}-{self.scene.names.suffix()}"
        return self.scene.add("resource.k8s.io/v1", "ResourceSlice", slice_name, namespaced=False, spec=content)

    def role(self, **roles: Object | Value | int) -> None:
        """Name objects, or words, numbers and structures, for the golden file."""
        self._roles |= {name: str(of) if isinstance(of, int) else of for name, of in roles.items()}

    def left_to(self, controller: str, **settings: Any) -> bool:
        """Whether this controller runs itself, and the scene has to leave its part to it. `settings`: how it is to be started."""
        if controller != self._real:
            return False
        self.settings |= settings
        return True

    def moment(self, age: float = 0, *, micro: bool = False) -> str:
        """A time so many seconds before the object is made, as the API writes it; it may stand anywhere in a text."""
        return f"<now-{age:g}{'.micro' if micro else ''}>"

    def neighbour(self, make: Callable[[], Object]) -> None:
        """How to make a pod that works beside this one; called only if the variant has one. Without it: a pod that wants no devices."""
        self._working = make

    # --- time -------------------------------------------------------------------------------------------------------------------

    def until(self, sign: Sign) -> None:
        """Wait for a sign; its role must have been given."""
        self._step(Wait(sign))

    def pod_of(self, role: str, owner: Object, *, bound: bool) -> None:
        """Give a role to the pod that a workload's controllers made, the one that is bound or the one that isn't."""
        self._step(Found(role, owner, bound=bound))

    def made_for(self, role: str, owner: Object, api_version: str, kind: str) -> None:
        """Give a role to the object of a kind that a controller made for another."""
        self._step(Found(role, owner, api_version, kind))

    def patch(self, item: Object, change: Mapping[str, Any], subresource: str = "") -> None:
        self._step(Patch(item, dict(change), subresource))

    def delete(self, item: Object) -> None:
        self._step(Delete(item))

    def stop(self, component: str) -> None:
        self._step(Component(component, up=False))

    def start(self, component: str) -> None:
        self._step(Component(component, up=True))

    def hold(self, pod: Object) -> None:
        """From now on no container of it is started; and none is ended, if it runs by now and is deleted with a grace period."""
        self.steps.append(Hold(pod))

    def said(self, about: Object, reason: str, message: str, source: str, **more: Any) -> None:
        """An event in the stead of a component that isn't in the lab."""
        self._step(Said(about, reason, message, source, **more))

    def log(self, pod: Object | str, *lines: tuple[float, str], container: str = "main", previous: bool = False) -> None:
        """What a container of a pod (an object, or a role) has written: lines, each so many seconds ago. For the recording; its source
        stands in fault.yaml."""
        self.logs.append(Log(pod, container, lines, previous))

    # --- the end ----------------------------------------------------------------------------------------------------------------

    def finish(self) -> Sequence[Step]:
        """All steps; the neighbour runs before anything waits."""
        if self.variant.neighbour:
            made = self._working() if self._working else self._plain_neighbour()
            self.role(neighbour=made)
        self._flush()
        self.steps += self._herd.distractors()
        return self.steps

    def late(self) -> list[Object]:
        """Innocent nodes that come after the scheduler's last word."""
        before = len(self.scene.objects)
        self._herd.late()
        return copy.deepcopy(self.scene.objects[before:])

    def named(self) -> dict[str, Named | Value]:
        """The roles as names and values."""
        return {name: Named.of(of) if isinstance(of, dict) and "metadata" in of else of for name, of in self._roles.items()}

    def _plain_neighbour(self) -> Object:
        nodes = [item for item in self.scene.objects if item["kind"] == "Node"]
        spec = (
            {**self.scene.pod_spec(cpu="100m", tolerations=[{"operator": "Exists"}]), "nodeName": nodes[0]["metadata"]["name"]}
            if nodes
            else {}
        )
        return self.scene.add("v1", "Pod", self.scene.names.word(), spec=spec or self.scene.pod_spec(cpu="100m"))

    def _step(self, step: Step) -> None:
        self._flush()
        self.steps.append(step)

    def _flush(self) -> None:
        new = [item for item in self.scene.objects if item["metadata"]["uid"] not in self._said]
        self._said |= {item["metadata"]["uid"] for item in new}
        if new:
            self.steps.append(Create(tuple(copy.deepcopy(new))))
