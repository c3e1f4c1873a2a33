"""Each known defect shows on a small input: the release that has it gives the real allocator's answer, the correct search another one."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from k8s_topo_mcp.dra.allocation import allocate, allocate_in_every_order
from k8s_topo_mcp.dra.candidates import Candidates
from k8s_topo_mcp.dra.defects import DEFECTS, can_show
from k8s_topo_mcp.dra.outcome import Abort
from k8s_topo_mcp.dra.plans import plans_of
from k8s_topo_mcp.dra.prepared import pools_of, prepare
from k8s_topo_mcp.dra.variants import variant_named

from ..conformance.comparison import compare, problem_of, spell
from ..conformance.recorded import FOUND, RANDOM, lines


def _rows(minor: int) -> list[dict[str, Any]]:
    kept = [RANDOM / f"1.{minor}.jsonl.gz", FOUND / f"1.{minor}-found.jsonl.gz"]
    return [json.loads(line) for path in kept if path.exists() for line in lines(path)]


def _triggered(row: dict[str, Any], minor: int) -> set[str]:
    """The defects that can show on a row's node."""
    problem, node = problem_of(row, minor)
    prepared = prepare(problem)
    pools = pools_of(prepared, node)
    try:
        _, plans, _ = plans_of(prepared, Candidates(problem, pools, node, prepared.environment), pools)
    except Abort:
        return set()
    return {defect.name for defect in can_show(problem, pools, plans)}


@pytest.mark.parametrize("name", sorted(DEFECTS))
def test_a_defect_shows_in_its_releases_as_in_the_real_ones(name: str) -> None:
    """Among the recorded rows on which the defect can show, ours agrees with the real allocator on all, and on some of them 1.37 answers
    otherwise."""
    shown = differs = 0
    for minor in sorted(DEFECTS[name].minors):
        for row in _rows(minor):
            if name not in _triggered(row, minor):
                continue
            shown += 1
            assert compare(row, minor).agrees is not False, row["id"]
            problem, node = problem_of(row, minor)
            right = replace(problem, minor=37, variant=variant_named(37, "experimental"))
            ours = [spell(outcome) for outcome in allocate_in_every_order(problem, node)]
            differs += spell(allocate(right, node)) not in ours
            if differs and shown >= 5:
                return
    assert shown, "no recorded row can show it"
    assert differs, "no recorded row shows it"


def test_no_defect_is_claimed_of_the_newest_release() -> None:
    assert all(37 not in defect.minors for defect in DEFECTS.values())
    assert all(not _triggered(row, 37) for row in _rows(37)[:200])
