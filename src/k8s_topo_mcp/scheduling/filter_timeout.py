"""Nodes on which the filter of DynamicResources likely runs into its limit of 10 s: the search there ends only after too many steps.

Source: the timeout in dynamicresources.go (gate DRASchedulerFilterTimeout). Up to 1.35 such a node counts as unschedulable, from 1.36 on
the whole attempt ends with an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from ..dra.allocation import effort_on
from ..dra.effort import Effort
from ..dra.outcome import Outcome, Unallocatable, Unknown
from ..dra.problem import AllocationProblem, TargetNode
from ..objects import Node
from ..view import ClusterView
from .placement import Placement

REASON = "timed out trying to allocate devices"
GROUPS, BOUND, WORK = 32, 60_000, 240_000
"""So many kinds of nodes are counted, each with so much work at most, and all of them together."""

ALL_FILTERED = 100
"""Nodes below which the scheduler filters every one, however many fit (numFeasibleNodesToFind in schedule_one.go)."""


def undecided_nodes(placement: Placement) -> tuple[str, ...]:
    """Open nodes where our own search reached its bound: whether the real one ends within its limit isn't known."""
    return tuple(entry.node.name for entry in placement.opened if _past_bound(entry.outcome))


def _past_bound(outcome: Outcome | None) -> bool:
    return (isinstance(outcome, Unallocatable) and outcome.past_bound) or (isinstance(outcome, Unknown) and outcome.proven != "")


def ends_the_attempt(placement: Placement) -> Mapping[str, Effort]:
    """The slow nodes, where one of them ends the whole attempt although the pod fits elsewhere."""
    problem = placement.devices.problem
    if problem is None or problem.minor < 36 or len(placement.filters.view.all(Node)) >= ALL_FILTERED:
        return {}
    return slow_nodes(placement)


def slow_nodes(placement: Placement) -> Mapping[str, Effort]:
    """Open nodes where the real search likely passes the limit, with its steps. Nodes of one class share their outcome and their count."""
    kinds = {alike[0].node.name: alike for alike in placement.open_kinds if isinstance(alike[0].outcome, Unallocatable)}
    asked = [(problem, alike[0].target) for alike in kinds.values() if (problem := placement.devices.problem_on(alike[0].node)) is not None]
    return {entry.node.name: counted for name, counted in _exceeding(asked) for entry in kinds[name]}


def ending_the_attempt(view: ClusterView, problem: AllocationProblem, refusing: Iterable[TargetNode]) -> Iterator[str]:
    """Those of these nodes, each of a kind of its own and none with a solution, on which the search likely ends every attempt."""
    if problem.minor >= 36 and view.count(Node) < ALL_FILTERED:
        yield from (name for name, _ in _exceeding((problem, node) for node in refusing))


def _exceeding(asked: Iterable[tuple[AllocationProblem, TargetNode]]) -> Iterator[tuple[str, Effort]]:
    """Nodes whose search likely passes the limit, as far as there is time to count."""
    left = WORK
    for problem, node in islice(asked, GROUPS):
        if left <= 0:
            return
        counted = effort_on(problem, node, BOUND)
        if counted is not None:
            left -= counted.work
            if counted.exceeds_filter:
                yield node.name, counted
