"""One divisible GPU; two small partitions in use lie so that neither start of a large one is free."""

from __future__ import annotations

from fault_injection.library.world import World
from fault_injection.scenes import request

DRIVERS = ("gpu.nvidia.com",)
MIG = "mig.nvidia.com"


def scene(world: World) -> None:
    (node,) = world.scene.nodes("p5.4xlarge", 1, mig=True)
    low, high = world.draw.choice((0, 1, 2, 3)), world.draw.choice((4, 5, 6))
    by_start = {
        int(device["name"].rpartition("-")[2]): device["name"]
        for device in world.scene.devices_of(node, world.gpu.driver)
        if "-mig-1g10gb-19-" in device["name"]
    }
    first = world.scene.running(node, [by_start[low]], world.gpu.driver, device_class=MIG)
    second = world.scene.running(node, [by_start[high]], world.gpu.driver, device_class=MIG)
    claim = world.scene.claim(request(MIG, 1, "device.attributes['gpu.nvidia.com'].profile == '3g.40gb'"))
    world.role(pod=world.scene.pod(claim), claim=claim, first=first, second=second, node=node)
