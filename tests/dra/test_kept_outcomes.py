"""What is kept of a class of nodes: the same answers as without, as claims come and go, and never more than a bound."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import islice

import pytest

from k8s_topo_mcp.dra import inventory as inventory_module
from k8s_topo_mcp.dra import node_classes
from k8s_topo_mcp.dra.allocation import allocate, allocate_each, node_groups
from k8s_topo_mcp.dra.inventory import Inventory
from k8s_topo_mcp.dra.problem import AllocationProblem, InUse, TargetNode
from k8s_topo_mcp.objects import DeviceId, DeviceTaint, ResourceSlice

from ..conformance.comparison import problem_of, spell
from ..oracle.generate import problems


def states(problem: AllocationProblem, seed: int) -> list[InUse]:
    """What is held, changed at random."""
    draw = random.Random(seed)
    devices = [DeviceId(entry.driver, entry.pool, device.name) for entry in problem.inventory.slices for device in entry.devices]
    found = [problem.in_use]
    for _ in range(5):
        held = frozenset(device for device in devices if draw.random() < draw.choice((0.0, 0.3, 0.7)))
        found.append(InUse(held - problem.in_use.shared, problem.in_use.shared, problem.in_use.capacity))
    return [*found, *found]


@pytest.mark.parametrize("minor", ["1.34", "1.35", "1.36", "1.37"])
def test_an_outcome_that_is_kept_is_the_one_that_is_found_anew(minor: str) -> None:
    number = int(minor.partition(".")[2])
    compared = 0
    for seed, row in enumerate(islice(problems(77, minor), 60)):
        problem, node = problem_of(row, number)
        for in_use in states(problem, seed):
            now = replace(problem, in_use=in_use)
            fresh = replace(now, inventory=Inventory.of(problem.inventory.slices))
            assert spell(allocate(now, node)) == spell(allocate(fresh, node)), row["id"]
            compared += 1
    assert compared > 500


def test_classes_are_forgotten_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_classes, "MANY_CLASSES", 8)
    row = next(iter(islice(problems(5, "1.37"), 3, 4)))
    problem, node = problem_of(row, 37)
    others = [TargetNode(node.name, {**node.labels, "number": str(number)}, node.declared_features) for number in range(3)]
    for in_use in states(problem, 1) * 4:
        now = replace(problem, in_use=in_use)
        allocate_each(now, [node])
        for other in others:
            allocate(now, other)
    kept = problem.inventory.passed_on["node classes"]
    assert kept
    assert all(len(entry.numbers) < 64 for entry in kept.values())


def later(inventory: Inventory, draw: random.Random) -> tuple[ResourceSlice, ...]:
    """The slices of a moment later: some are other objects, some gone, some new ones of pools that are there."""
    taint = DeviceTaint("example.com/check", "", "NoSchedule", None)
    found: list[ResourceSlice] = []
    for entry in inventory.slices:
        chance = draw.random()
        if chance < 0.1:
            continue
        if chance < 0.2:
            devices = tuple(replace(device, taints=() if device.taints else (taint,)) for device in entry.devices)
            entry = replace(entry, devices=devices)
        elif chance < 0.25:
            found.append(replace(entry, generation=entry.generation + 1))
        elif chance < 0.3:
            entry = replace(entry, devices=entry.devices[1:])
        found.append(entry)
    return tuple(found)


@pytest.mark.parametrize("minor", ["1.34", "1.35", "1.36", "1.37"])
def test_slices_that_change_give_what_they_would_give_anew(minor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inventory_module, "FEW_CHANGES", 0)  # however many
    number = int(minor.partition(".")[2])
    compared = 0
    for seed, row in enumerate(islice(problems(78, minor), 60)):
        problem, node = problem_of(row, number)
        draw = random.Random(seed)
        nodes = [node, TargetNode("node-2", {"zone": "west"}, node.declared_features), TargetNode("node-3", {}, frozenset())]
        for in_use in states(problem, seed):
            slices = later(problem.inventory, draw)
            followed, anew = problem.inventory.followed(slices), Inventory.of(slices)
            for part in ("slices", "by_node", "shared", "by_pool", "places", "named_counters"):
                assert getattr(followed, part) == getattr(anew, part), part
            problem = replace(problem, inventory=followed, in_use=in_use)
            fresh = replace(problem, inventory=anew)
            assert node_groups(problem, nodes) == node_groups(fresh, nodes), row["id"]
            for name, outcome in allocate_each(problem, nodes).items():
                assert spell(outcome) == spell(allocate(fresh, next(entry for entry in nodes if entry.name == name))), row["id"]
            compared += 1
    assert compared > 500


def test_what_is_passed_on_does_not_grow_with_every_slice_that_ever_was() -> None:
    row = next(iter(islice(problems(5, "1.37"), 3, 4)))
    problem, node = problem_of(row, 37)
    first = problem.inventory.slices[0]
    pools: list[int] = []
    for number in range(8_000):
        slices = (replace(first, generation=first.generation + number), *problem.inventory.slices[1:])
        problem = replace(problem, inventory=problem.inventory.followed(slices))
        allocate_each(problem, [node])
        kept = problem.inventory.passed_on.get("node classes", {})
        pools.append(sum(len(entry.pools) + len(entry.nodes) for entry in kept.values()))
    assert max(pools) < 4_000


def test_no_two_classes_get_one_number_whatever_another_thread_does_meanwhile() -> None:
    known = node_classes._Known()

    class Slow:
        """A key that is hashed while another thread numbers another key."""

        def __hash__(self) -> int:
            known.number(("another", len(known.numbers)))
            return 7

    numbers = [known.number(key) for key in (Slow(), Slow(), "mine")]
    assert known.number("mine") == numbers[-1]
    assert len(set(known.numbers.values())) == len(known.numbers)
    assert set(numbers) <= set(known.numbers.values())
