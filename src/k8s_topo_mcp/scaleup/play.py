"""One way through the scheduler's queue: who gets which node, one entry after another, with its scores.

Source: k8s.io/kubernetes pkg/scheduler, ScheduleOne, schedulePod and scheduleOnePodGroup. A group that doesn't start gives everything back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..objects import Node, Pod
from ..scheduling.gang_scheduling import Gang
from ..scheduling.kinds_of_pods import Kinds
from ..scheduling.placement import NodePlacement, Placement
from ..scheduling.places import Places
from ..scheduling.placing import Known, Mark, Placing, lasts
from ..scheduling.pod_group_trial import Attempt, attempt
from ..scheduling.topology_placement import domains
from ..view import ClusterView, Edit, Replace
from .alike import Alike
from .queue import Entry

Again = Literal["after all others", "after all others, the last kind first", "at once"]
"""When refused pods come up again: in the queue's order or kind by kind from the last one on, or as soon as another pod was placed."""
MOST_JUDGED = 200_000
"""So many times a node may be judged in one play. Reached only where every placement touches all nodes of a large cluster."""


@dataclass(frozen=True, slots=True, eq=False)
class Partial:
    """So many members of a group found a place at once, too few; `edits` put them, and what was placed before, into the view."""

    fit: int
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Play:
    """What came of one way through. `placed` pods with their nodes, in order; `left` pods with their placement at their last attempt (None:
    it didn't come up, or its group had ended before). `partial`: what came of the last trial of each group that doesn't start, by its name.
    `choices`: among how many kinds of nodes each tie chose. `edits` put it into the view. `independent`: on every other way as many pods
    get a node, as all are alike and each node takes as many of them in whatever order. `overtaken`: so many kinds of
    pods were refused that may come up again, and others placed after them. `unknown`: why the play ended early."""

    placed: tuple[tuple[Pod, str], ...]
    left: tuple[tuple[Pod, Placement | None], ...]
    partial: Mapping[str, Partial]
    choices: tuple[int, ...]
    edits: tuple[Edit, ...]
    independent: bool = False
    overtaken: int = 0
    unknown: str = ""

    @property
    def complete(self) -> bool:
        """Whether every pod got a node."""
        return not self.left and not self.unknown


class Player:
    """One way through; `path` says which kind of node each tie takes, the first where it ends. `again`: when what was refused comes up
    again."""

    def __init__(
        self,
        view: ClusterView,
        entries: Sequence[Entry],
        kinds: Kinds,
        known: Known,
        alike: Alike,
        path: Sequence[int],
        again: Again = "after all others",
    ) -> None:
        pods = [pod for entry in entries for pod in entry.pods]
        self._view = view
        self._entries = entries
        self._alike = alike
        self._path = path
        self._choices: list[int] = []
        self._trying = False
        self._placing = Placing(view, pods, known=known, kinds=kinds, choose=self._choose)
        self._placed: dict[tuple[str, str], tuple[Pod, str]] = {}
        self._last: dict[tuple[str, str], Placement | None] = {}
        self._partial: dict[str, Partial] = {}
        self._depends = False
        self._nominated = any(pod.nominated_node_name for pod in pods)
        self._may_open: dict[int, bool] = {}
        self._overtaken: set[object] = set()
        self._again: Again = again
        self._unknown = ""

    def run(self) -> Play:
        waiting = list(self._entries)
        # What was refused comes up again when something was placed that may have opened a node.
        again = self._placing.kinds.related or bool(self._placing.kinds.shared) or self._nominated
        while waiting and not self._unknown:
            before = len(self._placed)
            refused: list[Entry] = []
            may_come_up: set[object] = set()
            for entry in waiting:
                there = len(self._placed)
                complete = self._try(entry)
                if len(self._placed) > there:
                    self._overtaken |= may_come_up
                    refused = self._refused_still(refused) if again and self._again == "at once" else refused
                if not complete:
                    refused.append(entry)
                    if again and self._may_come_up(entry):
                        may_come_up.add(self._kind(entry))
                if self._unknown:
                    break
            waiting = self._last_kind_first(refused) if self._again == "after all others, the last kind first" else refused
            self._placing.settled()
            if not again or len(self._placed) == before:
                break
        pods = [pod for entry in self._entries for pod in entry.pods]
        placed = tuple(self._placed.values())
        return Play(
            placed,
            tuple((pod, self._last.get(pod.key)) for pod in pods if pod.key not in self._placed),
            self._partial,
            tuple(self._choices),
            self._placing.edits(placed),
            self._independent(),
            len(self._overtaken),
            self._unknown,
        )

    def _refused_still(self, refused: Sequence[Entry]) -> list[Entry]:
        """Those that are refused again, as long as that places any. Once one pod of a kind is refused the others aren't asked."""
        left, placed_then = list(refused), -1
        while left and len(self._placed) > placed_then and not self._unknown:
            placed_then = len(self._placed)
            refused_now: set[object] = set()
            still: list[Entry] = []
            for entry in left:
                kind = self._kind(entry)
                if kind in refused_now or not self._may_come_up(entry) or not self._try(entry):
                    still.append(entry)
                    refused_now.add(kind)
            left = still
        return left

    def _kind(self, entry: Entry) -> object:
        """Entries of one kind stand in for each other; a group does for none."""
        return entry if entry.gang is not None else self._placing.kinds.of_pod(entry.pods[0])

    def _last_kind_first(self, refused: Sequence[Entry]) -> list[Entry]:
        places = {kind: place for place, kind in enumerate(dict.fromkeys(map(self._kind, refused)))}
        return sorted(refused, key=lambda entry: -places[self._kind(entry)])

    def _may_come_up(self, entry: Entry) -> bool:
        """Whether what is placed may open a node to what was refused. What has refused one pod of a kind for good refuses it always."""
        if entry.held is not None:
            return False
        if entry.gang is not None or self._nominated:
            return True
        kind = self._placing.kinds.of_pod(entry.pods[0])
        if kind not in self._may_open:
            placement = self._last.get(entry.pods[0].key)
            self._may_open[kind] = placement is None or not (placement.pod_wide or all(map(lasts, placement.nodes.values())))
        return self._may_open[kind]

    def _independent(self) -> bool:
        decided_elsewhere = any(entry.gang is not None and entry.gang.topology_key for entry in self._entries)
        return self._placing.one_kind and not (self._depends or self._placing.order_matters or decided_elsewhere or self._unknown)

    def _try(self, entry: Entry) -> bool:
        """Whether all of the entry has a node now."""
        if entry.held is not None:
            return False
        if self._placing.judged > MOST_JUDGED:
            self._unknown = "too many nodes have to be judged again for each pod"
            return False
        if entry.gang is not None:
            return self._group(entry, entry.gang)
        (pod,) = entry.pods
        places = self._placing.places(pod)
        here = None if places.ends or self._placing.waits_for_a_claim(pod) else self._choose(pod, places)
        if here is None:
            self._last[pod.key] = places.as_placement(pod)
            return False
        self._placing.take(pod, here, places.placement)
        self._placed[pod.key] = pod, here.node.name
        return True

    def _group(self, entry: Entry, gang: Gang) -> bool:
        waiting = [pod for pod in entry.pods if pod.key not in self._placed]
        nodes = {pod.key: node for pod, node in self._placed.values()}
        now = replace(gang, members=tuple(replace(pod, node_name=nodes[pod.key]) if pod.key in nodes else pod for pod in gang.members))
        mark = self._placing.mark()
        made = self._in_domains(now, waiting, mark) if gang.topology_key else attempt(self._placing, now, waiting)
        self._depends |= self._placing.order_matters  # also if the group gives everything back
        if made is None:
            return False
        for pod, placement in made.failed:
            self._last[pod.key] = placement
        if made.ended is not None:
            self._last[made.ended.pod.key] = made.ended
        if not made.starts:
            self._placing.back_to(mark)
            there = [Replace(replace(pod, node_name=node)) for pod, node in self._placed.values()]
            edits = {(type(edit.object), edit.object.key): edit for edit in (*there, *made.edits)}
            self._partial[gang.name] = Partial(len(made.placed), tuple(edits.values()))
            return False
        self._partial.pop(gang.name, None)
        for pod, node in made.placed:
            self._placed[pod.key] = pod, node
        return len(made.placed) == len(waiting)

    def _in_domains(self, gang: Gang, waiting: Sequence[Pod], mark: Mark) -> Attempt | None:
        """Each domain of the topology constraint by itself. Which of those that do is taken depends on scores that aren't modelled, so that
        it counts as a tie; the ties inside it come after that one. Trials of domains take the first of equal nodes, on every way."""
        found = domains(self._placing.view, gang)
        if isinstance(found, str) or not found:
            return None
        starting: list[tuple[Node, ...]] = []
        best: Attempt | None = None
        self._trying = True
        for nodes in found.values():
            made = self._within(nodes, gang, waiting)
            self._placing.back_to(mark)
            if made.starts:
                starting.append(nodes)
            if best is None or made.scheduled > best.scheduled:
                best = made
        self._trying = False
        if not starting:
            return best
        chosen = self._decide(len(starting))
        for nodes in (starting[chosen], *starting[:chosen], *starting[chosen + 1 :]):
            best = self._within(nodes, gang, waiting)
            if best.starts:
                break
            self._placing.back_to(mark)  # with these ties it doesn't do, so that another one is taken
        return best

    def _within(self, nodes: Sequence[Node], gang: Gang, waiting: Sequence[Pod]) -> Attempt:
        self._placing.within = frozenset(node.name for node in nodes)
        try:
            return attempt(self._placing, gang, waiting)
        finally:
            self._placing.within = None

    def _choose(self, pod: Pod, places: Places) -> NodePlacement | None:
        names = places.equally_good(pod)
        if not names:
            return None
        if len(names) == 1:
            return places.entries[names[0]]
        kinds = self._alike.classes(sorted(names), self._placing)
        chosen = kinds[self._decide(len(kinds))] if len(kinds) > 1 else kinds[0]
        return places.entries[chosen[0]]

    def _decide(self, of: int) -> int:
        if of < 2 or self._trying:
            return 0
        turn = len(self._choices)
        self._choices.append(of)
        return self._path[turn] if turn < len(self._path) else 0
