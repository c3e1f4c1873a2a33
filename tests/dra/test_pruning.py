"""The pruned search and the literal search give the same answer: devices, order, errors, everything but the number of steps."""

from __future__ import annotations

from itertools import islice

import pytest

from k8s_topo_mcp.dra.allocation import allocate
from k8s_topo_mcp.dra.outcome import Allocated, Unallocatable, Unknown

from ..conformance.comparison import problem_of, spell
from ..oracle.generate import problems, profiles_of

ROWS = 400
"""Random problems per minor and run; the seed is fixed so that a failure can be looked at again."""


@pytest.mark.parametrize("seed", [11, 12])
@pytest.mark.parametrize("minor", ["1.34", "1.35", "1.36", "1.37"])
def test_pruned_and_literal_search_agree_on_random_problems(minor: str, seed: int) -> None:
    number = int(minor.partition(".")[2])
    kinds: set[str] = set()
    for row in islice(problems(seed, minor), ROWS):
        problem, node = problem_of(row, number)
        literal = allocate(problem, node, pruned=False, bound=300_000)
        if isinstance(literal, Unknown):
            continue
        pruned = allocate(problem, node)
        assert spell(pruned) == spell(literal), row["id"]
        kinds.add(type(pruned).__name__)
    assert {"Allocated", "Unallocatable", "Aborted"} <= kinds


def test_every_profile_of_the_generator_is_met() -> None:
    seen = {row["profile"] for row in islice(problems(11, "1.37"), ROWS)}
    assert seen == set(profiles_of("1.37"))


def numa_group(size: int, asked: int) -> dict[str, object]:
    """`size` devices on each of two NUMA nodes, `asked` wanted on one."""
    devices = [
        {"name": f"g{index}", "attributes": {"resource.kubernetes.io/numaNode": {"int": index // size}}} for index in range(2 * size)
    ]
    claim = {
        "metadata": {"name": "c"},
        "spec": {
            "devices": {
                "requests": [{"name": "r", "exactly": {"deviceClassName": "gpu", "count": asked}}],
                "constraints": [{"matchAttribute": "resource.kubernetes.io/numaNode"}],
            }
        },
    }
    return {
        "features": {},
        "node": {"metadata": {"name": "n"}},
        "claims": [claim],
        "classes": [{"metadata": {"name": "gpu"}, "spec": {}}],
        "slices": [
            {
                "metadata": {"name": "s"},
                "spec": {
                    "driver": "d.example.com",
                    "nodeName": "n",
                    "pool": {"name": "n", "generation": 1, "resourceSliceCount": 1},
                    "devices": devices,
                },
            }
        ],
    }


@pytest.mark.parametrize("size", [4, 8, 12, 16])
def test_one_more_than_anuma_group_holds_takes_steps_that_grow_with_the_group_alone(size: int) -> None:
    problem, node = problem_of(numa_group(size, size + 1), 37)
    outcome = allocate(problem, node)
    assert isinstance(outcome, Unallocatable)
    assert outcome.placed == size
    assert outcome.steps <= 4 * size + 4


def test_a_group_that_fits_is_taken_from_the_first_numa_node() -> None:
    problem, node = problem_of(numa_group(16, 16), 37)
    outcome = allocate(problem, node)
    assert isinstance(outcome, Allocated)
    assert [result.device for result in outcome.allocations[0].results] == [f"g{index}" for index in range(16)]


def test_past_the_step_bound_the_answer_is_unknown_with_what_was_reached() -> None:
    problem, node = problem_of(numa_group(8, 9), 37)
    outcome = allocate(problem, node, pruned=False, bound=200)
    assert isinstance(outcome, Unknown)
    assert "search bound reached" in outcome.why
    assert "request r" in outcome.proven
