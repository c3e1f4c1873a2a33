"""A node of eight accelerators by device plugin, one of which has been taken for unhealthy."""

from __future__ import annotations

from fault_injection.library.world import World


def scene(world: World) -> None:
    resource = world.draw.choice(("nvidia.com/gpu", "amd.com/gpu", "habana.ai/gaudi"))
    (node,) = world.scene.plain_nodes(1, cpu="64", memory="512Gi")
    node["status"]["capacity"] = {**node["status"]["capacity"], resource: "8"}
    node["status"]["allocatable"] = {**node["status"]["allocatable"], resource: "7"}
    world.role(pod=world.scene.pod(cpu="8", resources={resource: "8"}), resource=resource, short=node)
