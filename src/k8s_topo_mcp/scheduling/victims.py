"""Whom preemption would evict from a node: as few as possible, the least important first, and which node it prefers for that.

Source: SelectVictimsOnNode of pkg/scheduler/framework/plugins/defaultpreemption, filterPodsWithPDBViolation and pickOneNodeForPreemption of
pkg/scheduler/framework/preemption. All pods of lower priority are taken away, then given back one by one while the pod still fits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..objects import Node, Pod, PodDisruptionBudget
from .filters import Filters

MOST_STEPS, MOST_STEPS_FAR = 256, 32
"""More pods than this aren't given back one by one (far: where pods of other nodes matter)."""
_LOWEST = -(2**31)


@dataclass(frozen=True, slots=True, eq=False)
class Victims:
    """`pods` from the most important; `violations` of disruption budgets among them."""

    pods: tuple[Pod, ...]
    violations: int


def victims_of(filters: Filters, node: Node, lower: Sequence[Pod], budgets: Sequence[PodDisruptionBudget]) -> Victims | None:
    """The pods of `lower` that would be evicted for the pod to pass the filters; it is known to pass without all of them. None: too many to
    be tried."""
    if len(lower) > (MOST_STEPS if filters.local else MOST_STEPS_FAR):
        return None
    ordered = sorted(lower, key=_importance)
    violating = _violating(ordered, budgets, filters.view.release.minor)
    gone = {pod.key: pod for pod in ordered}
    violations = 0
    for pod in (*(pod for pod in ordered if pod.key in violating), *(pod for pod in ordered if pod.key not in violating)):
        del gone[pod.key]
        if filters.against(node, tuple(gone.values())):
            gone[pod.key] = pod
            violations += pod.key in violating
    return Victims(tuple(pod for pod in ordered if pod.key in gone), violations)


def _importance(pod: Pod) -> tuple[int, float]:
    return -pod.priority, _started(pod)


def _started(pod: Pod) -> float:
    return pod.start_time if pod.start_time is not None else float("inf")


def _violating(pods: Sequence[Pod], budgets: Sequence[PodDisruptionBudget], minor: int) -> frozenset[tuple[str, str]]:
    """Pods whose eviction a budget doesn't allow any more, when they go in this order."""
    allowed = [budget.disruptions_allowed for budget in budgets]
    found: set[tuple[str, str]] = set()
    for pod in pods:
        for place, budget in enumerate(budgets):
            if not _covers(budget, pod):
                continue
            allowed[place] -= 1
            if allowed[place] < 0:
                found.add(pod.key)
                if minor >= 37:
                    break
    return frozenset(found)


def _covers(budget: PodDisruptionBudget, pod: Pod) -> bool:
    selector, labels = budget.selector, pod.metadata.labels
    if budget.namespace != pod.namespace or not labels or selector is None or selector.is_empty:
        return False
    return pod.name not in budget.disrupted and selector.matches(labels)


_PREFERENCES: tuple[Callable[[Victims], float], ...] = (
    lambda victims: victims.violations,
    lambda victims: victims.pods[0].priority,
    lambda victims: sum(pod.priority - _LOWEST for pod in victims.pods),
    lambda victims: len(victims.pods),
    lambda victims: -min(_started(pod) for pod in victims.pods if pod.priority == victims.pods[0].priority),
)


def chosen(candidates: Mapping[str, Victims]) -> tuple[str, ...]:
    """The nodes of which the scheduler takes one: those that cost the least."""
    names = list(candidates)
    for cost in _PREFERENCES:
        least = min(cost(candidates[name]) for name in names)
        names = [name for name in names if cost(candidates[name]) == least]
    return tuple(names)
