"""Two nodes, one of them full: a pod is bound to the other, whose driver is taken away before its containers start."""

from __future__ import annotations

from typing import Any

from fault_injection.library.not_started import not_prepared
from fault_injection.library.signs import gone, scheduled
from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    full, left = world.nodes(2)
    (piece,) = world.scene.slices_of(left, world.gpu.driver)
    holder = world.scene.running(full, world.devices(full), world.gpu.driver)
    template = world.scene.template(request(world.gpu.device_class, 2))
    name = world.scene.names.word()
    label = {"app": name}
    pods = {"metadata": {"labels": label}, "spec": world.scene.pod_spec(template, cpu="4")}
    spec: dict[str, Any] = {"replicas": 1, "serviceName": name, "selector": {"matchLabels": label}, "template": pods}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"{name}-0", "namespace": "default"}}
    world.hold(pod)
    owner = world.scene.add("apps/v1", "StatefulSet", name, spec=spec)
    world.role(pod=pod, owner=owner, holder=holder, template=template, slice=piece, node=left, driver=world.gpu.driver)
    world.until(scheduled())
    world.delete(piece)
    world.until(gone("slice"))
    not_prepared(world, pod, f"DRA driver {world.gpu.driver} is not registered", 12)
