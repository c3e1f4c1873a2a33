"""Two nodes as a cloud makes those with accelerators, on which no device plugin has registered; a pod tolerates their taint."""

from __future__ import annotations

from fault_injection.library.world import World
from fault_injection.scenes import taint, tolerate


def scene(world: World) -> None:
    resource, label, value = world.draw.choice(
        (
            ("nvidia.com/gpu", "cloud.google.com/gke-accelerator", "nvidia-tesla-t4"),
            ("nvidia.com/gpu", "k8s.amazonaws.com/accelerator", "nvidia-l4"),
            ("amd.com/gpu", "kubernetes.azure.com/accelerator", "amd"),
        )
    )
    nodes = world.scene.plain_nodes(2, cpu="32", labels={label: value}, taints=[taint(resource, "present")])
    asked = {"selector": {label: value}, "tolerations": [tolerate(resource)], "resources": {resource: "1"}}
    node = world.draw.choice(nodes)
    world.role(pod=world.scene.pod(cpu="4", **asked), resource=resource, node=node, label=label, value=value)
