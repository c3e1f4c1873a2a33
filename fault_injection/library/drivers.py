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
    name = NAMES.get(world.gpu.driver, f"{world.gpu.driver.replace('.', '-')}-kubelet-plugin")
    label = {"app.kubernetes.io/name": name}
    spec = {
        "containers": [{"name": "plugin", "image": "registry.example/driver:1"}],
        "nodeSelector": dict(selects),
        "tolerations": [{"operator": "Exists"}],
        "volumes": [{"name": "plugins", "hostPath": {"path": f"/var/lib/kubelet/plugins/{world.gpu.driver}"}}],
    }
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
