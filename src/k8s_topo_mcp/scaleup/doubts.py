"""Pods of which it isn't known whether a node takes them, and the queue as it goes if each of these nodes does.

Such a pod may take room that others get without it, or bring its group to its minimum. So the queue is played more than once: these nodes
refuse these pods, or some take some of them, in every combination where these are few. What is the same each time is known. Where they are
many, only what none of these pods can touch is (`untouched.py`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..dra.outcome import Unknown
from ..objects import NO_AFFINITY, Node, Pod
from ..objects.container import Container
from ..scheduling.kinds_of_pods import Kinds
from ..scheduling.node_info import effective_requests
from ..scheduling.placement import Placement, place
from ..scheduling.placing import Known
from ..scheduling.pod_signature import relates, signature
from ..view import Replace
from .new_nodes import NewNodes
from .on_new_nodes import OnNewNode
from .play import Play
from .queue import Entry
from .replay import MOST_PLAYED, Plays, play_all

MOST_CASES, MOST_OF_A_FEW = 8, 64
"""So many combinations of such pods and nodes are played of any queue, and so many of a small one: as long as in all plays of all of them
no more pods are placed than in the ways through ties (`replay.MOST_PLAYED`)."""
PLAYS_OF_A_CASE = 2
"""Of one combination so many are played at most, each in all its ways (see `_World.with_fallback`)."""

Taken = Mapping[int, frozenset[str]]
"""id of a pod -> nodes of which it isn't known that are to take it, on one of them"""


@dataclass(frozen=True, slots=True, eq=False)
class Doubts:
    """By id of a pod: `whys` it isn't known whether some node takes it, and `nodes`, the names of these;
    `devices`: of those the ones of which it may get some devices. `undecided` are the pods that no node takes for certain; `unjudged`
    those whose group isn't known to be one, so that they weren't tried on any node; `open_to` of these the new nodes that may take them."""

    whys: Mapping[int, str]
    nodes: Mapping[int, frozenset[str]]
    devices: Mapping[int, frozenset[str]]
    undecided: frozenset[int]
    unjudged: frozenset[int]
    open_to: Mapping[int, frozenset[str]]

    def elsewhere(self, entry: Entry, entries: Sequence[Entry]) -> Pod | None:
        """The first pod in the queue of another entry than this one of which it isn't known."""
        return next((pod for other in entries if other is not entry for pod in other.pods if id(pod) in self.whys), None)

    def before(self, pod: Pod, node: str, entries: Sequence[Entry]) -> str:
        """Why it isn't known which of the node's devices are left for a pod, as one before it in the queue may have got some; "" if it
        is."""
        for other in (other for entry in entries for other in entry.pods):
            if other is pod:
                break
            if node in self.devices.get(id(other), ()):
                return self.whys[id(other)]
        return ""


def doubts_of(
    entries: Sequence[Entry], new: NewNodes, on_new: Mapping[int, Sequence[OnNewNode]], there: Callable[[Pod], Placement]
) -> Doubts:
    """`on_new`: each pod on one empty node of each template; `there`: on the nodes there are."""
    whys: dict[int, str] = {}
    nodes: dict[int, frozenset[str]] = {}
    devices: dict[int, frozenset[str]] = {}
    undecided: set[int] = set()
    unjudged: set[int] = set()
    open_to: dict[int, frozenset[str]] = {}
    by_template = [frozenset(node.name for node in new.of(number)) for number in range(len(new.templates))]
    for entry in entries:
        what = entry.held.text("what") if entry.held is not None and entry.held.status == "unknown" else ""
        for pod in entry.pods:
            if entry.held is not None:
                if what:
                    whys[id(pod)] = what
                    unjudged.add(id(pod))
                    takes = (by_template[number] for number, own in enumerate(on_new[id(pod)]) if own.verdict != "refused")
                    open_to[id(pod)] = frozenset[str]().union(*takes)
                continue
            on, placement = on_new[id(pod)], there(pod)
            dark = frozenset(found.node.name for found in placement.opened if isinstance(found.outcome, Unknown))
            dark = dark.union(*(by_template[number] for number, own in enumerate(on) if own.verdict == "unknown" and _no_verdict(own)))
            doubtful = dark.union(*(by_template[number] for number, own in enumerate(on) if own.verdict == "unknown"))
            if doubtful:
                devices[id(pod)] = dark
                whys[id(pod)] = next((own.why for own in on if own.verdict == "unknown"), "") or placement.unknown
                nodes[id(pod)] = doubtful
                if not placement.fitting and not any(own.verdict == "fits" for own in on):
                    undecided.add(id(pod))
    return Doubts(whys, nodes, devices, frozenset(undecided) | unjudged, frozenset(unjudged), open_to)


def _no_verdict(on: OnNewNode) -> bool:
    """Whether the allocator has no verdict on the node's devices, though these are known."""
    return on.template.devices_known and isinstance(on.node.outcome, Unknown)


def refused_there(known: Known, pods: Sequence[Pod], kinds: Kinds, new: NewNodes, doubts: Doubts) -> Known:
    """Where each kind of pod may run if a new node of which that isn't known refuses it."""
    found = dict(known)
    for pod in pods:
        doubtful = doubts.nodes.get(id(pod), frozenset[str]()) & new.origins.keys()
        if doubtful:
            placement = known[kinds.signatures[id(pod)]]
            nodes = {name: entry for name, entry in placement.nodes.items() if name not in doubtful}
            found[kinds.signatures[id(pod)]] = replace(placement, nodes=nodes)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Hopes:
    """`plays`: the queue where nodes of which it isn't known take some of the pods. `all_played`: with the one where they take none these
    are all that may come. `bound`: in none more of the pods get a node than in these. `ways`: of some of them no more ways through the ties
    than that were played, though there are others; None where all were."""

    plays: tuple[Play, ...]
    all_played: bool
    bound: bool
    ways: int | None = None


def hopes(new: NewNodes, entries: Sequence[Entry], kinds: Kinds, known: Known, doubts: Doubts, ways: int) -> Hopes:
    """
    The queue if nodes of which it isn't known take pods.

    Each of the pods goes to none of them or to one, as long as that has room: every combination is played where these are few, as of one
    node nothing follows for another (each may have another value of a label), nor of one pod for another. Where they are many, one play is
    that all these nodes take all of the pods. Of each the way on which the fewest get a node.
    """
    if not doubts.whys:
        return Hopes((), True, True)
    pods = [pod for entry in entries for pod in entry.pods]
    choices = [[(id(pod), name) for name in (None, *sorted(doubts.nodes[id(pod)]))] for pod in pods if id(pod) in doubts.nodes]
    world = _World(new, {node.name: node for node in new.view.all(Node)}, entries, kinds, known, doubts, ways)
    affordable = MOST_PLAYED // (len(pods) * PLAYS_OF_A_CASE * ways)
    if not doubts.unjudged and math.prod(map(len, choices)) <= max(MOST_CASES, min(MOST_OF_A_FEW, affordable)):
        cases = [{number: frozenset({name}) for number, name in case if name is not None} for case in itertools.product(*choices)]
        plays = [(case, world.with_fallback(case)) for case in cases if case]
        asks = {id(pod): signature(new.view, replace(pod, priority=0)) for pod in pods if id(pod) in doubts.nodes and not relates(pod)}
        told = [found for case, found in plays if _may_be(found.worst, case, entries, asks)]
        return Hopes(tuple(found.worst for found in told), True, True, _fewest_ways(told))
    every = world.with_fallback(doubts.nodes)
    return Hopes((every.worst,), False, every.worst.independent, _fewest_ways((every,)))


def _fewest_ways(played: Iterable[Plays]) -> int | None:
    """Of how many of several ways through the least was played; None where of each all were."""
    return min((found.ways for found in played if not found.all_ways), default=None)


def _may_be(play: Play, case: Taken, entries: Sequence[Entry], asks: Mapping[int, Hashable]) -> bool:
    """Whether no pod was left out although one that asks the same and comes later got one of these nodes: that one takes both or none, and
    nothing was freed in between."""
    nodes = {pod.key: node for pod, node in play.placed}
    left: set[tuple[int | None, Hashable]] = set()
    for number, entry in enumerate(entries):
        for pod in (pod for pod in entry.pods if id(pod) in asks):
            like = (number if entry.gang is not None else None), asks[id(pod)]
            node = nodes.get(pod.key)
            if node is None:
                left.add(like)
            elif like in left and node in case.get(id(pod), ()):
                return False
    return True


@dataclass(frozen=True, slots=True, eq=False)
class _World:
    """What is the same in all plays: the new nodes, `nodes` with them by name, the queue, where each kind of pod may run for certain."""

    new: NewNodes
    nodes: Mapping[str, Node]
    entries: Sequence[Entry]
    kinds: Kinds
    known: Known
    doubts: Doubts
    ways: int

    def with_fallback(self, taken: Taken) -> Plays:
        """Pods for which there is no room on these nodes, and that others take for certain, go there."""
        first = self.play(taken)
        placed = {pod.key for pod, _ in first.worst.placed}
        pods = [pod for entry in self.entries for pod in entry.pods]
        left = {id(pod) for pod in pods if id(pod) in taken.keys() - self.doubts.undecided and pod.key not in placed}
        if not left:
            return first
        second = self.play({number: names for number, names in taken.items() if number not in left})
        return second if first.all_ways else replace(second, ways=min(first.ways, second.ways), all_ways=False)

    def play(self, taken: Taken) -> Plays:
        """The ways through where these nodes take these pods."""
        stand_ins: dict[int, Pod] = {}
        for entry in self.entries:
            for pod in entry.pods:
                if id(pod) in taken:
                    stand_ins[id(pod)] = _taken_anyway(pod, [self.nodes[name] for name in taken[id(pod)]])
        view = self.new.view.with_edits(*map(Replace, stand_ins.values()))
        others = [pod for entry in self.entries for pod in entry.pods if id(pod) not in stand_ins]
        found = Kinds.of(view, [*others, *stand_ins.values()])
        signatures, before = dict(found.signatures), self.kinds.signatures
        there: Known = {signatures[id(pod)]: self.known[before[id(pod)]] for pod in others if before[id(pod)] in self.known}
        for number, pod in stand_ins.items():
            only = taken[number]
            own = signatures[id(pod)] = "taken anyway", only, signatures[id(pod)]
            if own not in there:
                there[own] = place(view, pod, tuple(node for name, node in self.nodes.items() if name in only))
        numbers: dict[object, int] = {}
        again = {number: numbers.setdefault((own, found.numbers[number]), len(numbers)) for number, own in signatures.items()}
        return play_all(
            view,
            [part for entry in self.entries for part in _hopeful(entry, stand_ins, self.new, self.doubts)],
            replace(found, signatures=signatures, numbers=again),
            there,
            self.new.origins,
            self.ways,
        )


def _hopeful(entry: Entry, stand_ins: Mapping[int, Pod], new: NewNodes, doubts: Doubts) -> Sequence[Entry]:
    """The entry as it comes up then. Of a group in one domain that isn't known it is taken that there is one."""
    if any(id(pod) in doubts.unjudged for pod in entry.pods):
        return [Entry((pod,)) for pod in entry.pods]
    pods = tuple(stand_ins.get(id(pod), pod) for pod in entry.pods)
    gang = entry.gang
    unpredictable = frozenset[str]().union(*(template.unpredictable for template in new.templates))
    if gang is not None and gang.topology_key in unpredictable and any(id(pod) in stand_ins for pod in entry.pods):
        gang = replace(gang, topology_key="")
    return [replace(entry, pods=pods, gang=gang)]


def _taken_anyway(pod: Pod, nodes: Sequence[Node]) -> Pod:
    """The pod with nothing but the room that it takes on these nodes: all else that it asks is taken to be met."""
    room = {name: amount for name, amount in effective_requests(pod).items() if all(name in node.allocatable for node in nodes)}
    ports = tuple(port for container in (*pod.containers, *pod.init_containers) for port in container.ports)
    return replace(
        pod,
        containers=(Container("all", requests=room, ports=ports),),
        init_containers=(),
        overhead={},
        resources=None,
        resource_claims=(),
        resource_claim_statuses={},
        extended_resource_claim=None,
        node_allocatable_claims=(),
        node_selector={},
        affinity=NO_AFFINITY,
        topology_spread=(),
        volumes=(),
        nominated_node_name="",
    )
