"""What pods that wait would do if certain nodes were there: which start, and where, what refuses the others, and what is left over.

A what-if is a view with the nodes, their devices and their daemons added, judged by the same filters, allocator and scores as real nodes.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

from ..objects import Node, Pod
from ..scheduling.gang_scheduling import Gang
from ..scheduling.kinds_of_pods import Kinds
from ..view import ClusterView
from .doubts import Hopes, doubts_of, hopes, refused_there
from .left_over import LeftOver, classes_asked, left_over
from .new_nodes import NewNodes, with_nodes
from .node_counts import MOST_NODES, NodeCounts, first_looks, looks_with, node_counts
from .on_new_nodes import OnNewNode, on_new_node
from .play import Play
from .queue import Entry, queue_of
from .replay import Plays, play_all, ways_for
from .template import NodeTemplate
from .untouched import untouched
from .verdicts import Judge, PodOutcome

CHANCE = "it may be chance which of several nodes the scheduler takes, or when it tries a pod again"


@dataclass(frozen=True, slots=True, eq=False)
class GangOutcome:
    """Of `pods` so many are placed `now`, without new nodes, and for certain `then`, with them; it starts if those with a node already and
    these are at least the minimum. `fit`: so many found a place at once, with the new nodes, also if it doesn't start; None where pods of
    which it isn't known whether a node takes them decide over that."""

    gang: Gang
    pods: tuple[Pod, ...]
    now: int
    then: int
    fit: int | None

    @property
    def starts(self) -> bool:
        return self.then > 0 and len(self.gang.bound) + self.then >= self.gang.min_count


@dataclass(frozen=True, slots=True, eq=False)
class Simulation:
    """`base` is the cluster as it is, `new` with the new nodes. `before` and `after`: the queue played without and with them; `outcomes`
    are of the way through ties on which the fewest pods start. `left_over`: of each template's nodes after that."""

    base: ClusterView
    pods: tuple[Pod, ...]
    additions: tuple[tuple[NodeTemplate, int], ...]
    new: NewNodes
    before: Plays
    after: Plays
    outcomes: tuple[PodOutcome, ...]
    gangs: tuple[GangOutcome, ...]
    left_over: tuple[LeftOver, ...]
    assumptions: tuple[str, ...]

    @property
    def starting(self) -> tuple[PodOutcome, ...]:
        return tuple(outcome for outcome in self.outcomes if outcome.verdict in ("starts now", "starts"))

    @property
    def all_start(self) -> bool:
        return len(self.starting) == len(self.outcomes)

    @property
    def helps(self) -> bool:
        """Whether a pod starts that doesn't without them."""
        return any(outcome.verdict == "starts" for outcome in self.outcomes)

    def end(self, gang: str = "") -> ClusterView:
        """The cluster with the new nodes once the queue was played; with the members of a group that doesn't start where they fitted."""
        play = self.after.worst
        partial = play.partial.get(gang)
        return self.new.view.with_edits(*(play.edits if partial is None else partial.edits))

    def counts(self, most: int = MOST_NODES) -> tuple[NodeCounts, ...]:
        """How many nodes it would take, of each template by itself."""
        templates = dict.fromkeys(template for template, _ in self.additions)
        return tuple(node_counts(self.base, self.pods, template, most) for template in templates)


def simulate(view: ClusterView, pods: Sequence[Pod], additions: Sequence[tuple[NodeTemplate, int]]) -> Simulation:
    """Play the queue of these pods without the new nodes, then with them.

    Parameters
    ----------
    view
        The cluster; the pods are in it, with their claims.
    pods
        Pods that wait. Members of a group of which others wait too are simulated as a group of these.
    additions
        Templates, each with how many nodes of it are added; 0 of one adds none.
    """
    pods = tuple(view.current(pod) or pod for pod in pods)
    additions = tuple((template, count) for template, count in additions if count > 0)
    entries, kinds = queue_of(view, pods), Kinds.of(view, pods)
    ways = ways_for(len(pods))
    looks = first_looks(view, pods, kinds)
    before = play_all(view, entries, kinds, looks, {}, max(1, ways // 4) if additions else ways)
    new = with_nodes(view, additions)
    on_new = _on_new_nodes(new, pods, kinds)
    asking = {id(pod) for pod in pods if looks[kinds.signatures[id(pod)]].devices.problem is not None}
    doubts = doubts_of(entries, new, on_new, lambda pod: looks[kinds.signatures[id(pod)]])
    known, after = looks, before
    if additions:
        known = refused_there(looks_with(new, view, pods, kinds), pods, kinds, new, doubts)
        after = play_all(new.view, entries, kinds, known, new.origins, ways)
    hopeful = hopes(new, entries, kinds, known, doubts, max(1, ways // 4))
    same = frozenset[int]() if hopeful.all_played else untouched(new.view, entries, kinds, known, doubts, asking)
    judge = Judge(entries, new, before.worst, after.worst, hopeful, doubts, on_new, asking, same)
    outcomes = tuple(outcome for entry in entries for outcome in judge.entry(entry))
    gangs = tuple(
        _gang(entry, entry.gang, before.worst, after.worst, hopeful, same, outcomes) for entry in entries if entry.gang is not None
    )
    places = {id(pod): number for number, pod in enumerate(pods)}
    outcomes = tuple(sorted(outcomes, key=lambda outcome: places[id(outcome.pod)]))
    end = new.view.with_edits(*after.worst.edits)
    classes = classes_asked(view, pods)
    left = tuple(
        left_over(end, [end.get(type(node), node.name) or node for node in new.of(number)], len(template.daemons), classes)
        for number, (template, _) in enumerate(additions)
    )
    assumptions = (*_assumptions(view, pods), *(_unplayed(after) or _unplayed_in_doubt(hopeful)))
    return Simulation(view, pods, additions, new, before, after, outcomes, gangs, left, assumptions)


def _unplayed(plays: Plays) -> tuple[str, ...]:
    """That luck may have it otherwise than was played."""
    if plays.all_ways:
        return ()
    return (f"{CHANCE}; ways through that were played: {plays.ways}, not all",)


def _unplayed_in_doubt(hopeful: Hopes) -> tuple[str, ...]:
    """The same of the plays where nodes take pods of which that isn't known."""
    if hopeful.ways is None:
        return ()
    return (f"{CHANCE}; ways through that were played once pods of which it isn't known have a node: {hopeful.ways}, not all",)


def _on_new_nodes(new: NewNodes, pods: Sequence[Pod], kinds: Kinds) -> dict[int, tuple[OnNewNode, ...]]:
    """Each pod on one empty node of each template; pods of one signature are judged once."""
    known: dict[object, tuple[OnNewNode, ...]] = {}
    found: dict[int, tuple[OnNewNode, ...]] = {}
    for pod in pods:
        signature = kinds.signatures[id(pod)], pod.scheduling_group
        if signature not in known:
            known[signature] = tuple(
                on_new_node(new.view, pod, template, new.of(number)[0]) for number, template in enumerate(new.templates)
            )
        found[id(pod)] = known[signature]
    return found


def _gang(
    entry: Entry, gang: Gang, before: Play, after: Play, hopeful: Hopes, same: Set[int], outcomes: Sequence[PodOutcome]
) -> GangOutcome:
    own = {pod.key for pod in entry.pods}

    def fit(play: Play) -> int:
        partial = play.partial.get(gang.name)
        return sum(pod.key in own for pod, _ in play.placed) or (partial.fit if partial is not None else 0)

    now = sum(pod.key in own for pod, _ in before.placed)
    then = sum(outcome.pod.key in own for outcome in outcomes if outcome.verdict in ("starts now", "starts"))
    all_played = hopeful.all_played or all(id(pod) in same for pod in entry.pods)
    found = {fit(play) for play in (after, *hopeful.plays)}
    return GangOutcome(gang, entry.pods, now, then, found.pop() if all_played and len(found) == 1 else None)


MANY_NODES = 100
"""From so many nodes on the scheduler stops looking once it has found enough that fit (minFeasibleNodesToFind in schedule_one.go)."""


def _assumptions(view: ClusterView, pods: Sequence[Pod]) -> tuple[str, ...]:
    """What the simulation takes for granted."""
    found = ["images that nodes have already don't count in the scheduler's choice of a node"]
    if view.count(Node) >= MANY_NODES:
        found.append("the scheduler looks at all nodes (in large clusters it stops when it has found enough that fit)")
    if any(pod.priority for pod in pods):
        found.append("no running pod is evicted for these")
    if any(pod.scheduling_gates for pod in pods):
        found.append("scheduling gates are lifted")
    if len({pod.metadata.created for pod in pods}) < len(pods):
        found.append("of pods made in the same second those with lower numbers come first")
    return tuple(found)
