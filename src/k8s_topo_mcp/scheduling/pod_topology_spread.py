"""PodTopologySpread: DoNotSchedule constraints keep the numbers of matching pods per domain within maxSkew of the smallest.

Source: k8s.io/kubernetes pkg/scheduler/framework/plugins/podtopologyspread (filtering.go, common.go). Only nodes with the keys of all
constraints count, and per constraint those that its nodeAffinityPolicy and nodeTaintsPolicy let in. Pods that are being deleted don't
count, and a selector for everything counts none. Neither rule holds for pods that are taken away or added on trial: each that matches is
one less or one more, whether it was counted or not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..findings import Finding, finding
from ..objects import Node, Pod
from ..objects.affinity import TopologySpreadConstraint
from ..objects.label_selector import LabelSelector
from ..view import ClusterView
from . import node_affinity, taint_toleration
from .node_info import NodeInfo
from .placed_pods import placed_pods
from .skip import SKIP, Skip

REASON_KEY_MISSING = "node(s) didn't match pod topology spread constraints (missing required label)"
REASON_SKEW = "node(s) didn't match pod topology spread constraints"


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """One constraint. `counts` are matching pods by domain, `least` what the skew is measured from, `own` is 1 if the pod counts itself.
    `selector`: which pods match; None: none does."""

    constraint: TopologySpreadConstraint
    selector: LabelSelector | None
    counts: Mapping[str, int]
    least: int
    own: int


def required(pod: Pod) -> tuple[TopologySpreadConstraint, ...]:
    """The constraints that keep the pod from nodes."""
    return tuple([entry for entry in pod.topology_spread if entry.when_unsatisfiable == "DoNotSchedule"])


def prepare(view: ClusterView, pod: Pod) -> tuple[Spread, ...] | Skip:
    constraints = required(pod)
    if not constraints:
        return SKIP
    comparison = view.release.enabled("TaintTolerationComparisonOperators")
    eligible = [node for node in view.all(Node) if _has_keys(node, constraints)]
    return tuple(_spread(view, pod, entry, eligible, comparison) for entry in constraints)


def updated(
    state: tuple[Spread, ...], view: ClusterView, pod: Pod, node: Node, removed: Sequence[Pod], added: Sequence[Pod]
) -> tuple[Spread, ...]:
    """The state after pods of one node were taken away or placed on trial (updateWithPod in filtering.go)."""
    comparison = view.release.enabled("TaintTolerationComparisonOperators")
    if not _has_keys(node, [spread.constraint for spread in state]):
        return state
    return tuple(
        _moved(spread, node, _matches(spread, pod, added) - _matches(spread, pod, removed))
        if lets_in(spread.constraint, pod, node, comparison)
        else spread
        for spread in state
    )


def _moved(spread: Spread, node: Node, change: int) -> Spread:
    if not change:
        return spread
    value = node.metadata.labels[spread.constraint.topology_key]
    counts = {**spread.counts, value: spread.counts.get(value, 0) + change}
    return replace(spread, counts=counts, least=_least(spread.constraint, counts))


def _matches(spread: Spread, pod: Pod, others: Sequence[Pod]) -> int:
    selector = spread.selector
    if selector is None:
        return 0
    return sum(other.namespace == pod.namespace and selector.matches(other.metadata.labels) for other in others)


def filter(state: tuple[Spread, ...], info: NodeInfo) -> tuple[Finding, ...]:
    labels = info.node.metadata.labels
    for spread in state:
        key, limit = spread.constraint.topology_key, spread.constraint.max_skew
        value = labels.get(key)
        if value is None:
            return (finding("SPREAD_KEY_MISSING", info.node.ref, "metadata.labels", key=key),)
        count = spread.counts.get(value, 0)
        if count + spread.own - spread.least > limit:
            return (
                finding(
                    "SPREAD_SKEW", info.node.ref, "metadata.labels", key=key, value=value, pods=count, least=spread.least, max_skew=limit
                ),
            )
    return ()


def _spread(view: ClusterView, pod: Pod, constraint: TopologySpreadConstraint, eligible: list[Node], comparison: bool) -> Spread:
    selector = merged(constraint, pod)
    on_node = matching(view, pod.namespace, selector)
    counts: dict[str, int] = {}
    for node in eligible:
        if lets_in(constraint, pod, node, comparison):
            value = node.metadata.labels[constraint.topology_key]
            counts[value] = counts.get(value, 0) + on_node.get(node.name, 0)
    own = 1 if selector is not None and selector.matches(pod.metadata.labels) else 0
    return Spread(constraint, selector, counts, _least(constraint, counts), own)


def _has_keys(node: Node, constraints: Sequence[TopologySpreadConstraint]) -> bool:
    return all(entry.topology_key in node.metadata.labels for entry in constraints)


def lets_in(constraint: TopologySpreadConstraint, pod: Pod, node: Node, comparison: bool) -> bool:
    """Whether the policies of the constraint count the node."""
    if constraint.node_affinity_policy == "Honor" and not node_affinity.matches(pod, node):
        return False
    return constraint.node_taints_policy != "Honor" or taint_toleration.untolerated(pod, node, comparison) is None


def _least(constraint: TopologySpreadConstraint, counts: Mapping[str, int]) -> int:
    wanted = constraint.min_domains if constraint.min_domains is not None else 1
    return 0 if len(counts) < wanted else min(counts.values(), default=_NO_DOMAIN)


_NO_DOMAIN = 2**31 - 1
"""Upstream's minimum over no domains; reached only where minDomains is below 1."""


def matching(view: ClusterView, namespace: str, selector: LabelSelector | None) -> Mapping[str, int]:
    """How many pods of a namespace count, by node (countPodsMatchSelector in common.go)."""
    if selector is None or selector.is_empty:
        return {}

    def count() -> Counter[str]:
        return Counter(
            pod.node_name
            for (where, _), pods in placed_pods(view).items()
            if where == namespace and selector.matches(pods[0].metadata.labels)
            for pod in pods
            if pod.metadata.deleted is None
        )

    return view.memo(("pods that match", namespace, selector), count)


def merged(constraint: TopologySpreadConstraint, pod: Pod) -> LabelSelector | None:
    """The selector with matchLabelKeys; a missing selector stays one that matches nothing."""
    selector = constraint.selector
    added = {key: pod.metadata.labels[key] for key in constraint.match_label_keys if key in pod.metadata.labels}
    if selector is None or not added:
        return selector
    both = all(selector.match_labels.get(key, value) == value for key, value in added.items())
    return LabelSelector({**selector.match_labels, **added}, selector.expressions) if both else None


def reason(found: Finding) -> str:
    return REASON_KEY_MISSING if found.code == "SPREAD_KEY_MISSING" else REASON_SKEW
