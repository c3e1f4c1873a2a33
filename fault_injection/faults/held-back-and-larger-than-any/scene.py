"""A gated pod on a cluster with free devices, none of which has the memory that its claim asks for."""

from __future__ import annotations

from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    world.nodes(2)
    gate = world.draw.choice(("example.com/approval", "team.example.com/budget"))
    amount = world.draw.choice(("200Gi", "240Gi"))
    claim = world.scene.claim(request(world.gpu.device_class, 1, world.gpu.has_memory(amount)))
    world.role(pod=world.scene.pod(claim, schedulingGates=[{"name": gate}]), claim=claim, gate=gate, driver=world.gpu.driver)
    world.role(amount=amount, memory=world.gpu.memory, enough=world.gpu.has_memory("16Gi"))
