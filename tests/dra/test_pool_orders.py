"""Where a release takes the pools in no defined order, an answer that depends on the order is found out, however many pools there are."""

from __future__ import annotations

from typing import Any

import pytest

from k8s_topo_mcp.dra.allocation import allocate
from k8s_topo_mcp.dra.outcome import Aborted, Allocated

from ..conformance.comparison import Row, problem_of


def row(good: int, bad: int, others: int) -> Row:
    """One device asked for, with a selector that fails in `bad` pools, passes in `good` ones, and is false elsewhere."""
    pools = [("d", {"index": {"int": 0}})] * good + [("d", {})] * bad + [("e", {})] * others
    return {
        "features": {},
        "node": {"metadata": {"name": "n"}},
        "claims": [{"metadata": {"name": "c"}, "spec": {"devices": {"requests": [_request()]}}}],
        "classes": [{"metadata": {"name": "gpu"}, "spec": {}}],
        "slices": [_slice(number, driver, attributes) for number, (driver, attributes) in enumerate(pools)],
    }


def _request() -> dict[str, Any]:
    expression = "device.driver == 'd' && device.attributes['d'].index >= 0"
    return {"name": "a", "exactly": {"deviceClassName": "gpu", "count": 1, "selectors": [{"cel": {"expression": expression}}]}}


def _slice(number: int, driver: str, attributes: dict[str, Any]) -> dict[str, Any]:
    pool = {"name": f"p{number}", "generation": 1, "resourceSliceCount": 1}
    devices = [{"name": "g0", "attributes": attributes}]
    return {"metadata": {"name": f"s{number}"}, "spec": {"driver": driver, "nodeName": "n", "pool": pool, "devices": devices}}


@pytest.mark.parametrize(("good", "bad", "others"), [(1, 1, 0), (1, 1, 8), (9, 1, 3), (1, 9, 3)])
def test_an_answer_that_depends_on_the_order_is_marked(good: int, bad: int, others: int) -> None:
    outcome = allocate(*problem_of(row(good, bad, others), 35))
    assert isinstance(outcome, Allocated | Aborted)
    assert outcome.order_dependent


@pytest.mark.parametrize(("good", "bad", "others"), [(2, 0, 8), (9, 0, 0), (0, 9, 1)])
def test_an_answer_that_every_order_gives_is_not(good: int, bad: int, others: int) -> None:
    outcome = allocate(*problem_of(row(good, bad, others), 35))
    assert isinstance(outcome, Allocated | Aborted)
    assert not outcome.order_dependent
