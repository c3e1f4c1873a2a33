"""A pod ran with a named claim, and ended well."""

from __future__ import annotations

from fault_injection.library.signs import running
from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    world.nodes(1)
    claim = world.scene.claim(request(world.gpu.device_class, 2))
    pod = world.scene.pod(claim, restartPolicy="Never")
    world.role(pod=pod, claim=claim, driver=world.gpu.driver)
    world.until(running())
    world.patch(pod, {"status": {"phase": "Succeeded"}}, "status")
