"""Forty nodes of 64 CPUs: half have all devices free and 24 CPUs left, half have 28 CPUs left and all devices held."""

from __future__ import annotations

from fault_injection.library.world import World
from fault_injection.scenes import request

NODES = 40


def scene(world: World) -> None:
    nodes = world.draw.sample(world.nodes(NODES, cpu="64"), NODES)
    held, loaded = nodes[: NODES // 2], nodes[NODES // 2 :]
    for node in held:
        world.role(holder=world.scene.running(node, world.devices(node), world.gpu.driver, cpu="8"))
        world.scene.running(node, cpu="28")
    near = loaded[0]
    world.role(small=world.scene.running(near, cpu="12"), near=near)
    world.scene.running(near, cpu="28")
    for node in loaded[1:]:
        world.role(other=world.scene.running(node, cpu="4"))
        world.scene.running(node, cpu="36")
    claim = world.scene.claim(request(world.gpu.device_class, 2))
    world.role(pod=world.scene.pod(claim, cpu="32"), claim=claim, driver=world.gpu.driver)
