"""Nodes whose accelerators are published in slices alone; a pod asks for them as it did with the device plugin."""

from __future__ import annotations

from fault_injection.library.world import World


def scene(world: World) -> None:
    nodes = world.nodes(2)
    resource = {"gpu.nvidia.com": "nvidia.com/gpu", "gpu.amd.com": "amd.com/gpu"}[world.gpu.driver]
    for node in nodes:
        for field in ("capacity", "allocatable"):
            node["status"][field].pop(resource, None)
    count = world.draw.choice((1, 2, 4))
    device_class = next(
        item for item in world.scene.objects if item["kind"] == "DeviceClass" and item["metadata"]["name"] == world.gpu.driver
    )
    pod = world.scene.pod(resources={resource: str(count)})
    world.role(pod=pod, resource=resource, driver=world.gpu.driver, device_class=device_class, count=count)
