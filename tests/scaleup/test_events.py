"""What Cluster Autoscaler says of a pod that it added no node for."""

from __future__ import annotations

import pytest

from k8s_topo_mcp.scaleup.events import refusals_in


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            "pod didn't trigger scale-up: 2 max node group size reached, 1 Insufficient nvidia.com/gpu",
            ((2, "max node group size reached"), (1, "Insufficient nvidia.com/gpu")),
        ),
        (
            "pod didn't trigger scale-up: 1 node declared features check failed - unsatisfied requirements: A, B, 3 in backoff",
            ((1, "node declared features check failed - unsatisfied requirements: A, B"), (3, "in backoff")),
        ),
        ("pod didn't trigger scale-up: ", ()),
        ("max total nodes in cluster reached", ()),
    ],
)
def test_groups_are_counted_by_reason(message: str, expected: tuple[tuple[int, str], ...]) -> None:
    assert refusals_in(message) == expected
