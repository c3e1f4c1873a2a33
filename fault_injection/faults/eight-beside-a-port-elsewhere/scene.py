"""A node with 32 devices on one NUMA node and a NIC on the other; eight devices and the NIC are wanted, all of one NUMA node."""

from __future__ import annotations

import copy

from fault_injection.library.world import World
from fault_injection.scenes import request, same

NUMA = "resource.kubernetes.io/numaNode"


def scene(world: World) -> None:
    driver, links = world.draw.choice(("npu.example.com", "tpu.example.com")), "dra.net"
    (node,) = world.scene.plain_nodes(1, cpu="64")
    near = world.draw.choice((0, 1))
    world.publish(node, driver, [{"name": f"chip-{number}", "attributes": {NUMA: {"int": near}}} for number in range(32)])
    piece = world.publish(node, links, [{"name": "eth0", "attributes": {NUMA: {"int": 1 - near}}}])
    moved = copy.deepcopy(piece["spec"]["devices"])
    moved[0]["attributes"] = {NUMA: {"int": near}}
    claim = world.scene.claim(request(driver, 8, name="chips"), request(links, 1, name="link"), constraints=[same(NUMA)])
    world.role(pod=world.scene.pod(claim), claim=claim, slice=piece, moved=moved, numa=NUMA, driver=driver, node=node)
