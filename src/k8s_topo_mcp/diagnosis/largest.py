"""The largest claim for devices of one class that still fits somewhere: one request, alone or with one matchAttribute.

Asked of the allocator itself, within a bound that is counted in steps: partitions that share counters have far more combinations than can
be tried. What isn't settled within it is a lower figure, and says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..dra.allocation import allocate
from ..dra.outcome import Allocated, Unknown
from ..dra.problem import AllocationProblem, TargetNode
from ..objects import MAX_RESULTS, ClaimSpec, DeviceConstraint, DeviceRequest, ExactRequest, Metadata, ResourceClaim

STEPS = 10_000
"""Of one attempt, as `allocate` counts them."""
ALL_STEPS = 40_000
"""Of all attempts for one answer."""


@dataclass(frozen=True, slots=True)
class Largest:
    """So many devices fit in one claim. `proven` False: at least so many, whether more do isn't known."""

    count: int
    proven: bool


def claim_for(device_class: str, count: int, *attributes: str) -> ResourceClaim:
    """A claim for so many devices that share each of these attributes."""
    request = DeviceRequest("devices", ExactRequest("devices", device_class, count=count))
    constraints = tuple(DeviceConstraint((), match_attribute=name) for name in attributes)
    return ResourceClaim(Metadata(name="stock", namespace="default"), ClaimSpec((request,), constraints))


def largest(problem: AllocationProblem, device_class: str, bounds: Sequence[tuple[int, TargetNode]], *attributes: str) -> Largest:
    """The most devices that one claim gets on one of these nodes; a bound says how many it can be there. Fewer fit where more do."""
    best, spent = 0, 0
    proven = True

    def fits(count: int, node: TargetNode) -> bool | None:
        nonlocal spent
        outcome = allocate(replace(problem, claims=(claim_for(device_class, count, *attributes),)), node, bound=STEPS)
        if isinstance(outcome, Unknown):
            spent += STEPS
            return None
        spent += outcome.steps
        return isinstance(outcome, Allocated)

    for bound, node in sorted(bounds, key=lambda pair: -pair[0]):
        most = min(bound, MAX_RESULTS)
        if most <= best:
            break
        if spent >= ALL_STEPS:
            return Largest(best, False)
        all_of_them = fits(most, node)
        if all_of_them:
            best = most
            continue
        # From below: the first count that doesn't fit settles it, whatever became of the greatest.
        while best + 1 < most:
            one_more = fits(best + 1, node) if spent < ALL_STEPS else None
            if not one_more:
                proven = proven and one_more is not None
                break
            best += 1
        else:
            proven = proven and all_of_them is not None
    return Largest(best, proven)
