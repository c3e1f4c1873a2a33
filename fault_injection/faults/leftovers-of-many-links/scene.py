"""Two nodes of three links of 40G to share; 3G, 5G and 6G are left on each node."""

from __future__ import annotations

from fault_injection.library.shares import running_on_share, shared
from fault_injection.library.world import World
from fault_injection.scenes import request

BANDWIDTH = {"value": "40G", "requestPolicy": {"default": "1G", "validRange": {"min": "1G", "step": "1G"}}}
LEFT = (3, 5, 6)
SMALL = 2


def scene(world: World) -> None:
    driver = world.draw.choice(("nic.example.com", "sriovnetwork.k8snetworkplumbingwg.io"))
    nodes = world.scene.plain_nodes(2)
    chosen = world.draw.choice(nodes)
    for node in nodes:
        world.publish(node, driver, [shared(f"eth{number}", {"bandwidth": BANDWIDTH}) for number in range(3)])
        for number, left in enumerate(world.draw.sample(LEFT, 3)):
            used = 40 - left
            # On one node a small share makes the difference, on a link where it does and on one where it doesn't.
            parts = (used - SMALL, SMALL) if node is chosen and left != 5 else (used // 2, used - used // 2)
            pods = [running_on_share(world, node, driver, f"eth{number}", {"bandwidth": f"{part}G"}) for part in parts]
            if node is chosen and left != 5:
                world.role(**{"enough" if left == 6 else "less": pods[1]})
    claim = world.scene.claim(request(driver, 1, capacity={"bandwidth": "8G"}))
    two = [request(driver, 1, capacity={"bandwidth": "4G"}, name=name) for name in ("a", "b")]
    world.role(pod=world.scene.pod(claim), claim=claim, driver=driver, node=chosen, two=two)
