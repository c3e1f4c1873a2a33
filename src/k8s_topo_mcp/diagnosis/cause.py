"""From a placement that fails to the one cause to name: what holds the pod as a whole, else the devices, else the plain filters."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter

from ..dra.allocation import node_groups
from ..dra.defects import DEFECTS
from ..dra.funnel import screened
from ..dra.outcome import Aborted, Allocated, Outcome, Unallocatable, Unknown
from ..dra.prepared import prepare
from ..dra.problem import AllocationProblem, TargetNode
from ..findings import finding
from ..objects import ObjectRef
from ..scheduling.filter_timeout import ends_the_attempt
from ..scheduling.placed_nodes import names_of
from ..scheduling.placement import Placement
from ..view import ClusterView
from .aborts import abort_cause
from .closed_nodes import ASKED_FOR, ClosedNodes, codes, signature
from .report import Cause
from .shortages import device_cause


def find_cause(view: ClusterView, placement: Placement) -> Cause | None:
    """The first blocker of a pod that fits nowhere; None when it fits."""
    total = len(placement.nodes)
    if placement.unread:
        return Cause(finding("UNREADABLE", placement.pod.ref, what=placement.unread), 0, total)
    if placement.pod_wide:
        return Cause(placement.pod_wide[0], 0, total)
    if not placement.nodes:
        readable = view.can_read("Node")
        return Cause(finding("NO_NODES") if readable else finding("UNREADABLE", placement.pod.ref, what="nodes could not be read"), 0, 0)
    opened = placement.opened
    if placement.devices.unknown:
        code = "UNREADABLE" if placement.devices.unread else "NOT_MODELLED"
        return Cause(finding(code, placement.pod.ref, what=placement.devices.unknown), len(opened), total)
    if not _decided(placement.outcomes):
        outcomes = {entry.target.name: entry.outcome for entry in opened if entry.outcome is not None}
        undecided = outcome_cause(placement.pod.ref, placement.devices.problem, outcomes, placement.targets, total)
        fits_anyway = any(entry.outcome is None or not _lucky(entry.outcome) for entry in placement.fitting)
        if undecided is not None and not (undecided.finding.code in ("ORDER_DEPENDENT", "SEARCH_BOUND") and fits_anyway):
            return undecided
    if placement.fitting:
        slow = ends_the_attempt(placement)
        if not slow:
            return None
        steps = max(entry.steps for entry in slow.values())
        found = finding("FILTER_TIMEOUT", placement.pod.ref, "", nodes=tuple(slow)[:4], steps=steps, fits="elsewhere")
        return Cause(found, len(opened), total)
    if not opened:
        return plain_cause(placement)
    elsewhere = placement.left_out
    may_do = all(outcome is None or isinstance(outcome, Allocated) for outcome in placement.outcomes)
    if len(elsewhere) == len(opened) and may_do:
        return Cause(elsewhere[0].elsewhere[0], len(opened), total)
    targets = placement.as_targets(placement.searched)
    if placement.devices.problem is None or not targets:
        return Cause(elsewhere[0].elsewhere[0], len(opened), total) if elsewhere else None
    cause = device_cause(view, placement.devices.problem, targets, total)
    return _closed_cause(placement, placement.devices.problem, cause) or cause


def _closed_cause(placement: Placement, problem: AllocationProblem, cause: Cause) -> Cause | None:
    """Where no open node has any device of what a request asks and others have some, what closes those: the open ones were never meant.

    Nodes that the pod's own selector, affinity or node name leaves out were never meant either. Those that its volume can't be reached from
    are: where the volume lies wasn't asked for.
    """
    counted = cause.funnel
    if cause.finding.code not in ("NO_DEVICES", "CLASS_NO_MATCH") or counted is None or len(placement.opened) == len(placement.nodes):
        return None
    prepared = prepare(problem)
    meant = ClosedNodes.of(placement).those(lambda entry: not any(code in ASKED_FOR for code in codes(entry)))
    groups = node_groups(problem, map(attrgetter("target"), meant.entries))
    having = meant.among([node.name for group in groups if screened(prepared, group[:1], counted.request) for node in group])
    if not having:
        return None
    refusal = _refusal(having)
    alike = len(having.those(lambda entry: signature(entry.plain[0][0]) == signature(refusal.finding)))
    return replace(refusal, open_nodes=cause.open_nodes, nodes=cause.nodes, having=tuple(names_of(having.entries)), alike=alike)


def _decided(outcomes: Collection[Outcome | None]) -> bool:
    """Whether they are a plain yes or no."""
    plain = all(outcome is None or (isinstance(outcome, Allocated | Unallocatable) and not _lucky(outcome)) for outcome in outcomes)
    misses = any(isinstance(outcome, Unallocatable) and outcome.missed for outcome in outcomes)
    return plain and (not misses or any(isinstance(outcome, Allocated) for outcome in outcomes))


def _lucky(outcome: Outcome) -> bool:
    return isinstance(outcome, Allocated) and outcome.order_dependent


def outcome_cause(
    about: ObjectRef, problem: AllocationProblem | None, outcomes: Mapping[str, Outcome], nodes: Sequence[TargetNode], total: int
) -> Cause | None:
    """What the outcomes themselves say: not decided, an error, a solution that this release misses or finds by luck. None: they are a plain
    yes or no."""
    unknown = next((outcome for outcome in outcomes.values() if isinstance(outcome, Unknown)), None)
    if unknown is not None:
        if unknown.proven:
            return Cause(finding("SEARCH_BOUND", about, why=unknown.why, proven=unknown.proven), len(nodes), total)
        return Cause(finding("NOT_MODELLED", about, what=unknown.why), len(nodes), total)
    aborted = next((outcome for outcome in outcomes.values() if isinstance(outcome, Aborted)), None)
    if aborted is not None and aborted.order_dependent:
        lucky = tuple(name for name, outcome in outcomes.items() if outcome is aborted)
        return Cause(finding("ORDER_DEPENDENT", about, nodes=lucky), len(nodes), total)
    if aborted is not None and problem is not None:
        return abort_cause(problem, aborted, nodes, total)
    fitting = {name: outcome for name, outcome in outcomes.items() if isinstance(outcome, Allocated)}
    if fitting:
        lucky = tuple(name for name, outcome in fitting.items() if _lucky(outcome))
        return Cause(finding("ORDER_DEPENDENT", about, nodes=lucky[:4]), len(nodes), total) if len(lucky) == len(fitting) else None
    missed = {name: outcome.missed for name, outcome in outcomes.items() if isinstance(outcome, Unallocatable) and outcome.missed}
    if not missed:
        return None
    names = next(iter(missed.values())).split(", ")
    effect = "; ".join(DEFECTS[name].effect for name in names if name in DEFECTS)
    return Cause(finding("RELEASE_MISSES", about, nodes=tuple(missed)[:4], defects=tuple(names), effect=effect), len(nodes), total)


def plain_cause(placement: Placement) -> Cause:
    """No node passes the plain filters: the first reason against the nodes that the least keeps the pod from."""
    return _refusal(ClosedNodes.of(placement))


def _refusal(closed: ClosedNodes) -> Cause:
    """The first reason against those of some closed nodes that the least keeps the pod from."""
    return Cause(closed.nearest().easiest().plain[0][0], 0, len(closed))


def refused(placement: Placement, cause: Cause) -> ClosedNodes:
    """The nodes that a plain filter is to blame for: all where none is open, else those that have what no open one has; none where
    devices or the pod as a whole decide."""
    if placement.pod_wide or (placement.opened and not cause.having):
        return ClosedNodes(placement.placed, ())
    closed = ClosedNodes.of(placement)
    return closed.among(cause.having) if cause.having else closed
