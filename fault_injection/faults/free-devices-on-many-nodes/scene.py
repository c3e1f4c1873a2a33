"""Four nodes, each with one or two devices free; the pod wants four on one node. One node has two pods of which one could move."""

from __future__ import annotations

from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    nodes = world.nodes(4)
    free = [2, 1, 2, 1]
    world.draw.shuffle(free)
    roomy = free.index(2)
    for number, node in enumerate(nodes):
        held = world.devices(node)[: 8 - free[number]]
        if number == roomy:
            world.role(movable=world.scene.running(node, held[:2], world.gpu.driver))
            world.role(large=world.scene.running(node, held[2:], world.gpu.driver))
        else:
            world.scene.running(node, held, world.gpu.driver)
    claim = world.scene.claim(request(world.gpu.device_class, 4))
    world.role(pod=world.scene.pod(claim), claim=claim, driver=world.gpu.driver, node=nodes[roomy])
