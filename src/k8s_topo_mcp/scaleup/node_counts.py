"""How many new nodes of one template it takes, in two numbers: the fewest for which there is any way to place the pods, and the fewest for
which the scheduler, with its order and its scores, places all of them.

They differ because the scheduler decides pod by pod: it spreads small pods over nodes of which a later one needs a whole one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ..objects import Node, Pod
from ..scheduling.kinds_of_pods import Kinds
from ..scheduling.placement import place
from ..scheduling.placing import Known, still_known
from ..scheduling.pod_signature import signature
from ..view import ClusterView
from .left_over import LeftOver, left_over
from .new_nodes import NewNodes, with_nodes
from .on_new_nodes import doubtful_on
from .packing import Answer, Packing
from .play import Play
from .queue import Entry, queue_of
from .replay import Plays, play_all, ways_for
from .template import NodeTemplate

MOST_NODES = 64
"""More new nodes than that aren't tried."""
STEP_BY_STEP = 8
"""So many numbers of nodes are played one by one; beyond, those that would do if each new node took as many pods as the fullest did."""


@dataclass(frozen=True, slots=True, eq=False)
class NodeCounts:
    """`least`: with fewer new nodes the pods can't all be placed, in whatever way; `exact`: with so many they can (else more may be
    needed). None: no number of nodes is enough, as `nowhere` are pods that no such node takes.

    `scheduler`: with so many the scheduler's own way places all; None: not with up to `tried`, or `unknown` says why that isn't known.
    `tie`: on the way it may be chance which node it takes or when it tries a pod again; `ways` through that were played, all of them if
    `all_ways`; with `scheduler` nodes each of these placed every pod, else they are of the last number tried. `fewest`: no smaller number
    was left out. `undecided`: pods of which it isn't known whether a new node takes them: then only `least` is told, of the others. `new`
    and `play`: the cluster with `scheduler` nodes, and the way through on which the fewest pods get one.
    """

    template: NodeTemplate
    least: int | None
    exact: bool
    scheduler: int | None
    tie: bool
    ways: int
    all_ways: bool
    fewest: bool
    tried: int
    nowhere: tuple[Pod, ...] = ()
    undecided: tuple[tuple[Pod, str], ...] = ()
    unknown: str = ""
    new: NewNodes | None = None
    play: Play | None = None

    def left_over(self, classes: Iterable[str]) -> LeftOver | None:
        """What the nodes still have with the pods on them; None if no number of nodes, or no node, is needed."""
        if self.new is None or self.play is None or not self.scheduler:
            return None
        end = self.new.view.with_edits(*self.play.edits)
        nodes = [end.get(Node, node.name) or node for node in self.new.of(0)]
        return left_over(end, nodes, len(self.template.daemons), classes)


class Played(NamedTuple):
    """What came of so many new nodes."""

    new: NewNodes
    plays: Plays


class Counting:
    """One question: these pods, this template. What is known of each kind of pod is kept for all numbers of nodes."""

    def __init__(self, view: ClusterView, pods: Sequence[Pod], template: NodeTemplate, most: int = MOST_NODES) -> None:
        self.view = view
        self.pods = tuple(view.current(pod) or pod for pod in pods)
        self.template = template
        self.most = max(1, min(most, len(self.pods)))
        self.entries: tuple[Entry, ...] = queue_of(view, self.pods)
        self.kinds = Kinds.of(view, self.pods)
        self._all = with_nodes(view, ((template, self.most),))
        self.known = looks_with(self._all, view, self.pods, self.kinds)
        self._played: dict[int, Played] = {}

    def known_with(self, new: NewNodes) -> Known:
        """Where each kind of pod may run with so many nodes."""
        there = {node.name for node in new.view.all(Node)}
        looking = {self.kinds.signatures[id(pod)] for pod in self.pods if id(pod) in self.kinds.looking}
        known: Known = {}
        for among, placement in self.known.items():
            if among not in looking:  # over these it decides how many nodes there are
                nodes = {name: entry for name, entry in placement.nodes.items() if name in there}
                known[among] = replace(placement, nodes=nodes)
        return known

    def play(self, count: int) -> Played:
        """The cluster with so many new nodes, and the scheduler's ways with them, up to the first on which a pod gets none."""
        if count not in self._played:
            new = with_nodes(self.view, ((self.template, count),)) if count < self.most else self._all
            most = ways_for(len(self.pods))
            plays = play_all(new.view, self.entries, self.kinds, self.known_with(new), new.origins, most, while_complete=True)
            self._played[count] = Played(new, plays)
        return self._played[count]

    def packing(self) -> Packing:
        return Packing.of(self._all.view, self.pods, self.kinds, self.known, tuple(self._all.origins))


def node_counts(view: ClusterView, pods: Sequence[Pod], template: NodeTemplate, most: int = MOST_NODES) -> NodeCounts:
    """Both numbers, up to `most` nodes."""
    doubtful = doubtful_on(view, pods, template)
    if doubtful:
        left = [pod for pod in pods if id(pod) not in {id(other) for other, _ in doubtful}]
        found = node_counts(view, left, template, most)
        return replace(found, exact=False, scheduler=None, undecided=doubtful, unknown=doubtful[0][1])
    if not pods:
        return NodeCounts(template, 0, True, 0, False, 1, True, True, 0)
    nowhere = Counting(view, pods, template, 1).packing().nowhere
    if nowhere:
        return NodeCounts(template, None, True, None, False, 0, True, True, 0, nowhere)
    counting = Counting(view, pods, template, most)
    least, exact = _least(counting)
    if least > counting.most == len(counting.pods):  # a node for each isn't enough
        return NodeCounts(template, None, True, None, False, 0, True, True, 0)
    fewest, tried, plays, count = True, 0, None, least
    while count <= counting.most:
        tried = count
        new, plays = counting.play(count)
        exact = exact or (plays.first.complete and least == count)  # what the scheduler does is a way
        if plays.worst.complete:
            ways = (plays.tie, plays.ways, plays.all_ways)
            return NodeCounts(template, least, exact, count, *ways, fewest, tried, new=new, play=plays.worst)
        if plays.worst.unknown or count == counting.most:
            break
        step = 1 if count - least < STEP_BY_STEP else nodes_for_the_rest(plays.worst, new)
        fewest = fewest and step == 1
        count = min(count + step, counting.most)
    unknown = plays.worst.unknown if plays is not None else ""
    if not unknown and counting.most < len(counting.pods):
        unknown = f"more than {counting.most} new nodes aren't tried"
    if plays is None:
        return NodeCounts(template, least, exact, None, False, 0, False, False, 0, unknown=unknown)
    return NodeCounts(template, least, exact, None, plays.tie, plays.ways, plays.all_ways, fewest, tried, unknown=unknown)


def _least(counting: Counting) -> tuple[int, bool]:
    """The smallest number of nodes that isn't proven to be too small, and whether it is proven to be enough: what the scheduler does is a
    way, and any other is searched for. A way with some nodes is one with more, so that what is too small can be halved."""
    packing = counting.packing()
    low, high = packing.at_least(), counting.most + 1
    if low < high and counting.play(low).plays.first.complete:
        return low, True
    answers: dict[int, Answer] = {}
    while low < high:
        middle = low if not answers else (low + high) // 2
        answers[middle] = packing.search(middle)
        if answers[middle] == "no":
            low = middle + 1
        else:
            high = middle
    return low, answers.get(low) == "yes"


def nodes_for_the_rest(play: Play, new: NewNodes) -> int:
    """So many nodes more the pods that were left would fill like the fullest of these."""
    fullest = max(Counter(node for _, node in play.placed if node in new.origins).values(), default=1)
    return max(1, len(play.left) // fullest)


def first_looks(view: ClusterView, pods: Sequence[Pod], kinds: Kinds) -> Known:
    """Where each kind of pod may run as long as nothing was placed; kept for the view."""
    kept = view.memo("first looks", Known)
    found: Known = {}
    for pod in pods:
        among = kinds.signatures[id(pod)]
        if among not in found:
            own = signature(view, pod)
            if own not in kept:
                kept[own] = place(view, pod)
            found[among] = kept[own]
    return found


def looks_with(new: NewNodes, view: ClusterView, pods: Sequence[Pod], kinds: Kinds) -> Known:
    """The same with the new nodes: to pods that don't look at others only these are new."""
    apart = [pod for pod in pods if id(pod) not in kinds.looking]
    looking = [pod for pod in pods if id(pod) in kinds.looking]
    nodes = tuple(node for name in new.origins if (node := new.view.get(Node, name)) is not None)
    return still_known(new.view, first_looks(view, apart, kinds), nodes) | first_looks(new.view, looking, kinds)


MOST_ON_ONE = 16
"""Pods that are tried together on one node, where only that is asked."""


def at_least(view: ClusterView, pods: Sequence[Pod], template: NodeTemplate) -> int:
    """So many nodes pods of one kind need at least, were all of them to run on new ones: by how many one node takes together. 1 where it
    takes more than are tried, or the pods aren't of one kind."""
    packing = Counting(view, pods[: MOST_ON_ONE + 1], template, 1).packing()
    if packing.nowhere or len(packing.kinds) != 1:
        return 1
    each = packing.most_on(packing.new[0], 0)
    return 1 if each > MOST_ON_ONE else -(-len(pods) // each)
