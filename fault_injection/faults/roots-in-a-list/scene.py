"""Two nodes of two CPU groups, each near two PCIe roots, and of four NICs on these roots; CPUs and a NIC of one root are wanted."""

from __future__ import annotations

import copy
from typing import Any

from fault_injection.library.world import World
from fault_injection.scenes import request, same

ROOT = "resource.kubernetes.io/pcieRoot"


def scene(world: World) -> None:
    cpus, links = "dra.cpu", "dra.net"
    roots = [f"pci0000:{number:02x}" for number in world.draw.sample(range(16, 200), 4)]
    pieces: list[dict[str, Any]] = []
    for node in world.scene.plain_nodes(2, cpu="64"):
        groups = [{"name": f"cpudev{number}", "attributes": {ROOT: {"strings": roots[2 * number : 2 * number + 2]}}} for number in range(2)]
        pieces.append(world.publish(node, cpus, groups))
        world.publish(node, links, [{"name": f"eth{number}", "attributes": {ROOT: {"string": root}}} for number, root in enumerate(roots)])
    piece = world.draw.choice(pieces)
    nearest = copy.deepcopy(piece["spec"]["devices"])
    for number, group in enumerate(nearest):
        group["attributes"] = {ROOT: {"string": roots[2 * number]}}
    wanted = [request(cpus, name="cpus"), request(links, name="link")]
    claim = world.scene.claim(*wanted, constraints=[same(ROOT)])
    world.role(pod=world.scene.pod(claim), claim=claim, slice=piece, nearest=nearest, root=ROOT, cpus=cpus, links=links)
