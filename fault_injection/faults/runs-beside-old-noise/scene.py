"""A pod that was refused at first, because another held the devices, and runs now."""

from __future__ import annotations

from fault_injection.library.signs import gone, refused, running
from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    (node,) = world.nodes(1)
    earlier = world.scene.running(node, world.devices(node), world.gpu.driver)
    claim = world.scene.claim(request(world.gpu.device_class, 3))
    world.role(pod=world.scene.pod(claim), claim=claim, earlier=earlier, driver=world.gpu.driver)
    world.until(refused())
    world.delete(earlier)
    world.until(gone("earlier"))
    world.until(running())
