"""Forty nodes alike, all devices of all but one in use; that one's slice says that its pool has two."""

from __future__ import annotations

from fault_injection.library.world import World
from fault_injection.scenes import request

NODES = 40


def scene(world: World) -> None:
    nodes = world.nodes(NODES)
    odd = world.draw.choice(nodes)
    for node in nodes:
        if node is not odd:
            world.scene.running(node, world.devices(node), world.gpu.driver)
    (piece,) = world.scene.slices_of(odd, world.gpu.driver)
    piece["spec"]["pool"]["resourceSliceCount"] = 2
    claim = world.scene.claim(request(world.gpu.device_class, 2))
    world.role(pod=world.scene.pod(claim), claim=claim, driver=world.gpu.driver, odd=odd, slice=piece)
    for _ in range(3):
        world.scene.pod(world.scene.claim(request(world.gpu.device_class, world.draw.choice((1, 4, 8)))))
