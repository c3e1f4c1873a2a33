"""A driver that publishes each CPU as a device, and a claim for more than 32 of them in two requests."""

from __future__ import annotations

from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    driver = world.draw.choice(("dra.cpu", "cpu.example.com"))
    for node in world.scene.plain_nodes(2, cpu="96"):
        cpus = [
            {"name": f"cpudev{number:03d}", "attributes": {"cpuID": {"int": number}, "numaNodeID": {"int": number // 32}}}
            for number in range(64)
        ]
        world.publish(node, driver, cpus)
    count = world.draw.choice((34, 40, 48))
    claim = world.scene.claim(request(driver, count, name="cpus"))
    world.role(pod=world.scene.pod(claim, cpu="1"), claim=claim, driver=driver, count=count, half=count // 2)
