"""What all slices of some nodes tell: of slices that change the same, in the same order, as of slices that are looked at for the first
time; and of a slice that is the same object nothing is asked again."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

import pytest

from k8s_topo_mcp.dra.inventory import Inventory
from k8s_topo_mcp.dra.prepared import prepare
from k8s_topo_mcp.dra.problem import AllocationProblem, TargetNode
from k8s_topo_mcp.dra.tallies import tallied
from k8s_topo_mcp.objects import Device, ResourceSlice

from ..conformance.comparison import problem_of
from ..oracle.generate import problems
from .test_kept_outcomes import later

Told = list[tuple[tuple[str, tuple[str, ...]], int]]


def told(problem: AllocationProblem, nodes: Sequence[TargetNode], asked: list[ResourceSlice]) -> list[Told]:
    """What the devices that each request could use have, by each slice."""

    def tell(entry: ResourceSlice, devices: Sequence[Device]) -> tuple[str, tuple[str, ...]]:
        asked.append(entry)
        return entry.driver, tuple(str(value) for device in devices for value in device.attributes.values())

    prepared = prepare(problem)
    requests = [exact for claim in problem.claims for request in claim.spec.requests for exact in request.alternatives]
    return [list(tallied(prepared, nodes, exact, None, number, tell)) for number, exact in enumerate(requests)]


@pytest.mark.parametrize("few", [0, 64])
def test_what_slices_tell_follows_those_that_change(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("k8s_topo_mcp.dra.inventory.FEW_CHANGES", 0)  # however many
    monkeypatch.setattr("k8s_topo_mcp.dra.visible.FEW", few)
    compared = other = spared = 0
    for seed, row in enumerate(islice(problems(81, "1.37"), 60)):
        problem, node = problem_of(row, 37)
        draw = random.Random(seed)
        nodes = [node, TargetNode("node-2", {"zone": "west"}, node.declared_features), TargetNode("node-3", {}, frozenset())]
        before: list[Told] = []
        for _ in range(8):
            for some in (nodes, nodes[:1]):
                asked, anew = list[ResourceSlice](), list[ResourceSlice]()
                found = told(problem, some, asked)
                assert found == told(replace(problem, inventory=Inventory.of(problem.inventory.slices)), some, anew), row["id"]
                compared += any(found)
                spared += len(anew) - len(asked)
                other += some is nodes and found != before
                before = found if some is nodes else before
            problem = replace(problem, inventory=problem.inventory.followed(later(problem.inventory, draw)))
    assert compared > 300
    assert other > 150
    assert spared > 500
