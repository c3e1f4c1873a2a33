"""Two nodes with a taint of their own and all devices free, each of which the driver has tainted."""

from __future__ import annotations

import copy

from fault_injection.library.world import World
from fault_injection.scenes import request, taint, tolerate


def scene(world: World) -> None:
    key = world.draw.choice(("example.com/accelerated", "node.example.com/team"))
    health = f"{world.gpu.driver}/{world.draw.choice(('xid', 'health', 'link'))}"
    nodes = world.nodes(2, taints=[taint(key, "research")])
    pieces = []
    for node in nodes:
        (piece,) = world.scene.slices_of(node, world.gpu.driver)
        pieces.append((piece, copy.deepcopy(piece["spec"]["devices"])))
        world.scene.taint_devices(node, world.gpu.driver, taint(health, "degraded"))
    piece, sound = world.draw.choice(pieces)
    claim = world.scene.claim(request(world.gpu.device_class, 2))
    world.role(pod=world.scene.pod(claim), claim=claim, driver=world.gpu.driver, slice=piece, sound=sound, key=key, health=health)
    world.role(tolerated=[tolerate(key)])
