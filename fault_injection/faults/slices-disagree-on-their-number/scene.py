"""A pool in two slices: the first counts one slice, the second three."""

from __future__ import annotations

from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    (node,) = world.nodes(1)
    (piece,) = world.scene.slices_of(node, world.gpu.driver)
    devices = piece["spec"]["devices"]
    piece["spec"]["devices"] = devices[:4]
    piece["spec"]["pool"]["resourceSliceCount"] = 1
    second = world.publish(node, world.gpu.driver, devices[4:], slices=3)
    claim = world.scene.claim(request(world.gpu.device_class, 2))
    world.role(pod=world.scene.pod(claim), claim=claim, slice=second, first=piece, driver=world.gpu.driver, node=node)
