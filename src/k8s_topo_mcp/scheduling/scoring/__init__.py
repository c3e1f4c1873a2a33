"""What the scheduler's default Score plugins give the nodes on which a pod fits, one module a plugin, named as the plugin.

Source: default_plugins.go for the weights. ImageLocality isn't here, as images of nodes aren't kept: it is taken to give all nodes the
same. So are extenders, other profiles, and nodes that the scheduler leaves out in large clusters (percentageOfNodesToScore).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from ...objects import Pod
from ...view import ClusterView
from ..dynamic_resources import DeviceState
from ..node_info import NodeInfo
from ..skip import Skip
from . import (
    dynamic_resources,
    inter_pod_affinity,
    node_affinity,
    node_resources_balanced_allocation,
    node_resources_fit,
    pod_topology_spread,
    taint_toleration,
)
from .candidate import Candidate


def of_node(view: ClusterView, pod: Pod, info: NodeInfo) -> int:
    """What the plugins give that look at one node alone."""
    release = view.release
    return node_resources_fit.score(pod, info, release) + node_resources_balanced_allocation.score(pod, info, release.minor)


def compares(view: ClusterView, pod: Pod, devices: DeviceState, placed: Sequence[Pod] = ()) -> bool:
    """Whether a plugin has a say that compares nodes with each other, or looks at pods of others."""
    return (
        bool(pod.affinity.node.preferred)
        or not isinstance(taint_toleration.prepare(view), Skip)
        or not isinstance(dynamic_resources.prepare(view, devices), Skip)
        or not isinstance(pod_topology_spread.prepare(view, pod), Skip)
        or not isinstance(inter_pod_affinity.prepare(view, pod, placed), Skip)
    )


def among(view: ClusterView, pod: Pod, devices: DeviceState, candidates: Sequence[Candidate], placed: Sequence[Pod] = ()) -> list[int]:
    """What those plugins give each of the nodes, weighted. `placed` are pods that count beside those of the view, with their nodes."""
    totals = [0] * len(candidates)

    def add(weight: int, scores: Sequence[int]) -> None:
        for at, score in enumerate(scores):
            totals[at] += weight * score

    comparison = taint_toleration.prepare(view)
    if not isinstance(comparison, Skip):
        add(taint_toleration.WEIGHT, taint_toleration.score(comparison, pod, candidates))
    if pod.affinity.node.preferred:
        add(node_affinity.WEIGHT, node_affinity.score(pod, candidates))
    state = dynamic_resources.prepare(view, devices)
    if not isinstance(state, Skip):
        add(dynamic_resources.WEIGHT, dynamic_resources.score(state, candidates))
    spread = pod_topology_spread.prepare(view, pod)
    if not isinstance(spread, Skip):
        add(pod_topology_spread.WEIGHT, pod_topology_spread.score(spread, view, pod, candidates, placed))
    worth = inter_pod_affinity.prepare(view, pod, placed)
    if not isinstance(worth, Skip):
        add(inter_pod_affinity.WEIGHT, inter_pod_affinity.score(worth, candidates))
    return totals


def preferences(view: ClusterView, pod: Pod) -> Hashable:
    """Everything of a pod that its scores, and what it does to those of others, depend on, beyond what decides where it may run."""
    affinity, spread = pod.affinity, pod_topology_spread.prepare(view, pod)
    wishes = (affinity.node.preferred, affinity.pod.preferred, affinity.anti.preferred, affinity.pod.required)
    soft = () if isinstance(spread, Skip) else tuple((entry, str(selector)) for entry, selector in spread.constraints)
    looks = bool(soft) or any(wishes[1:]) or not isinstance(inter_pod_affinity.prepare(view, pod, ()), Skip)
    labels = (pod.namespace, tuple(sorted(pod.metadata.labels.items()))) if looks else ()
    return node_resources_fit.non_zero_requests(pod), repr(wishes) if any(wishes) else "", repr(soft) if soft else "", labels


__all__ = ["Candidate", "among", "compares", "of_node", "preferences"]
