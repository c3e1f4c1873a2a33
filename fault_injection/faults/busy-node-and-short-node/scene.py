"""Two nodes of eight accelerators by device plugin: the first is in use, on the second one device has been taken for unhealthy."""

from __future__ import annotations

from fault_injection.library.world import World


def scene(world: World) -> None:
    resource = world.draw.choice(("nvidia.com/gpu", "amd.com/gpu", "habana.ai/gaudi"))
    busy, short = world.scene.plain_nodes(2, cpu="64", memory="512Gi")
    for node, healthy in ((busy, 8), (short, 7)):
        node["status"]["capacity"] = {**node["status"]["capacity"], resource: "8"}
        node["status"]["allocatable"] = {**node["status"]["allocatable"], resource: str(healthy)}
    spec = {**world.scene.pod_spec(cpu="2", resources={resource: "6"}), "nodeName": busy["metadata"]["name"]}
    holder = world.scene.add("v1", "Pod", world.scene.names.word(), spec=spec)
    pod = world.scene.pod(cpu="8", resources={resource: "8"})
    world.role(pod=pod, resource=resource, short=short, holder=holder)
