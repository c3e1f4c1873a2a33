"""A request beyond 64 bits, to which allocators up to 1.36 add while they search: what they answer isn't guessed."""

from __future__ import annotations

from typing import Any

import pytest

from k8s_topo_mcp.dra.allocation import allocate
from k8s_topo_mcp.dra.outcome import Unknown

from ..conformance.comparison import Row, problem_of

HUGE = str(2**64)


def row(amount: str, policy: dict[str, Any] | None) -> Row:
    """Two devices for the first request; the second asks for `amount` of the memory of one with that policy."""
    memory = {"value": "16Gi", **({"requestPolicy": policy} if policy else {})}
    ranged = {"value": "40Gi", "requestPolicy": {"default": "1Gi", "validRange": {"min": "1Gi", "step": "1Gi"}}}
    devices = [
        {"name": "a", "allowMultipleAllocations": True, "capacity": {"memory": memory}},
        {"name": "b", "allowMultipleAllocations": True, "capacity": {"memory": ranged}},
    ]
    pool = {"name": "n", "generation": 1, "resourceSliceCount": 1}
    requests = [
        {"name": "first", "exactly": {"deviceClassName": "gpu", "count": 1}},
        {"name": "second", "exactly": {"deviceClassName": "gpu", "count": 1, "capacity": {"requests": {"memory": amount}}}},
    ]
    return {
        "features": {"ConsumableCapacity": True, "DeviceTaints": True, "PrioritizedList": True, "DeviceBindingAndStatus": True},
        "node": {"metadata": {"name": "n"}},
        "claims": [{"metadata": {"name": "c"}, "spec": {"devices": {"requests": requests}}}],
        "classes": [{"metadata": {"name": "gpu"}, "spec": {}}],
        "slices": [{"metadata": {"name": "s"}, "spec": {"driver": "d", "nodeName": "n", "pool": pool, "devices": devices}}],
    }


@pytest.mark.parametrize("minor", [35, 36])
def test_an_amount_that_the_release_changes_while_it_searches_is_unknown(minor: int) -> None:
    outcome = allocate(*problem_of(row(HUGE, {"default": "2Gi"}), minor))
    assert isinstance(outcome, Unknown)
    assert "memory" in outcome.why


@pytest.mark.parametrize(
    ("minor", "amount", "policy"),
    [
        (37, HUGE, {"default": "2Gi"}),
        (36, "1Gi", {"default": "2Gi"}),
        (36, HUGE, None),
        (36, HUGE, {"default": "2Gi", "validRange": {"min": "1Gi", "step": "1Gi"}}),
    ],
)
def test_every_other_amount_is_judged(minor: int, amount: str, policy: dict[str, Any] | None) -> None:
    assert not isinstance(allocate(*problem_of(row(amount, policy), minor)), Unknown)
