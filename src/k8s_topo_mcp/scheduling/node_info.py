"""A node as the scheduler's filters see it: with the pods on it and what they ask."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from ..objects import Node, Pod
from ..objects.quantity import Quantity
from ..releases import Release
from ..view import ClusterView, derived

MANY = 64
"""So many nodes more than there are may be remembered."""


@dataclass(frozen=True, slots=True, eq=False)
class NodeInfo:
    """`requested` sums the effective requests of `pods`: those bound to the node and not ended. `lowest` is the least of their
    priorities."""

    node: Node
    pods: tuple[Pod, ...]
    requested: Mapping[str, int | float]
    allocatable: Mapping[str, Quantity]
    lowest: int | None


def effective_requests(pod: Pod) -> Mapping[str, Quantity]:
    """What the scheduler looks for when the pod is to be placed; kept, as a pod's requests don't change."""
    return derived(pod, "requests", lambda: pod.requests(status=False))


def occupied(pod: Pod, release: Release) -> Mapping[str, Quantity]:
    """What a placed pod takes of its node, a resize under way included."""
    if not pod.has_resource_status:
        return effective_requests(pod)
    by_container, pod_level = _reading(release)

    def sum_up() -> Mapping[str, Quantity]:
        return pod.requests(pod_level_status=pod_level, by_container=by_container)

    return derived(pod, ("occupied", by_container, pod_level), sum_up)


def _reading(release: Release) -> tuple[bool, bool]:
    """What of a release decides how the status of a pod's resources is read."""
    return release.minor < 37, release.enabled("InPlacePodLevelResourcesVerticalScaling")


def _on_node(pod: Pod) -> tuple[str, ...]:
    return (pod.node_name,) if pod.node_name and not pod.is_terminal else ()


def info_of(node: Node, pods: tuple[Pod, ...], release: Release) -> NodeInfo:
    """The node as if exactly these pods ran on it."""
    lowest = min([pod.priority for pod in pods], default=None)
    return NodeInfo(node, pods, _sum(pods, release), node.allocatable, lowest)


def node_info(view: ClusterView, node: Node) -> NodeInfo:
    """The node with the pods that are there: the same object as in the view before where neither is another."""
    return _info(view, node, view.index(Pod, _on_node), _known(view))


def node_infos(view: ClusterView) -> Mapping[str, NodeInfo]:
    """All nodes with their pods, by name."""

    def look() -> Mapping[str, NodeInfo]:
        pods, known = view.index(Pod, _on_node), _known(view)
        return {node.name: _info(view, node, pods, known) for node in view.all(Node)}

    return view.memo("node infos", look)


def _info(view: ClusterView, node: Node, placed: Mapping[str, tuple[Pod, ...]], known: dict[str, NodeInfo]) -> NodeInfo:
    name = node.metadata.name
    pods = placed.get(name, ())
    info = known.get(name)
    if info is None or info.node is not node or (info.pods is not pods and info.pods != pods):  # pods compare by identity
        info = known[name] = info_of(node, pods, view.release)
    return info


def _known(view: ClusterView) -> dict[str, NodeInfo]:
    kept = view.carried(Node, _no_infos)
    known = kept.setdefault(_reading(view.release), {})
    if len(known) > 2 * view.count(Node) + MANY:
        known.clear()  # nodes that came and went
    return known


def _no_infos(_: tuple[Node, ...]) -> dict[Hashable, dict[str, NodeInfo]]:
    return {}


def _sum(pods: tuple[Pod, ...], release: Release) -> Mapping[str, int | float]:
    requested: dict[str, int | float] = {}
    for pod in pods:
        for name, amount in occupied(pod, release).items():
            requested[name] = requested.get(name, 0) + amount.value  # type: ignore[operator]
    return requested
