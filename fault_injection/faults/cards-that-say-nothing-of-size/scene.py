"""Two nodes with cards whose memory is published as 0, and a claim for cards of at least so much."""

from __future__ import annotations

import copy

from fault_injection.library.world import World
from fault_injection.scenes import request

DRIVER = "gpu.intel.com"


def scene(world: World) -> None:
    real, wanted, less = world.draw.choice((("48Gi", "16Gi", "1Gi"), ("24Gi", "8Gi", "2Gi"), ("16Gi", "5Gi", "1Gi")))
    nodes = world.scene.plain_nodes(2)
    for node in nodes:
        cards = [
            {
                "name": f"0000-{place:02x}-00-0",
                "attributes": {"family": {"string": "Data Center Flex"}, "sriov": {"bool": False}},
                "capacity": {"memory": {"value": "0"}, "millicores": {"value": "1k"}},
            }
            for place in world.draw.sample(range(16, 200), 4)
        ]
        world.publish(node, DRIVER, cards)
    (piece,) = world.scene.slices_of(nodes[0], DRIVER)
    known = copy.deepcopy(piece["spec"]["devices"])
    for card in known:
        card["capacity"]["memory"] = {"value": real}

    def at_least(amount: str) -> str:
        return f"device.capacity['{DRIVER}'].memory.compareTo(quantity('{amount}')) >= 0"

    claim = world.scene.claim(request(DRIVER, 1, at_least(wanted)))
    world.role(pod=world.scene.pod(claim), claim=claim, slice=piece, known=known, driver=DRIVER)
    world.role(wanted=wanted, at_least=at_least(wanted), at_least_less=at_least(less), less=less)
