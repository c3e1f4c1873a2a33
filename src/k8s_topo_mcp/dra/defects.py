"""Known defects of the real allocator: in which releases, on which problems they can show, and what they do.

Where one can show, the search is replayed literally with it (`dra.replay`), so that the answer is that release's own. Everywhere else the
correct search is the answer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .features import LISTS
from .pools import Pool
from .problem import AllocationProblem
from .requests import RequestPlan

Trigger = Callable[[AllocationProblem, Sequence[Pool], Sequence[RequestPlan]], bool]


@dataclass(frozen=True, slots=True)
class Defect:
    """One defect. `issue` names the upstream report where there is one; `effect` says what it does to the bookkeeping."""

    name: str
    issue: str
    minors: frozenset[int]
    effect: str
    can_show: Trigger


def _counters_used(problem: AllocationProblem, pools: Sequence[Pool], plans: Sequence[RequestPlan]) -> bool:
    return "PartitionableDevices" in problem.features and any(
        device.consumes_counters for pool in pools for entry in pool.slices for device in entry.devices
    )


def _shares_possible(problem: AllocationProblem, pools: Sequence[Pool], plans: Sequence[RequestPlan]) -> bool:
    return "ConsumableCapacity" in problem.features and any(
        device.allow_multiple_allocations for pool in pools for entry in pool.slices for device in entry.devices
    )


def _capacity_checked(problem: AllocationProblem, pools: Sequence[Pool], plans: Sequence[RequestPlan]) -> bool:
    return "ConsumableCapacity" in problem.features


def _all_as_later_subrequest(problem: AllocationProblem, pools: Sequence[Pool], plans: Sequence[RequestPlan]) -> bool:
    return any(plan.everything is not None and plan.parent is not None for plan in plans)


def _all_mistaken(problem: AllocationProblem, pools: Sequence[Pool], plans: Sequence[RequestPlan]) -> bool:
    return any(plan.meant is not None and plan.meant != plan.everything for plan in plans)


def _distinct(problem: AllocationProblem, pools: Sequence[Pool], plans: Sequence[RequestPlan]) -> bool:
    return any(constraint.distinct_attribute is not None for claim in problem.claims for constraint in claim.spec.constraints)


def _lists_shared(problem: AllocationProblem, pools: Sequence[Pool], plans: Sequence[RequestPlan]) -> bool:
    names = {constraint.match_attribute for claim in problem.claims for constraint in claim.spec.constraints} - {None}
    if not names or LISTS not in problem.features:
        return False
    found = (
        device.attribute(name, pool.driver) for pool in pools for entry in pool.slices for device in entry.devices for name in names if name
    )
    return any(attribute is not None and isinstance(attribute.value, tuple) and len(set(attribute.value)) > 1 for attribute in found)


def _pool_names_meet(problem: AllocationProblem, pools: Sequence[Pool], plans: Sequence[RequestPlan]) -> bool:
    drivers: defaultdict[str, set[str]] = defaultdict(set)
    for pool in pools:
        if any(device.consumes_counters for entry in pool.slices for device in entry.devices):
            drivers[pool.name].add(pool.driver)
    return "PartitionableDevices" in problem.features and any(len(found) > 1 for found in drivers.values())


def _all_with_counters(problem: AllocationProblem, pools: Sequence[Pool], plans: Sequence[RequestPlan]) -> bool:
    return _counters_used(problem, pools, plans) and any(plan.everything is not None for plan in plans)


def _row(name: str, issue: str, minors: tuple[int, ...], effect: str, can_show: Trigger) -> tuple[str, Defect]:
    return name, Defect(name, issue, frozenset(minors), effect, can_show)


DEFECTS: dict[str, Defect] = dict(
    (
        _row(
            "counters leak",
            "kubernetes/kubernetes#140436",
            (34, 35),
            "a candidate that a taint or a constraint rejects keeps its counters, as does a share that is given back: devices that would "
            "fit seem taken",
            _counters_used,
        ),
        _row(
            "wrong device checked again",
            "",
            (34,),
            "capacity is checked again on the device at the request's running number in the slice, and a failure leaves constraints and "
            "the device marked; a number past the slice's end crashes the scheduler",
            _capacity_checked,
        ),
        _row(
            "failed share leaves marks",
            "",
            (35,),
            "a device whose capacity doesn't suffice on the second check leaves its constraints and its mark behind",
            _shares_possible,
        ),
        _row(
            "one device, two shares",
            "",
            (34, 35),
            "a count of two may take two shares of one device",
            _shares_possible,
        ),
        _row(
            "All loses its subrequest",
            "",
            (34, 35),
            "after its first device an `All` subrequest goes on as if it were the first alternative",
            _all_as_later_subrequest,
        ),
        _row(
            "second All takes the first's devices",
            "",
            (34, 35),
            "a second alternative that asks for all devices gets those that match the first one, if that asks for all too",
            _all_mistaken,
        ),
        _row(
            "distinctAttribute forgets",
            "",
            (34, 35, 36),
            "1.34 never rejects a repeated value; 1.35 and 1.36 remember one value per request name",
            _distinct,
        ),
        _row(
            "shared values only shrink",
            "",
            (36,),
            "what devices with list attributes have in common isn't given back with a device: later sets seem to have less in common",
            _lists_shared,
        ),
        _row(
            "counters by pool name",
            "",
            (35, 36),
            "pools of one name share their counters although their drivers differ",
            _pool_names_meet,
        ),
        _row(
            "All with counters crashes",
            "",
            (35,),
            "a request for all devices crashes the scheduler when one of them consumes counters",
            _all_with_counters,
        ),
    )
)


def can_show(problem: AllocationProblem, pools: Sequence[Pool], plans: Sequence[RequestPlan]) -> tuple[Defect, ...]:
    """The defects of the problem's release that this input can trigger on this node."""
    if problem.minor >= 37:
        return ()
    return tuple(defect for defect in DEFECTS.values() if problem.minor in defect.minors and defect.can_show(problem, pools, plans))
