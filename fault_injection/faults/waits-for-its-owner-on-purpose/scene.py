"""A gated pod on a cluster with free devices."""

from __future__ import annotations

from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    world.nodes(2)
    gate = world.draw.choice(("example.com/approval", "team.example.com/budget"))
    claim = world.scene.claim(request(world.gpu.device_class))
    world.role(pod=world.scene.pod(claim, schedulingGates=[{"name": gate}]), claim=claim, gate=gate, driver=world.gpu.driver)
