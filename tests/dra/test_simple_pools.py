"""A node whose slices are a whole pool each gets its pools by a short way: they must be those that the rules in full give."""

from __future__ import annotations

import random
from dataclasses import fields

import pytest

from k8s_topo_mcp.dra.features import allocator_features
from k8s_topo_mcp.dra.inventory import Inventory
from k8s_topo_mcp.dra.pools import Pool, gather_pools
from k8s_topo_mcp.dra.problem import TargetNode
from k8s_topo_mcp.dra.variants import variant
from k8s_topo_mcp.objects import ResourceSlice
from k8s_topo_mcp.releases import release
from tests.topology.clusters import Item, gpu, resource_slice, view

ELSEWHERE = resource_slice("other.example.com", "apart", [gpu("far")], nodeSelector={"nodeSelectorTerms": []})
"""A slice without a node's name, which selects none: with it in the cluster no pool is made by the short way."""


def some_slices(dice: random.Random) -> list[Item]:
    found: list[Item] = []
    for number in range(dice.randrange(1, 4)):
        names = [f"gpu-{dice.randrange(6)}" if dice.random() < 0.1 else f"gpu-{place}" for place in range(dice.randrange(0, 5))]
        devices = [gpu(name) for name in names]
        if devices and dice.random() < 0.2:
            devices[0]["bindingConditions"] = ["example.com/ready"]
            devices[0]["bindingFailureConditions"] = ["example.com/failed"]
        if devices and dice.random() < 0.2:
            devices[0]["consumesCounters"] = [{"counterSet": "set", "counters": {"memory": {"value": "1Gi"}}}]
        found.append(
            resource_slice(
                dice.choice(("a.example.com", "b.example.com")),
                dice.choice(("n1", "n1", "pool")),
                devices,
                name=f"s-{number}",
                nodeName="n1",
                generation=dice.choice((1, 1, 2)),
                count=dice.choice((1, 1, 1, 2)),
            )
        )
    return found


def pools(items: list[Item], minor: int) -> list[tuple[object, ...]]:
    known = release(minor)
    features = allocator_features(known)
    slices = Inventory.of(view(items, minor=minor).all(ResourceSlice))
    found = gather_pools(slices, TargetNode("n1", {}), minor, features, variant(minor, features))
    return [tuple(said(pool, field.name) for field in fields(Pool)) for pool in found]


def said(pool: Pool, name: str) -> object:
    value = getattr(pool, name)
    return tuple(entry.name for entry in value) if name in ("slices", "elsewhere", "counter_sets") else value


@pytest.mark.parametrize("minor", [34, 35, 36, 37])
def test_the_short_way_gives_the_pools_of_the_rules_in_full(minor: int) -> None:
    dice = random.Random(minor)
    for _ in range(150):
        items = some_slices(dice)
        assert pools(items, minor) == pools([*items, ELSEWHERE], minor), items
