"""Thirty nodes of eight devices. On most the rings have two members and all are free; on three they have four, two of these are full."""

from __future__ import annotations

from fault_injection.library.world import World
from fault_injection.scenes import request, same

NODES, LARGER = 30, 3


def scene(world: World) -> None:
    driver = world.draw.choice(("npu.example.com", "gaudi.example.com"))
    ring = f"{driver}/ring"
    nodes = world.scene.plain_nodes(NODES)
    larger = world.draw.sample(nodes, LARGER)
    for node in nodes:
        members = 4 if node in larger else 2
        place = world.draw.randrange(10**4)
        devices = [{"name": f"npu-{number}", "attributes": {ring: {"string": f"r{place:04}-{number // members}"}}} for number in range(8)]
        world.publish(node, driver, devices)
    near, *full = larger
    for node in full:
        world.scene.running(node, [f"npu-{number}" for number in range(8)], driver)
    # Of the first ring two are free, of the second none.
    first = world.draw.sample([f"npu-{number}" for number in range(4)], 2)
    small = world.scene.running(near, first[:1], driver)
    large = world.scene.running(near, [first[1], *(f"npu-{number}" for number in range(4, 8))], driver)
    claim = world.scene.claim(request(driver, 3), constraints=[same(ring)])
    three = [request(driver, 1, name=name) for name in ("a", "b", "c")]
    world.role(pod=world.scene.pod(claim), claim=claim, driver=driver, ring=ring, near=near, small=small, large=large, three=three)
