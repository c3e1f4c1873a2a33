"""Counting the steps of the literal search without walking it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

import pytest

from k8s_topo_mcp.dra.allocation import allocate
from k8s_topo_mcp.dra.effort import FILTER_LIMIT, effort
from k8s_topo_mcp.dra.outcome import Unallocatable
from k8s_topo_mcp.dra.prepared import prepare
from k8s_topo_mcp.dra.search import Search

from ..conformance.comparison import problem_of
from ..conformance.recorded import rows
from ..oracle.generate import problems
from .test_pruning import numa_group


def test_the_count_equals_what_the_real_allocator_counted_on_its_own_cases() -> None:
    compared = 0
    for row in rows("1.37", "incubating"):
        if row.get("calls") and row["results"] is None and row["error"] is None:
            problem, node = problem_of(row, 37)
            counted = effort(prepare(problem), node)
            assert counted is not None
            assert counted.complete
            assert counted.steps == row["calls"], row["name"]
            compared += 1
    assert compared >= 40


def test_the_count_equals_the_steps_of_the_literal_search_on_random_problems() -> None:
    compared = 0
    for row in islice(problems(5, "1.37"), 400):
        problem, node = problem_of(row, 37)
        if problem.variant is None or not problem.variant.ordered:
            continue
        literal = allocate(problem, node, pruned=False, bound=300_000)
        if isinstance(literal, Unallocatable):
            counted = effort(prepare(problem), node)
            assert counted is not None
            assert counted.steps == literal.steps, row["id"]
            compared += 1
    assert compared >= 60


def test_about_as_many_refused_devices_are_counted_as_the_literal_search_meets(monkeypatch: pytest.MonkeyPatch) -> None:
    met = 0
    take: Callable[..., bool] = getattr(Search, "_take")  # noqa: B009

    def counting(*given: Any, **named: Any) -> bool:
        nonlocal met
        taken = take(*given, **named)
        met += not taken
        return taken

    monkeypatch.setattr(Search, "_take", counting)
    compared = 0
    for row in islice(problems(5, "1.37"), 400):
        problem, node = problem_of(row, 37)
        if problem.variant is None or not problem.variant.ordered:
            continue
        met = 0
        literal = allocate(problem, node, pruned=False, bound=300_000)
        if isinstance(literal, Unallocatable):
            refused, counted = met, effort(prepare(problem), node)
            assert counted is not None
            assert 0.8 * refused - 2 <= counted.refused <= 1.25 * refused + 2, row["id"]
            compared += bool(refused)
    assert compared >= 10


@pytest.mark.parametrize("size", [4, 8, 16, 24])
def test_a_large_infeasible_group_is_counted_and_likely_exceeds_the_filter(size: int) -> None:
    problem, node = problem_of(numa_group(size, size + 1), 37)
    counted = effort(prepare(problem), node)
    assert counted is not None
    assert counted.complete
    assert counted.exceeds(FILTER_LIMIT) is (size >= 16)
