"""What is kept of a class of nodes: the same answers as without, as claims come and go, and never more than a bound."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import islice

import pytest

from k8s_topo_mcp.dra import node_classes
from k8s_topo_mcp.dra.allocation import allocate, allocate_each
from k8s_topo_mcp.dra.problem import AllocationProblem, InUse, TargetNode
from k8s_topo_mcp.objects import DeviceId

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
            fresh = replace(now, inventory=replace(problem.inventory, kept={}))
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
    kept = problem.inventory.kept["node classes"]
    assert kept
    assert all(len(entry[1]) < 64 for entry in kept.values())
