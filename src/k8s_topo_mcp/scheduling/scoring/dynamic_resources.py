"""DynamicResources: the earlier the alternatives of a prioritised list (firstAvailable) that the pod would get, the better.

Source: k8s.io/kubernetes pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go, computeScore. 1.34 has no such score.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...dra.outcome import Allocated
from ...objects import Allocation, ResourceClaim
from ...view import ClusterView
from ..dynamic_resources import DeviceState
from ..skip import SKIP, Skip
from .candidate import Candidate, normalized

WEIGHT = 2
SINCE = 35
MOST_ALTERNATIVES = 8
"""FirstAvailableDeviceRequestMaxSize of the API: the first alternative of a list is worth so much, each later one 1 less."""


def prepare(view: ClusterView, devices: DeviceState) -> DeviceState | Skip:
    """SKIP where no claim has alternatives, or the release doesn't look at them."""
    if view.release.minor < SINCE or not view.release.enabled("DRAPrioritizedList"):
        return SKIP
    problems = [devices.problem, *devices.by_resources.values()]
    claims = [claim for problem in problems if problem is not None for claim in problem.claims]
    return devices if any(request.first_available for claim in (*claims, *devices.allocated) for request in claim.spec.requests) else SKIP


def score(devices: DeviceState, candidates: Sequence[Candidate]) -> list[int]:
    before = sum(_worth(claim, claim.allocation) for claim in devices.allocated if claim.allocation is not None)

    def count(entry: Candidate) -> int:
        problem = devices.problem_on(entry.info.node)
        if problem is None or not isinstance(entry.outcome, Allocated):
            return 0 if problem is not None else before
        return before + sum(map(_worth, problem.claims, entry.outcome.allocations))

    return normalized([count(entry) for entry in candidates])


def _worth(claim: ResourceClaim, allocation: Allocation) -> int:
    given = {result.request for result in allocation.results}
    return sum(
        MOST_ALTERNATIVES - place
        for request in claim.spec.requests
        for place, entry in enumerate(request.first_available)
        if f"{request.name}/{entry.name}" in given
    )
