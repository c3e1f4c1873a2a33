"""PodTopologySpread: of ScheduleAnyway constraints, the fewer matching pods in the node's domains, the better.

Source: k8s.io/kubernetes pkg/scheduler/framework/plugins/podtopologyspread/scoring.go. A pod without constraints of its own is spread over
nodes and zones by the scheduler's own constraints, together with the pods of its ReplicaSet, StatefulSet or ReplicationController (and of
Services that select it, which aren't read).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...objects import Node, Pod
from ...objects.affinity import TopologySpreadConstraint
from ...objects.label_selector import LabelSelector
from ...objects.node import HOSTNAME
from ...objects.owner import Owner, ReplicaSet, ReplicationController, StatefulSet
from ...view import ClusterView
from ..pod_topology_spread import lets_in, matching, merged
from ..skip import SKIP, Skip
from .candidate import MAX_NODE_SCORE, Candidate

WEIGHT = 2
ZONE = "topology.kubernetes.io/zone"
BY_DEFAULT = (TopologySpreadConstraint(3, HOSTNAME, "ScheduleAnyway"), TopologySpreadConstraint(5, ZONE, "ScheduleAnyway"))
_OWNERS: tuple[type[Owner], ...] = (ReplicaSet, StatefulSet, ReplicationController)


@dataclass(frozen=True, slots=True, eq=False)
class SoftSpread:
    """`constraints` with the pods that each means; `own`: they are the pod's, so that a node has to have the keys of all of them."""

    constraints: tuple[tuple[TopologySpreadConstraint, LabelSelector | None], ...]
    own: bool


def prepare(view: ClusterView, pod: Pod) -> SoftSpread | Skip:
    """What is to be spread if possible; SKIP: nothing."""
    if pod.topology_spread:
        soft = tuple((entry, merged(entry, pod)) for entry in pod.topology_spread if entry.when_unsatisfiable == "ScheduleAnyway")
        return SoftSpread(soft, own=True) if soft else SKIP
    selector = _siblings(view, pod)
    if selector is None or selector.is_empty:
        return SKIP
    return SoftSpread(tuple((entry, selector) for entry in BY_DEFAULT), own=False)


def _siblings(view: ClusterView, pod: Pod) -> LabelSelector | None:
    """Which pods the controller of this one looks after."""
    owner = pod.metadata.controller
    if owner is None:
        return None
    for kind in _OWNERS:
        if owner.kind == kind.KIND:
            found = view.get(kind, owner.name, pod.namespace)
            return found.selector if found is not None else None
    return None


def score(state: SoftSpread, view: ClusterView, pod: Pod, candidates: Sequence[Candidate], placed: Iterable[Pod]) -> list[int]:
    """What the plugin gives each node; `placed` are pods that count beside those of the view."""
    placed = tuple(placed)
    scored = [entry for entry in candidates if not state.own or _has_keys(state, entry.info.node)]
    counts = [_counts(constraint, selector, state, view, pod, scored, placed) for constraint, selector in state.constraints]
    raw: dict[str, int] = {}
    for entry in scored:
        node, total = entry.info.node, 0.0
        for (constraint, _), (by_value, weight) in zip(state.constraints, counts, strict=True):
            value = node.metadata.labels.get(constraint.topology_key)
            if value is not None:
                total += by_value.get(node.name if constraint.topology_key == HOSTNAME else value, 0) * weight + (constraint.max_skew - 1)
        raw[node.name] = math.floor(total + 0.5)
    least, most = min(raw.values(), default=0), max(raw.values(), default=0)

    def normal(name: str) -> int:
        if name not in raw:
            return 0
        return MAX_NODE_SCORE * (most + least - raw[name]) // most if most else MAX_NODE_SCORE

    return [normal(entry.info.node.name) for entry in candidates]


def _counts(
    constraint: TopologySpreadConstraint,
    selector: LabelSelector | None,
    state: SoftSpread,
    view: ClusterView,
    pod: Pod,
    scored: Sequence[Candidate],
    placed: Sequence[Pod],
) -> tuple[Mapping[str, int], float]:
    """Matching pods by value (of host names: by node), and the weight of one of them."""
    key = constraint.topology_key
    on_node = dict(matching(view, pod.namespace, selector))
    if selector is not None and not selector.is_empty:
        for other in placed:
            if other.namespace == pod.namespace and selector.matches(other.metadata.labels):
                on_node[other.node_name] = on_node.get(other.node_name, 0) + 1
    if key == HOSTNAME:
        return on_node, math.log(len(scored) + 2)
    by_value = {entry.info.node.metadata.labels.get(key, ""): 0 for entry in scored}
    comparison = view.release.enabled("TaintTolerationComparisonOperators")
    for name, count in on_node.items():
        node = view.get(Node, name)
        if node is None or (state.own and not _has_keys(state, node)) or not lets_in(constraint, pod, node, comparison):
            continue
        value = node.metadata.labels.get(key, "")
        if value in by_value:
            by_value[value] += count
    return by_value, math.log(len(by_value) + 2)


def _has_keys(state: SoftSpread, node: Node) -> bool:
    return all(entry.topology_key in node.metadata.labels for entry, _ in state.constraints)
