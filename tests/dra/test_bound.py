"""What is said when the search runs into its bound: unknown, or no where one request can't be met even alone."""

from __future__ import annotations

from itertools import islice

import pytest

from k8s_topo_mcp.dra.allocation import allocate
from k8s_topo_mcp.dra.outcome import Unallocatable, Unknown

from ..conformance.comparison import Row, problem_of
from ..oracle.generate import problems

FREE = "device.driver == 'd'"
NONE = "device.driver == 'e'"


def two_requests(second: str, count: int = 1) -> Row:
    """Six of twelve devices that all differ, and more by a selector of their own."""
    requests = [
        {"name": "a", "exactly": {"deviceClassName": "gpu", "count": 6}},
        {"name": "b", "exactly": {"deviceClassName": "gpu", "count": count, "selectors": [{"cel": {"expression": second}}]}},
    ]
    devices = [{"name": f"g{index}", "attributes": {"index": {"int": index}}} for index in range(12)]
    return {
        "features": {},
        "node": {"metadata": {"name": "n"}},
        "claims": [{"metadata": {"name": "c"}, "spec": {"devices": {"requests": requests}}}],
        "classes": [{"metadata": {"name": "gpu"}, "spec": {}}],
        "slices": [
            {
                "metadata": {"name": "s"},
                "spec": {
                    "driver": "d",
                    "nodeName": "n",
                    "pool": {"name": "n", "generation": 1, "resourceSliceCount": 1},
                    "devices": devices,
                },
            }
        ],
    }


def test_a_request_that_no_device_meets_decides() -> None:
    row = two_requests(NONE)
    outcome = allocate(*problem_of(row, 37), bound=10)
    assert isinstance(outcome, Unallocatable)
    assert outcome.past_bound
    assert outcome.request == "b"


def test_requests_that_ask_together_for_more_than_there_is_decide() -> None:
    outcome = allocate(*problem_of(two_requests(FREE, 7), 37), bound=10)
    assert isinstance(outcome, Unallocatable)
    assert outcome.past_bound
    few = "device.attributes['d'].index < 7"
    assert isinstance(allocate(*problem_of(two_requests(few, 6), 37), bound=10), Unknown)
    assert isinstance(allocate(*problem_of(two_requests(FREE, 6), 37), bound=10), Unknown)


@pytest.mark.parametrize("selector", [FREE, 'device.attributes["d"].nothing == 1'])
def test_where_each_request_can_be_met_alone_or_an_error_may_come_nothing_is_said(selector: str) -> None:
    row = two_requests(selector)
    outcome = allocate(*problem_of(row, 37), bound=10)
    assert isinstance(outcome, Unknown)
    assert "search bound reached" in outcome.why


@pytest.mark.parametrize("minor", ["1.34", "1.35", "1.36", "1.37"])
def test_a_no_past_the_bound_is_a_no_of_the_whole_search(minor: str) -> None:
    number = int(minor.partition(".")[2])
    decided = 0
    for row in islice(problems(21, minor), 500):
        problem, node = problem_of(row, number)
        early = allocate(problem, node, bound=12)
        if isinstance(early, Unallocatable) and early.past_bound:
            decided += 1
            assert isinstance(allocate(problem, node), Unallocatable), row["id"]
    assert decided
