"""Nodes on which the filter of DynamicResources likely runs into its limit of 10 s: the search there ends only after too many steps.

Source: the timeout in dynamicresources.go (gate DRASchedulerFilterTimeout). Up to 1.35 such a node counts as unschedulable, from 1.36 on
the whole attempt ends with an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby, islice

from ..dra.allocation import effort_on, efforts_on
from ..dra.effort import FILTER_LIMIT, Effort
from ..dra.outcome import Outcome, Unallocatable, Unknown
from ..dra.problem import AllocationProblem, TargetNode
from ..objects import Node, Pod
from ..view import ClusterView, derived
from .node_placement import NodePlacement
from .placement import Placement

REASON = "timed out trying to allocate devices"
GATE = "DRASchedulerFilterTimeout"
GROUPS, BOUND, WORK = 32, 60_000, 240_000
"""So many kinds of nodes are counted, each with so much work at most, and all of them together."""

ALL_FILTERED = 100
"""Nodes below which the scheduler filters every one, however many fit (numFeasibleNodesToFind in schedule_one.go)."""


def undecided_nodes(placement: Placement) -> tuple[str, ...]:
    """Open nodes where our own search reached its bound: whether the real one ends within its limit isn't known."""
    if not any(map(_past_bound, placement.outcomes)):
        return ()
    return tuple(entry.node.name for entry in placement.opened if _past_bound(entry.outcome))


def _past_bound(outcome: Outcome | None) -> bool:
    return (isinstance(outcome, Unallocatable) and outcome.past_bound) or (isinstance(outcome, Unknown) and outcome.proven != "")


def ends_the_attempt(placement: Placement) -> Mapping[str, Effort]:
    """The slow nodes, where one of them ends the whole attempt although the pod fits elsewhere."""
    problem = placement.devices.problem
    if problem is None or problem.minor < 36 or len(placement.filters.view.all(Node)) >= ALL_FILTERED:
        return {}
    return counted_nodes(placement)[0]


def counted_nodes(placement: Placement) -> tuple[Mapping[str, Effort], Mapping[str, Effort]]:
    """Open nodes where the real search likely passes the limit, and those where it may: on a slow machine, or as it wasn't counted to its
    end."""
    said = said_to_end(placement)
    limit = limit_by(said)
    slow, perhaps = dict(said), dict[str, Effort]()
    for alike, counted in _counted_kinds(placement):
        if counted.exceeds(limit):
            slow.update(dict.fromkeys([entry.target.name for entry in alike], counted))
        elif counted.may_exceed_filter:
            perhaps.update(dict.fromkeys([entry.target.name for entry in alike if entry.target.name not in said], counted))
    return slow, perhaps


def limit_of(placement: Placement) -> float:
    """Seconds by our lower figures that a search can take in this scheduler: less than its limit where one that takes less ran into it."""
    return limit_by(said_to_end(placement))


def limit_by(said: Mapping[str, Effort]) -> float:
    """The same by the searches that ran out of time."""
    return min((FILTER_LIMIT, *(counted.seconds for counted in said.values() if counted.complete)))


def _counted_kinds(placement: Placement) -> Iterator[tuple[Sequence[NodePlacement], Effort]]:
    """Open nodes without a solution, with the steps of the search there. Nodes of one class share their outcome and their count."""
    if not placement.filters.view.release.enabled(GATE):
        return
    kinds = {alike[0].node.name: alike for alike in placement.open_kinds if isinstance(alike[0].outcome, Unallocatable)}
    asked = [(problem, alike[0].target) for alike in kinds.values() if (problem := placement.devices.problem_on(alike[0].node)) is not None]
    for name, counted in _counted(asked):
        yield kinds[name], counted


def said_node(pod: Pod) -> str | None:
    """The node whose search ended at the limit, as the scheduler last said of this pod."""
    condition = pod.condition("PodScheduled")
    said = _SAID.search(condition.message) if condition is not None and not condition.holds else None
    return said.group(1) if said is not None else None


_SAID = re.compile(rf"node (\S+): {REASON}")


def said_to_end(placement: Placement) -> Mapping[str, Effort]:
    """The node whose search ended at the limit, by the scheduler's last word, if that can still be so: nothing fits there, and the search
    for it isn't a short one."""
    return derived(placement, "said to end", lambda: _said_to_end(placement))


def _said_to_end(placement: Placement) -> Mapping[str, Effort]:
    entry = placement.nodes.get(said_node(placement.pod) or "")
    if entry is None or entry.plain or not (isinstance(entry.outcome, Unallocatable) or _past_bound(entry.outcome)):
        return {}
    problem = placement.devices.problem_on(entry.node)
    counted = effort_on(problem, entry.target, BOUND) if problem is not None and problem.minor >= 36 else None
    return {entry.node.name: counted} if counted is not None and counted.can_exceed_filter else {}


def ending_the_attempt(view: ClusterView, problem: AllocationProblem, refusing: Iterable[TargetNode], limit: float) -> Iterator[str]:
    """Those of these nodes, each of a kind of its own and none with a solution, on which the search likely ends every attempt: it takes
    longer than the limit (`limit_of`)."""
    if problem.minor >= 36 and view.count(Node) < ALL_FILTERED and view.release.enabled(GATE):
        yield from (name for name, counted in _counted((problem, node) for node in refusing) if counted.exceeds(limit))


def _counted(asked: Iterable[tuple[AllocationProblem, TargetNode]]) -> Iterator[tuple[str, Effort]]:
    """Nodes with the steps of the search there, as far as there is time to count."""
    left = WORK
    for _, alike in groupby(islice(asked, GROUPS), key=lambda pair: id(pair[0])):
        problem, first = next(alike)
        for node, counted in efforts_on(problem, chain((first,), (node for _, node in alike)), BOUND):
            if counted is not None:
                left -= counted.work
                yield node.name, counted
            if left <= 0:
                return
