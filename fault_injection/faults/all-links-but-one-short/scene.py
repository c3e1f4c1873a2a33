"""Two nodes of four links to share: on one node one link has 5G left, on the other two have; all others have 30G."""

from __future__ import annotations

from fault_injection.library.shares import running_on_share, shared
from fault_injection.library.world import World
from fault_injection.scenes import request

BANDWIDTH = {"value": "40G", "requestPolicy": {"default": "1G", "validRange": {"min": "1G", "step": "1G"}}}


def scene(world: World) -> None:
    driver = world.draw.choice(("nic.example.com", "sriovnetwork.k8snetworkplumbingwg.io"))
    nodes = world.scene.plain_nodes(2)
    nearer = world.draw.choice(nodes)
    for node in nodes:
        world.publish(node, driver, [shared(f"eth{number}", {"bandwidth": BANDWIDTH}) for number in range(4)])
        tight = world.draw.sample(range(4), 1 if node is nearer else 2)
        for number in range(4):
            parts = ("25G", "10G") if number in tight else ("10G",)
            pods = [running_on_share(world, node, driver, f"eth{number}", {"bandwidth": part}) for part in parts]
            if number in tight:
                world.role(**{"deciding" if node is nearer else "one": pods[1]})
            elif node is nearer:
                world.role(roomy=pods[0])
    claim = world.scene.claim(request(driver, None, capacity={"bandwidth": "10G"}))
    world.role(pod=world.scene.pod(claim), claim=claim, driver=driver, node=nearer)
