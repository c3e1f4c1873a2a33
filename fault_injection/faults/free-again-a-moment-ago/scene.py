"""A pod was refused because another held the devices; that one is gone, and the scheduler's next attempt is still to come."""

from __future__ import annotations

from fault_injection.library.signs import gone, refused
from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    (node,) = world.nodes(1)
    earlier = world.scene.running(node, world.devices(node), world.gpu.driver)
    claim = world.scene.claim(request(world.gpu.device_class, 6))
    world.role(pod=world.scene.pod(claim), claim=claim, earlier=earlier, driver=world.gpu.driver)
    world.until(refused())
    world.stop("kube-scheduler")
    world.delete(earlier)
    world.until(gone("earlier"))
