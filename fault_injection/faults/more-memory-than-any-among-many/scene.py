"""Ten nodes, all devices but four held; sixty pods want eight devices each. One wants one, of the size on the product's label."""

from __future__ import annotations

from fault_injection.library.world import World
from fault_injection.scenes import request

NODES, OTHERS = 10, 60
A_LITTLE_MORE = {"81559Mi": "80Gi", "23034Mi": "24Gi", "40Gi": "41Gi", "196592Mi": "192Gi"}


def scene(world: World) -> None:
    nodes = world.draw.sample(world.nodes(NODES), NODES)
    holder = world.scene.running(nodes[0], world.devices(nodes[0])[:4], world.gpu.driver)
    for node in nodes[1:]:
        world.scene.running(node, world.devices(node), world.gpu.driver)
    template = world.scene.template(request(world.gpu.device_class, 8))
    place = world.draw.randrange(OTHERS)
    wanted = A_LITTLE_MORE[world.gpu.memory]
    claim = world.scene.claim(request(world.gpu.device_class, 1, world.gpu.has_memory(wanted)))
    for number in range(OTHERS):
        if number == place:
            world.role(pod=world.scene.pod(claim))
        world.scene.pod(template)
    world.role(claim=claim, holder=holder, driver=world.gpu.driver, wanted=wanted, memory=world.gpu.memory)
    world.role(enough=world.gpu.has_memory(world.gpu.memory))
