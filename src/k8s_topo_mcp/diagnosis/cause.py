"""From a placement that fails to the one cause to name: what holds the pod as a whole, else the devices, else the plain filters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from ..dra.allocation import node_groups
from ..dra.defects import DEFECTS
from ..dra.funnel import screened
from ..dra.outcome import Aborted, Allocated, Outcome, Unallocatable, Unknown
from ..dra.prepared import prepare
from ..dra.problem import AllocationProblem, TargetNode
from ..findings import Finding, finding
from ..objects import ObjectRef
from ..scheduling.filter_timeout import ends_the_attempt
from ..scheduling.placement import NodePlacement, Placement
from ..view import ClusterView
from .aborts import abort_cause
from .nearest import quantity_or_none
from .node_changes import UNSCHEDULABLE_TAINT
from .report import Cause
from .shortages import device_cause


def find_cause(view: ClusterView, placement: Placement) -> Cause | None:
    """The first blocker of a pod that fits nowhere; None when it fits."""
    total = len(placement.nodes)
    if placement.unread:
        return Cause(finding("NOT_MODELLED", placement.pod.ref, what=placement.unread), 0, total)
    if placement.pod_wide:
        return Cause(placement.pod_wide[0], 0, total)
    if not placement.nodes:
        readable = view.can_read("Node")
        return Cause(finding("NO_NODES") if readable else finding("NOT_MODELLED", placement.pod.ref, what="nodes could not be read"), 0, 0)
    opened = placement.opened
    if placement.devices.not_modelled:
        return Cause(finding("NOT_MODELLED", placement.pod.ref, what=placement.devices.not_modelled), len(opened), total)
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
    elsewhere = [entry for entry in opened if entry.elsewhere]
    if len(elsewhere) == len(opened) and all(entry.outcome is None or isinstance(entry.outcome, Allocated) for entry in opened):
        return Cause(elsewhere[0].elsewhere[0], len(opened), total)
    targets = placement.targets
    if elsewhere or len(outcomes) < len(opened):
        targets = [entry.target for entry in opened if not entry.elsewhere and entry.outcome is not None]
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
    meant = [entry for entry in placement.nodes.values() if entry.plain and not any(own.code in ASKED_FOR for own, _ in entry.plain)]
    closed = {entry.target.name: entry for entry in meant}
    groups = node_groups(problem, [entry.target for entry in closed.values()])
    names = {node.name for group in groups if screened(prepared, group[:1], counted.request) for node in group}
    having = [entry for name, entry in closed.items() if name in names]
    if not having:
        return None
    refusal = _refusal(having)
    alike = sum(_signature(entry.plain[0][0]) == _signature(refusal.finding) for entry in having)
    names_having = tuple(entry.node.name for entry in having)
    return replace(refusal, open_nodes=cause.open_nodes, nodes=cause.nodes, having=names_having, alike=alike)


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
    return _refusal(placement.nodes.values())


def _refusal(entries: Collection[NodePlacement]) -> Cause:
    """The first reason against those of some closed nodes that the least keeps the pod from."""
    first = max((entry.plain[0][0] for entry in nearest_nodes(entries)), key=_ease)
    return Cause(first, 0, len(entries))


def refused(placement: Placement, cause: Cause) -> tuple[NodePlacement, ...]:
    """The nodes that a plain filter is to blame for: all where none is open, else those that have what no open one has; none where
    devices or the pod as a whole decide."""
    if placement.pod_wide:
        return ()
    if cause.having:
        return tuple(placement.nodes[name] for name in cause.having)
    return () if placement.opened else tuple(placement.nodes.values())


def nearest_nodes(entries: Iterable[NodePlacement]) -> tuple[NodePlacement, ...]:
    """Of nodes that plain filters refuse, those that the fewest reasons keep the pod from; of equally few, nodes that the pod asks for
    rather than others; of these, the most that one and the same reason refuses first."""
    ranked = [(_distance(entry), entry) for entry in entries]
    least = min(rank for rank, _ in ranked)
    chosen = [entry for rank, entry in ranked if rank == least]
    wanted = Counter(_signature(entry.plain[0][0]) for entry in chosen).most_common(1)[0][0]
    return tuple(entry for entry in chosen if _signature(entry.plain[0][0]) == wanted)


ASKED_FOR = frozenset({"NODE_NAME_MISMATCH", "NODE_AFFINITY_MISMATCH"})
"""The pod means other nodes."""
FIXED = frozenset({"VOLUME_NODE_AFFINITY", "VOLUME_ZONE"})
"""The pod's volumes are elsewhere, which nobody changes."""
TOO_SMALL = "RESOURCE_TOO_LARGE"
"""Even when empty the node wouldn't do: one that others fill comes first."""


def _distance(entry: NodePlacement) -> tuple[int, int]:
    """(How many reasons keep the pod from a node, devices counted as one; how many of them aren't the node's own)."""
    codes = {found.code for found in reasons_against(entry)}
    weight = sum(4 if code in FIXED else 2 if code in ASKED_FOR else code == TOO_SMALL for code in codes)
    return len(codes) + (0 if devices_suffice(entry) else 1), weight


def reasons_against(entry: NodePlacement) -> tuple[Finding, ...]:
    """The first finding of each code against a node; the taint that comes with a cordon is the cordon."""
    found: dict[str, Finding] = {}
    for own, _ in entry.plain:
        if own.code == "UNTOLERATED_TAINT" and "NODE_UNSCHEDULABLE" in found and own.text("taint").startswith(UNSCHEDULABLE_TAINT):
            continue
        found.setdefault(own.code, own)
    return tuple(found.values())


def devices_suffice(entry: NodePlacement) -> bool:
    """Whether nothing about devices keeps the pod from a node."""
    return not entry.elsewhere and (entry.outcome is None or isinstance(entry.outcome, Allocated))


def _signature(found: Finding) -> tuple[str, str]:
    values = found.values
    return found.code, str(values.get("taint") or values.get("requirement") or values.get("resource") or "")


def _ease(found: Finding) -> float:
    """How much is left of a resource, or how few pods are in a domain, so that the best node is named."""
    if found.code == "SPREAD_SKEW":
        return -float(found.number("pods"))
    amount = quantity_or_none(str(found.values.get("free", "0")))
    return 0.0 if amount is None else amount.approximate_float()
