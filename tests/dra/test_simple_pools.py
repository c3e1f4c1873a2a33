"""A node whose slices are of a pool each gets its pools by a short way: they must be those that the rules in full give."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import pytest

from k8s_topo_mcp.dra import pools
from k8s_topo_mcp.dra.features import allocator_features
from k8s_topo_mcp.dra.inventory import Inventory
from k8s_topo_mcp.dra.problem import TargetNode
from k8s_topo_mcp.dra.variants import variant
from k8s_topo_mcp.objects import ResourceSlice
from k8s_topo_mcp.releases import release
from tests.topology.clusters import Item, gpu, resource_slice, view

Seldom = Callable[[], bool]
USES: Item = {"counterSet": "set", "counters": {"memory": {"value": "1Gi"}}}
WITHOUT = [frozenset[str](), frozenset({"PartitionableDevices"}), frozenset({"DeviceBinding", "DeviceBindingAndStatus"})]
"""Switches that are off beside those of the release."""


def some_slices(dice: random.Random) -> list[Item]:
    def seldom() -> bool:
        return dice.random() < 0.12

    return [some_slice(dice, f"s-{number}", seldom) for number in range(dice.randrange(1, 4))]


def some_slice(dice: random.Random, name: str, seldom: Seldom) -> Item:
    devices = [gpu(f"gpu-{dice.randrange(6) if seldom() else place}") for place in range(dice.randrange(0, 5))]
    more: dict[str, Any] = {}
    if devices and seldom():
        devices[0] |= {"bindingConditions": ["example.com/ready"], "bindingFailureConditions": ["example.com/failed"]}
    if devices and seldom():
        devices[0]["consumesCounters"] = [USES | ({"compatibilityGroups": ["one"]} if seldom() else {})]
    if seldom():
        more["sharedCounters"] = [{"name": "set", "counters": {"memory": {"value": "2Gi"}}}]
        devices = devices if seldom() else []
    if seldom():
        more["perDeviceNodeSelection"] = True
    driver, own = dice.choice(("a.example.com", "b.example.com")), dice.choice(("n1", "n1", "pool"))
    generation, count = dice.choice((1, 1, 2)), dice.choice((1, 1, 1, 2))
    on = dice.choice(("n1", "n1", "n1", "n2"))
    return resource_slice(driver, own, devices, name=name, nodeName=on, generation=generation, count=count, **more)


@pytest.mark.parametrize("without", WITHOUT)
@pytest.mark.parametrize("minor", [34, 35, 36, 37])
def test_the_short_way_gives_the_pools_of_the_rules_in_full(minor: int, without: frozenset[str], monkeypatch: pytest.MonkeyPatch) -> None:
    dice = random.Random(minor)
    features = allocator_features(release(minor)) - without
    short = 0

    def gathered(items: list[Item], slices: tuple[ResourceSlice, ...]) -> object:
        inventory = Inventory.of(slices)
        found = pools.gather_pools(inventory, TargetNode("n1", {}), minor, features, variant(minor, features))
        return [tuple(getattr(pool, field.name) for field in fields(pools.Pool)) for pool in found]

    for _ in range(200):
        items = some_slices(dice)
        slices = view(items, minor=minor).all(ResourceSlice)
        with monkeypatch.context() as off:
            off.setattr(pools, "_simple", lambda own: False)
            in_full = gathered(items, slices)
        assert gathered(items, slices) == in_full, items
        short += pools._simple(Inventory.of(slices).by_node.get("n1", ()))
    assert short > 20
