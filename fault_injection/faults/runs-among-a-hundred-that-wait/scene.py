"""Twelve nodes: all devices but two are held; the pod got those, and a hundred more want one to eight."""

from __future__ import annotations

from fault_injection.library.signs import running
from fault_injection.library.world import World
from fault_injection.scenes import request

NODES, WAITING = 12, 100


def scene(world: World) -> None:
    nodes = world.draw.sample(world.nodes(NODES), NODES)
    world.scene.running(nodes[0], world.devices(nodes[0])[:6], world.gpu.driver)
    for node in nodes[1:]:
        world.scene.running(node, world.devices(node), world.gpu.driver)
    claim = world.scene.claim(request(world.gpu.device_class, 2))
    world.role(pod=world.scene.pod(claim), claim=claim, driver=world.gpu.driver)
    world.until(running())
    templates = {number: world.scene.template(request(world.gpu.device_class, number)) for number in (1, 2, 4, 8)}
    for _ in range(WAITING):
        world.role(other=world.scene.pod(templates[world.draw.choice((1, 2, 4, 8))]))
