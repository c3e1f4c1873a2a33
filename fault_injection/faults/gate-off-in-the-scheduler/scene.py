"""A device that can be shared by bandwidth, and a claim for a part of it."""

from __future__ import annotations

from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    driver = world.draw.choice(("nic.example.com", "sriovnetwork.k8snetworkplumbingwg.io"))
    bandwidth = {"value": "40G", "requestPolicy": {"default": "1G", "validRange": {"min": "1G", "step": "1G"}}}
    for node in world.scene.plain_nodes(2):
        world.publish(node, driver, [{"name": "port-0", "allowMultipleAllocations": True, "capacity": {"bandwidth": bandwidth}}])
    amount = world.draw.choice(("5G", "10G"))
    claim = world.scene.claim(request(driver, 1, capacity={"bandwidth": amount}, name="port"))
    world.role(pod=world.scene.pod(claim), claim=claim, driver=driver, amount=amount)
