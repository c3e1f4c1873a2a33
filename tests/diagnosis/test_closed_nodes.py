"""What is said of kinds of closed nodes is what each node by itself says."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from k8s_topo_mcp.diagnosis.closed_nodes import ClosedNodes, codes, devices_suffice, reasons_against, signature
from k8s_topo_mcp.objects import Pod
from k8s_topo_mcp.scheduling.node_placement import NodePlacement
from k8s_topo_mcp.scheduling.placement import Placement, place

from .clusters import Item, claim, cluster, device_class, gpus, node, pod, pool, request

NODES = 30


def placement_of(dice: random.Random) -> Placement:
    """A pod that asks for devices, CPU and a zone, and nodes that lack some of it, are tainted or cordoned."""
    items: list[Item] = [device_class(), claim("c", request("r", 2))]
    for number in range(NODES):
        name, taints = f"n{number:02}", []
        if dice.random() < 0.3:
            taints.append({"key": dice.choice("kl"), "effect": "NoSchedule"})
        cordoned = dice.random() < 0.3
        if cordoned:
            taints.append({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})
        cpu = dice.choice(("1", "8", "8"))
        items.append(node(name, labels={"zone": dice.choice("aab")}, allocatable={"cpu": cpu}, unschedulable=cordoned, taints=taints))
        items.append(pod(f"on-{name}", on=name, requests={"cpu": dice.choice(("1", "5", "6.5"))}))
        items.append(pool(gpus(dice.choice((1, 2))), name))
    view = cluster(*items, pod("p", ("c",), requests={"cpu": "4"}, nodeSelector={"zone": "a"}))
    asked = view.get(Pod, "p", "default")
    assert asked is not None
    return place(view, asked)


def rank(entry: NodePlacement) -> tuple[int, int]:
    against = {found.code for found in reasons_against(entry)}
    named, small = "NODE_AFFINITY_MISMATCH" in against, "RESOURCE_TOO_LARGE" in against
    return len(against) + (not devices_suffice(entry)), 2 * named + small


@pytest.mark.parametrize("seed", range(12))
def test_the_nearest_are_those_that_are_found_node_by_node(seed: int) -> None:
    dice = random.Random(seed)
    placement = placement_of(dice)
    closed = [entry for entry in placement.nodes.values() if entry.plain]
    names = {entry.node.name for entry in closed if dice.random() < 0.6}
    for found, entries in (
        (ClosedNodes.of(placement), closed),
        (ClosedNodes.of(placement).among(names), [entry for entry in closed if entry.node.name in names]),
        (ClosedNodes.of(placement).those(devices_suffice), [entry for entry in closed if devices_suffice(entry)]),
    ):
        assert list(found.entries) == entries
        assert len(found) == len(entries)
        assert [members[0] for members in found.kinds] == sorted((members[0] for members in found.kinds), key=entries.index)
        least = min(map(rank, entries))
        chosen = [entry for entry in entries if rank(entry) == least]
        wanted = Counter(signature(entry.plain[0][0]) for entry in chosen).most_common(1)[0][0]
        nearest = [entry for entry in chosen if signature(entry.plain[0][0]) == wanted]
        assert list(found.nearest().entries) == nearest
        assert found.nearest().first is nearest[0]


def test_the_easiest_is_the_first_of_those_with_the_most_left() -> None:
    nodes = [node(f"n{number}", allocatable={"cpu": cpu}) for number, cpu in enumerate(("2", "3", "3", "1500m"))]
    view = cluster(*nodes, pod("p", requests={"cpu": "4"}), *(pod(f"on-{own}", on=f"n{own}", requests={"cpu": "500m"}) for own in range(4)))
    asked = view.get(Pod, "p", "default")
    assert asked is not None
    found = ClosedNodes.of(place(view, asked)).nearest()
    assert len(found) == 4
    assert found.easiest().node.name == "n1"


def test_all_of_a_kind_are_refused_alike() -> None:
    kinds = ClosedNodes.of(placement_of(random.Random(1))).kinds
    assert len(kinds) > 5
    assert any(len(members) > 1 for members in kinds)
    for members in kinds:
        assert len({(tuple(codes(entry)), devices_suffice(entry)) for entry in members}) == 1
