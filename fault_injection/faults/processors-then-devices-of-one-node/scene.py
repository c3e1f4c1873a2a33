"""One node of 64 CPUs: a pod without devices has 36, one with all eight devices has 10, and a pod wants 40 and two devices."""

from __future__ import annotations

from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    (node,) = world.nodes(1, cpu="64")
    plain = world.scene.running(node, cpu="36")
    holder = world.scene.running(node, world.devices(node), world.gpu.driver, cpu="10")
    claim = world.scene.claim(request(world.gpu.device_class, 2))
    world.role(pod=world.scene.pod(claim, cpu="40"), claim=claim, plain=plain, holder=holder, node=node, driver=world.gpu.driver)
