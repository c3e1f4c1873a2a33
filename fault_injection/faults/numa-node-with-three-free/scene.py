"""Two nodes of two NUMA nodes of four: one is full; the other has three small pods, one on the first NUMA node and two on the second."""

from __future__ import annotations

from fault_injection.library.world import World
from fault_injection.scenes import request, same

DRIVERS = ("gpu.nvidia.com",)
NUMA = "resource.kubernetes.io/numaNode"


def scene(world: World) -> None:
    full, node = world.draw.sample(world.nodes(2), 2)
    whole = world.scene.running(full, world.devices(full), world.gpu.driver)
    halves: dict[int, list[str]] = {0: [], 1: []}
    for device in world.scene.devices_of(node, world.gpu.driver):
        halves[device["attributes"][NUMA]["int"]].append(device["name"])
    emptier, fuller = world.draw.sample((0, 1), 2)
    one = world.scene.running(node, [world.draw.choice(halves[emptier])], world.gpu.driver)
    left, right = (world.scene.running(node, [name], world.gpu.driver) for name in world.draw.sample(halves[fuller], 2))
    claim = world.scene.claim(request(world.gpu.device_class, 4), constraints=[same(NUMA)])
    world.role(pod=world.scene.pod(claim), claim=claim, driver=world.gpu.driver, node=node)
    world.role(one=one, left=left, right=right, whole=whole, numa=NUMA)
