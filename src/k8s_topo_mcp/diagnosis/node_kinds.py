"""Nodes that a waiting pod can't tell apart: of each kind one is judged, so that a large cluster costs no more than a varied one.

What the filters read of a node, if no rule of the pod looks beyond it (other pods, volumes, ports): its labels as far as the pod selects by
them, taints, cordon, declared features, whether each request fits what is left and what there is in all, pod slots; and its devices as the
pod's claims see them (`dra.allocation.node_groups`). A node for which the scheduler keeps room for a nominated pod is a kind of its own.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..dra.allocation import node_groups
from ..dra.problem import AllocationProblem
from ..objects import Node, Pod
from ..scheduling import dynamic_resources, inter_pod_affinity, node_ports
from ..scheduling.looks import looks_around
from ..scheduling.node_info import effective_requests, node_info
from ..scheduling.placement import targets_of
from ..scheduling.skip import Skip
from ..view import ClusterView
from ..view.indices import pods_nominated_to

NANO = 10**9
"""Quantities are whole numbers of billionths (apimachinery resource.Quantity)."""


@dataclass(frozen=True, slots=True, eq=False)
class NodeKind:
    """Nodes alike, in the order of the cluster. `first` stands for all: where a resource lacks, the one that has the most of it left."""

    first: Node
    members: tuple[Node, ...]


def node_kinds(view: ClusterView, pod: Pod, devices: dynamic_resources.DeviceState) -> tuple[NodeKind, ...] | None:
    """The kinds of nodes; None where rules of the pod look at more than one node at a time, so that every node has to be judged."""
    if _looks_around(view, pod, devices):
        return None
    keys = _keys(pod)
    if keys is None:
        return None
    nodes = view.all(Node)
    labels = view.memo(("static kinds", keys), lambda: _static(view, keys))
    room = _room(view, pod)
    members: dict[Hashable, list[int]] = {}
    for place, key in enumerate(zip(labels, _devices(view, nodes, devices.problem), room.verdicts, strict=True)):
        members.setdefault(key, []).append(place)
    return tuple(NodeKind(nodes[room.most(places)], tuple(nodes[place] for place in places)) for places in members.values())


def _looks_around(view: ClusterView, pod: Pod, devices: dynamic_resources.DeviceState) -> bool:
    if pod.node_name or pod.volumes or looks_around(pod):
        return True
    if devices.allocated or devices.extended is not None or not isinstance(node_ports.prepare(view, pod), Skip):
        return True
    return not isinstance(inter_pod_affinity.prepare(view, pod), Skip)


def _keys(pod: Pod) -> tuple[str, ...] | None:
    """Labels by which the pod selects nodes; None if it selects by name."""
    terms = pod.affinity.node.required.terms if pod.affinity.node.required is not None else ()
    if any(term.fields for term in terms):
        return None
    return tuple(sorted({*pod.node_selector, *(entry.key for term in terms for entry in term.expressions)}))


def _static(view: ClusterView, keys: tuple[str, ...]) -> list[Hashable]:
    """A number for each node, the same for nodes alike in what doesn't depend on the pods there."""
    numbers: dict[Hashable, int] = {}
    found: list[Hashable] = []
    for node in view.all(Node):
        labels = node.metadata.labels
        own = node.name if pods_nominated_to(view, node.name) else ""
        key = (node.unschedulable, node.taints, node.declared_features, own, *(labels.get(name) for name in keys))
        found.append(numbers.setdefault(key, len(numbers)))
    return found


def _devices(view: ClusterView, nodes: Sequence[Node], problem: AllocationProblem | None) -> list[int]:
    if problem is None:
        return [0] * len(nodes)
    groups = node_groups(problem, targets_of(view))
    known = {entry.name: number for number, group in enumerate(groups) for entry in group}
    return [known[node.name] for node in nodes]


@dataclass(frozen=True, slots=True, eq=False)
class Room:
    """By the place of a node: whether pod slots and each resource suffice (0), or what is left (1) or in all (2) is too little.
    `lacking`: of each resource that lacks somewhere those verdicts, and what is left."""

    verdicts: Sequence[Hashable]
    lacking: Sequence[tuple[Sequence[int], Sequence[int]]]

    def most(self, places: Sequence[int]) -> int:
        """Of nodes alike the one with most left of the first resource that lacks there; else the first."""
        left = next((left for own, left in self.lacking if own[places[0]]), None)
        return places[0] if left is None else max(places, key=left.__getitem__)


def _room(view: ClusterView, pod: Pod) -> Room:
    lacking: list[tuple[Sequence[int], Sequence[int]]] = []
    for name, asked in effective_requests(pod).items():
        wanted = billionths(asked.value)
        amounts = _left(view, name) if wanted else ()
        own = [0 if wanted <= free else 1 if wanted <= total else 2 for free, total in amounts]
        if any(own):
            lacking.append((own, [free for free, _ in amounts]))
    full = [free < 1 for free, _ in _left(view, "pods")]
    return Room(list(zip(full, *(own for own, _ in lacking), strict=True)), lacking)


def _left(view: ClusterView, name: str) -> list[tuple[int, int]]:
    """(free, in all) of a resource on each node, in billionths; of pods in whole numbers."""

    def make() -> list[tuple[int, int]]:
        infos = [node_info(view, node) for node in view.all(Node)]
        if name == "pods":
            slots = [info.allocatable.get(name) for info in infos]
            counts = [int(amount.value) if amount is not None else 0 for amount in slots]
            return [(count - len(info.pods), count) for count, info in zip(counts, infos, strict=True)]
        totals = [billionths(amount.value) if (amount := info.allocatable.get(name)) is not None else 0 for info in infos]
        return [(total - billionths(info.requested.get(name, 0)), total) for total, info in zip(totals, infos, strict=True)]

    return view.memo(("left", name), make)


def billionths(value: int | float | Fraction) -> int:
    """A quantity's value as a whole number."""
    return int(value * NANO)
