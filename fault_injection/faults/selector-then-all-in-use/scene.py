"""The only accelerators are in use; the selector asks for more memory than any of them has."""

from __future__ import annotations

from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    (node,) = world.nodes(1)
    holder = world.scene.running(node, world.devices(node), world.gpu.driver)
    claim = world.scene.claim(request(world.gpu.device_class, 1, world.gpu.has_memory("200Gi")))
    enough = world.gpu.has_memory("16Gi")
    world.role(pod=world.scene.pod(claim), claim=claim, driver=world.gpu.driver, holder=holder, memory=world.gpu.memory, enough=enough)
