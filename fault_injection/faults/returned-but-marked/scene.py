"""One of eight devices gets a taint while a pod has it; then that pod ends. A pod wants all eight."""

from __future__ import annotations

import copy

from fault_injection.library.signs import gone
from fault_injection.library.world import World
from fault_injection.scenes import request, taint


def scene(world: World) -> None:
    (node,) = world.nodes(1)
    (piece,) = world.scene.slices_of(node, world.gpu.driver)
    place = world.draw.randrange(8)
    user = world.scene.running(node, [world.devices(node)[place]], world.gpu.driver)
    world.role(user=user)
    key = world.draw.choice(("node.example.com/check", "fabric.example.com/link"))
    devices = copy.deepcopy(piece["spec"]["devices"])
    devices[place]["taints"] = [taint(key, "1")]
    world.patch(piece, {"spec": {"devices": devices}})
    world.delete(user)
    world.until(gone("user"))
    claim = world.scene.claim(request(world.gpu.device_class, 8))
    world.role(pod=world.scene.pod(claim), claim=claim, slice=piece, key=key, place=place, node=node, driver=world.gpu.driver)
    world.role(device=devices[place]["name"], untainted=piece["spec"]["devices"])
