"""Pods to which it makes no difference what comes of those of which it isn't known whether a node takes them.

They come up before them, or there is no node on which they meet, not even by way of others; or on all nodes on which they may meet there is
room for everybody. Pods that look at each other, share claims or ask for devices that several nodes see may meet anywhere.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set

from ..objects import Node, Pod
from ..scheduling import node_ports
from ..scheduling.dynamic_resources import inventory
from ..scheduling.kinds_of_pods import Kinds
from ..scheduling.node_info import effective_requests, node_info
from ..scheduling.placing import Known
from ..view import ClusterView
from .doubts import Doubts
from .queue import Entry


def untouched(view: ClusterView, entries: Sequence[Entry], kinds: Kinds, known: Known, doubts: Doubts, asking: Set[int]) -> frozenset[int]:
    """Their ids. `view`: with the new nodes; `known`: where each kind of pod may run in it; `asking`: ids of pods that want devices."""
    pods = [pod for entry in entries for pod in entry.pods]
    if kinds.related or kinds.shared or any(pod.nominated_node_name for pod in pods):
        return frozenset()
    found = {id(pod) for entry in _before(entries, doubts) for pod in entry.pods}
    places = _places(pods, kinds, known, doubts)
    anywhere = asking if _seen_by_several(view) else frozenset[int]()
    for meeting in _meetings(entries, places, anywhere):
        own = [pod for entry in meeting for pod in entry.pods]
        if not any(id(pod) in doubts.whys for pod in own):
            found.update(map(id, own))
        elif not any(id(pod) in anywhere for pod in own) and _room_for_all(view, own, kinds, places, asking):
            decided = (entry for entry in meeting if not any(id(pod) in doubts.undecided for pod in entry.pods))
            found.update(id(pod) for entry in decided for pod in entry.pods)
    return frozenset(found)


def _places(pods: Sequence[Pod], kinds: Kinds, known: Known, doubts: Doubts) -> dict[int, frozenset[str]]:
    """By id of a pod the nodes that may take it; pods that are alike share one set."""
    shared: dict[Hashable, frozenset[str]] = {}
    found: dict[int, frozenset[str]] = {}
    for pod in pods:
        number, kind = id(pod), kinds.signatures[id(pod)]
        like = kind, pod.scheduling_group, number in doubts.nodes, number in doubts.unjudged
        if like not in shared:
            nobody = frozenset[str]()
            shared[like] = frozenset(known[kind].contending) | doubts.nodes.get(number, nobody) | doubts.open_to.get(number, nobody)
        found[number] = shared[like]
    return found


def _before(entries: Sequence[Entry], doubts: Doubts) -> Iterable[Entry]:
    """Entries up to the first in which there is such a pod; that one too, if it is one pod that has a place for certain."""
    for entry in entries:
        if any(id(pod) in doubts.whys for pod in entry.pods):
            if entry.gang is None and not any(id(pod) in doubts.undecided for pod in entry.pods):
                yield entry
            return
        yield entry


def _seen_by_several(view: ClusterView) -> bool:
    """Whether there are devices that others than one node see, or pools that are made by several."""
    return any(
        "" in names or len(names) > 1
        for names in ({entry.node_selection.node_name for entry in slices} for slices in inventory(view).by_pool.values())
    )


def _meetings(entries: Sequence[Entry], places: Mapping[int, frozenset[str]], anywhere: Set[int]) -> list[list[Entry]]:
    """The entries in groups of such as may meet on a node, if only by way of others."""
    alike: dict[frozenset[str], list[Entry]] = {}
    for entry in entries:
        comes_up = entry.held is None or entry.held.status == "unknown"
        names = frozenset[str]().union(*{places[id(pod)] for pod in entry.pods}) if comes_up else frozenset[str]()
        if any(id(pod) in anywhere for pod in entry.pods):
            names |= {""}
        alike.setdefault(names, []).append(entry)
    found: list[tuple[frozenset[str], list[Entry]]] = []
    for names, own in alike.items():
        apart = [meeting for meeting in found if meeting[0].isdisjoint(names)]
        met = [meeting for meeting in found if not meeting[0].isdisjoint(names)]
        found = [*apart, (names.union(*(others for others, _ in met)), [*own, *(entry for _, members in met for entry in members)])]
    return [members for _, members in found]


def _room_for_all(view: ClusterView, pods: Sequence[Pod], kinds: Kinds, places: Mapping[int, frozenset[str]], asking: Set[int]) -> bool:
    """Whether each node has room for all of these pods that may run on it, at once. Pods that are alike are counted, not looked at."""
    alike: dict[Hashable, list[Pod]] = {}
    for pod in pods:
        alike.setdefault((kinds.signatures[id(pod)], id(places[id(pod)])), []).append(pod)
    by_node: dict[str, list[Sequence[Pod]]] = {}
    for own in alike.values():
        for name in places[id(own[0])]:
            by_node.setdefault(name, []).append(own)
    return all(_has_room(view, view.get(Node, name), on, asking) for name, on in by_node.items())


def _has_room(view: ClusterView, node: Node | None, alike: Sequence[Sequence[Pod]], asking: Set[int]) -> bool:
    """`alike`: the pods, in groups of such as ask the same."""
    count = sum(map(len, alike))
    if count < 2:
        return True
    first = [own[0] for own in alike]
    if node is None or any(pod.volumes or node_ports.host_ports(pod) for pod in first):
        return False
    if sum(len(own) for own in alike if id(own[0]) in asking) > 1:
        return False
    info = node_info(view, node)
    asked: dict[str, int | float] = {"pods": count}
    for own in alike:
        for name, amount in effective_requests(own[0]).items():
            asked[name] = asked.get(name, 0) + amount.value * len(own)  # type: ignore[operator]
    there = {"pods": len(info.pods), **info.requested}
    room = {name: amount.value for name, amount in info.allocatable.items()}
    return all(there.get(name, 0) + more <= room.get(name, 0) for name, more in asked.items() if more)  # type: ignore[operator]
