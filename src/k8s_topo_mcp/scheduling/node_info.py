"""A node as the scheduler's filters see it: with the pods on it and what they ask."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, filterfalse
from operator import attrgetter, is_not

from ..objects import Node, Pod
from ..objects.quantity import Quantity
from ..releases import Release
from ..view import ClusterView, derived
from ..view.keeping import make_room
from ..view.lately import Mark, mark, others_since

MANY = 64
"""So many nodes more than there are may be remembered."""

KEPT_ROUNDS = 3
"""Of so many sets of nodes the infos are kept together."""


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
    """All nodes with their pods, by name, in the order of the cluster."""

    def look() -> Mapping[str, NodeInfo]:
        pods, known, nodes = view.index(Pod, _on_node), _known(view), view.all(Node)
        last = view.carried(Node, _no_round)
        question = (_reading(view.release), len(nodes))  # with one node more, as a what-if has it, and without, in turns
        before = last.pop(question, None) or next((own for (how, _), own in tuple(last.items()) if how == question[0]), None)
        # Most are those of the view before: only nodes that are others, or whose pods are, are looked at.
        if before is not None:
            infos = dict(before.infos)
            for name in {*other_nodes(before.nodes, nodes), *_with_other_pods(view, before, pods)}:
                node = view.get(Node, name)
                if node is not None:
                    infos[name] = _info(view, node, pods, known)
                else:
                    infos.pop(name, None)
            if before.nodes is not nodes and list(infos) != (names := list(map(_name, nodes))):
                infos = dict(zip(names, map(infos.__getitem__, names), strict=True))
        else:
            infos = {node.name: _info(view, node, pods, known) for node in nodes}
        last[question] = _Round(nodes, pods, mark(view, Pod), infos)
        make_room(last, KEPT_ROUNDS)
        return infos

    return view.memo("node infos", look)


@dataclass(frozen=True, slots=True)
class _Round:
    """The infos of a view, and of what they were made. They hold for views that read the status of resources in the same way."""

    nodes: tuple[Node, ...]
    pods: Mapping[str, tuple[Pod, ...]]
    mark: Mark
    infos: Mapping[str, NodeInfo]


_name = attrgetter("metadata.name")


def other_nodes(before: Sequence[Node], now: Sequence[Node]) -> list[str]:
    """The names of nodes that are other objects now, came or went."""
    if before is now:
        return []
    if len(before) == len(now):
        places = list(compress(range(len(now)), map(is_not, before, now)))
        if all(before[place].name == now[place].name for place in places):
            return [now[place].name for place in places]
    return differing(dict(zip(map(_name, before), before, strict=True)), dict(zip(map(_name, now), now, strict=True)))


def _with_other_pods(view: ClusterView, before: _Round, pods: Mapping[str, tuple[Pod, ...]]) -> Iterable[str]:
    """The names of nodes on which a pod is another, came or went."""
    others = others_since(view, Pod, before.mark)
    if others is None:
        return differing(before.pods, pods)
    return [pod.node_name for pod in others if pod.node_name]


def _no_round(_: tuple[Node, ...]) -> dict[tuple[Hashable, int], _Round]:
    return {}


def differing(before: Mapping[str, object], now: Mapping[str, object]) -> list[str]:
    """The keys under which there are two objects, or one."""
    if before is now:
        return []
    if list(before) == list(now):
        return list(compress(now, map(is_not, before.values(), now.values())))
    return [*compress(now, map(is_not, map(before.get, now), now.values())), *filterfalse(now.__contains__, before)]


def _info(view: ClusterView, node: Node, placed: Mapping[str, tuple[Pod, ...]], known: dict[str, NodeInfo]) -> NodeInfo:
    name = node.metadata.name
    pods = placed.get(name, ())
    info = known.get(name)
    if info is None or info.node is not node or (info.pods is not pods and info.pods != pods):  # pods compare by identity
        if info is not None and _take_the_same(info.pods, pods, view.release):
            info = known[name] = NodeInfo(node, pods, info.requested, node.allocatable, info.lowest)
        else:
            info = known[name] = info_of(node, pods, view.release)
    return info


def _take_the_same(before: tuple[Pod, ...], now: tuple[Pod, ...], release: Release) -> bool:
    """Whether each pod took as much before, with the same priority: then only what it says of itself has changed."""
    return len(before) == len(now) and all(
        one is other or (one.priority == other.priority and occupied(one, release) == occupied(other, release))
        for one, other in zip(before, now, strict=True)
    )


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
