"""Two nodes of two GPUs to share, each with shares in use; a request without memory takes a whole GPU's, by the driver's policy."""

from __future__ import annotations

from fault_injection.library.shares import running_on_share, shared
from fault_injection.library.world import World
from fault_injection.scenes import request

MEMORY = {"value": "80Gi", "requestPolicy": {"default": "80Gi", "validRange": {"min": "1Gi", "step": "1Gi"}}}
CORES = {"value": "100", "requestPolicy": {"default": "10", "validRange": {"min": "1", "step": "1"}}}


def scene(world: World) -> None:
    driver = world.draw.choice(("hami-core-gpu.project-hami.io", "vgpu.example.com"))
    nodes = world.scene.plain_nodes(2)
    for node in nodes:
        world.publish(node, driver, [shared(f"card-{number}", {"memory": MEMORY, "cores": CORES}) for number in range(2)])
    few = (world.draw.choice(nodes)["metadata"]["name"], f"card-{world.draw.choice((0, 1))}")
    for node in nodes:
        for card in ("card-0", "card-1"):
            number = 1 if (node["metadata"]["name"], card) == few else 2
            made = [running_on_share(world, node, driver, card, {"memory": "16Gi", "cores": "20"}) for _ in range(number)]
            world.role(**({"single": made[0]} if number == 1 else {"double": made[0]}))
    claim = world.scene.claim(request(driver, 1, capacity={"cores": "10"}))
    world.role(pod=world.scene.pod(claim), claim=claim, driver=driver)
