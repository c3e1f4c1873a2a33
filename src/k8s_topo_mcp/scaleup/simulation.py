"""What pods that wait would do if certain nodes were there: which start, and where, what refuses the others, and what is left over.

A what-if is a view with the nodes, their devices and their daemons added, judged by the same filters, allocator and scores as real nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..findings import Finding
from ..objects import Node, Pod
from ..scheduling.gang_scheduling import Gang
from ..scheduling.kinds_of_pods import Kinds
from ..scheduling.placement import Placement
from ..scheduling.placing import Known
from ..view import ClusterView
from .left_over import LeftOver, classes_asked, left_over
from .new_nodes import NewNodes, with_nodes
from .node_counts import MOST_NODES, NodeCounts, first_looks, looks_with, node_counts
from .on_new_nodes import OnNewNode, on_new_node, undecided
from .queue import Entry, queue_of
from .replay import Play, Plays, play_all, ways_for
from .template import NodeTemplate

Verdict = Literal["starts now", "starts", "refused", "no room", "waits for its group", "held", "unknown"]
"""starts now: also without the new nodes. refused: no new node takes it, even an empty one. no room: one would, but others were first.
waits for its group: the members that fit are too few. held: it doesn't come up for scheduling at all."""


@dataclass(frozen=True, slots=True, eq=False)
class PodOutcome:
    """`node`: where it starts, `on_new` if that is a new one. `on_new_nodes`: the pod on one empty node of each template. `last`: its
    placement when it was refused last, on all nodes. `held`: what keeps it from coming up. `why` it isn't known."""

    pod: Pod
    verdict: Verdict
    node: str = ""
    on_new: bool = False
    on_new_nodes: tuple[OnNewNode, ...] = ()
    last: Placement | None = None
    held: Finding | None = None
    why: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class GangOutcome:
    """Of `pods` so many are placed `now`, without new nodes, and `then`, with them; it starts if those with a node already and these are at
    least the minimum. `fit`: so many found a place at once, with the new nodes, also if it doesn't start."""

    gang: Gang
    pods: tuple[Pod, ...]
    now: int
    then: int
    fit: int

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
    unsure = undecided(entries, on_new, lambda pod: bool(looks[kinds.signatures[id(pod)]].fitting))
    after = before
    if additions:
        decided = [pod for pod in pods if id(pod) not in unsure]
        known = _without_unknown(looks_with(new, view, decided, kinds), on_new, kinds, decided, new)
        after = play_all(new.view, [entry for entry in entries if id(entry.pods[0]) not in unsure], kinds, known, new.origins, ways)
    gangs = tuple(_gang(entry, entry.gang, before.worst, after.worst) for entry in entries if entry.gang is not None)
    told = {gang.gang.name: gang for gang in gangs}
    outcomes = tuple(
        _outcome(pod, entry, before.worst, after.worst, new, on_new[id(pod)], unsure.get(id(pod), ""), told)
        for entry in entries
        for pod in entry.pods
    )
    outcomes = tuple(_with_its_group(outcome, entries, outcomes) for outcome in outcomes)
    places = {id(pod): number for number, pod in enumerate(pods)}
    outcomes = tuple(sorted(outcomes, key=lambda outcome: places[id(outcome.pod)]))
    end = new.view.with_edits(*after.worst.edits)
    classes = classes_asked(view, pods)
    left = tuple(
        left_over(end, [end.get(type(node), node.name) or node for node in new.of(number)], len(template.daemons), classes)
        for number, (template, _) in enumerate(additions)
    )
    assumptions = (*_assumptions(view, pods), *_unplayed(after))
    return Simulation(view, pods, additions, new, before, after, outcomes, gangs, left, assumptions)


def _unplayed(plays: Plays) -> tuple[str, ...]:
    """That luck may have it otherwise than was played."""
    if plays.all_ways:
        return ()
    return (f"the scheduler takes one of several nodes at random, again and again: {plays.ways} ways through that were played, not all",)


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


def _without_unknown(known: Known, on_new: dict[int, tuple[OnNewNode, ...]], kinds: Kinds, pods: Sequence[Pod], new: NewNodes) -> Known:
    """A node that isn't known to take a pod isn't given to it."""
    found = dict(known)
    for pod in pods:
        doubtful = {number for number, entry in enumerate(on_new[id(pod)]) if entry.verdict == "unknown"}
        if doubtful:
            placement = known[kinds.signatures[id(pod)]]
            nodes = {name: entry for name, entry in placement.nodes.items() if new.origins.get(name) not in doubtful}
            found[kinds.signatures[id(pod)]] = replace(placement, nodes=nodes)
    return found


def _gang(entry: Entry, gang: Gang, before: Play, after: Play) -> GangOutcome:
    def placed(play: Play) -> int:
        keys = {pod.key for pod, _ in play.placed}
        return sum(pod.key in keys for pod in entry.pods)

    then, partial = placed(after), after.partial.get(gang.name)
    fit = then or (partial.fit if partial is not None else 0)
    return GangOutcome(gang, entry.pods, placed(before), then, fit)


def _outcome(
    pod: Pod,
    entry: Entry,
    before: Play,
    after: Play,
    new: NewNodes,
    on_new: tuple[OnNewNode, ...],
    unsure: str,
    gangs: dict[str, GangOutcome],
) -> PodOutcome:
    nodes = {other.key: node for other, node in after.placed}
    node = nodes.get(pod.key, "")
    if node:
        earlier = any(other.key == pod.key for other, _ in before.placed)
        return PodOutcome(pod, "starts now" if earlier else "starts", node, node in new.origins, on_new)
    if entry.held is not None:
        return PodOutcome(pod, "held", on_new_nodes=on_new, held=entry.held)
    last = next((placement for other, placement in (*after.left, *before.left) if other.key == pod.key), None)
    if unsure or after.unknown:
        return PodOutcome(pod, "unknown", on_new_nodes=on_new, last=last, why=unsure or after.unknown)
    not_modelled = last.unknown if last is not None and not last.fitting else ""
    if not_modelled:
        return PodOutcome(pod, "unknown", on_new_nodes=on_new, last=last, why=not_modelled)
    takes = any(on.verdict == "fits" for on in on_new)
    doubt = next((on.why for on in on_new if on.verdict == "unknown"), "")
    if doubt:
        return PodOutcome(pod, "unknown", on_new_nodes=on_new, last=last, why=doubt)
    if entry.gang is not None and not gangs[entry.gang.name].starts and (takes or (last is not None and last.fitting)):
        return PodOutcome(pod, "waits for its group", on_new_nodes=on_new, last=last)
    return PodOutcome(pod, "no room" if takes else "refused", on_new_nodes=on_new, last=last)


def _with_its_group(outcome: PodOutcome, entries: Sequence[Entry], outcomes: Sequence[PodOutcome]) -> PodOutcome:
    """Of a member without a node nothing is known for certain while that isn't known of another one."""
    entry = next(entry for entry in entries if any(pod is outcome.pod for pod in entry.pods))
    if entry.gang is None or outcome.verdict in ("starts now", "starts", "held", "unknown"):
        return outcome
    own = {id(pod) for pod in entry.pods}
    doubtful = next((other for other in outcomes if id(other.pod) in own and other.verdict == "unknown"), None)
    return outcome if doubtful is None else replace(outcome, verdict="unknown", why=doubtful.why)


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
