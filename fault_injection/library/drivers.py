"""A DRA driver as it is installed: a DaemonSet whose pods run on the nodes that it selects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .signs import Sign
from .world import World

Object = dict[str, Any]

NAMES = {"gpu.nvidia.com": "nvidia-dra-driver-gpu-kubelet-plugin", "gpu.amd.com": "k8s-gpu-dra-driver-kubelet-plugin"}


def daemon(world: World, selects: Mapping[str, str], nodes: Sequence[Object]) -> Object:
    """The kubelet plugin of this seed's driver, on nodes with these labels; the scene waits until it runs on all of `nodes`."""
    name, label = _name(world)
    spec = {**_spec(world), "nodeSelector": dict(selects)}
    made = world.scene.add(
        "apps/v1",
        "DaemonSet",
        name,
        labels=label,
        spec={"selector": {"matchLabels": label}, "template": {"metadata": {"labels": label}, "spec": spec}},
    )
    world.role(daemon=made)
    if nodes:
        world.until(Sign(of="daemon", field="status.numberReady", value=len(nodes)))
    return made


def plugin(world: World, node: Object) -> Object:
    """The kubelet plugin's pod on one node, by itself. No stand-in starts its container: what it does the scene says."""
    name, label = _name(world)
    spec = {**_spec(world), "nodeName": node["metadata"]["name"]}
    made = world.scene.add("v1", "Pod", f"{name}-{world.scene.names.suffix()}", labels=label, spec=spec)
    made["status"] = {"phase": "Pending"}
    world.hold(made)
    return made


def _name(world: World) -> tuple[str, dict[str, str]]:
    name = NAMES.get(world.gpu.driver, f"{world.gpu.driver.replace('.', '-')}-kubelet-plugin")
    return name, {"app.kubernetes.io/name": name}


def _spec(world: World) -> Object:
    return {
        "containers": [{"name": "plugin", "image": "registry.example/driver:1"}],
        "tolerations": [{"operator": "Exists"}],
        "volumes": [{"name": "plugins", "hostPath": {"path": f"/var/lib/kubelet/plugins/{world.gpu.driver}"}}],
    }
