"""The scheduler's queue played through, in each way that it may go.

Source: k8s.io/kubernetes pkg/scheduler. Of nodes with equal scores the scheduler takes one at random (sorted_nodes.go): such a tie is
played both ways unless the nodes are alike. When a refused pod comes up again isn't in the API either (backend/queue: its backoff, its last
attempt, and when the queue is told that another pod was bound): where that may make a difference the ends are played, after all others in
the queue's order or with the last kind first, and at once. With more than two kinds there are further orders.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..scheduling.kinds_of_pods import Kinds
from ..scheduling.placing import Known
from ..view import ClusterView
from .alike import Alike
from .play import Again, Play, Player
from .queue import Entry

MOST_ORDERS = 16
"""So many ways through the ties are played."""
MOST_PLAYED = 600
"""So many pods are placed in all ways through the ties together, but for the first two ways."""

OTHER_ENDS: tuple[Again, ...] = ("after all others, the last kind first", "at once")
"""When refused pods may come up, besides after all others in their order: of two kinds each is first once."""
PLAYED_IN_EACH_ORDER = 2
"""So many kinds of refused pods come up in each order."""


@dataclass(frozen=True, slots=True, eq=False)
class Plays:
    """`first`: of equal nodes always the first; `worst`: the way on which the fewest pods get a node. `ways`: so many were played, and
    `all_ways` whether there are no others that could end otherwise."""

    first: Play
    worst: Play
    ways: int
    all_ways: bool

    @property
    def tie(self) -> bool:
        """Whether chance has a say, or may have."""
        return not self.first.independent and (bool(self.first.choices) or self.ways > 1 or not self.all_ways)


def play_all(
    view: ClusterView,
    entries: Sequence[Entry],
    kinds: Kinds,
    known: Known,
    origins: Mapping[str, int],
    most: int = MOST_ORDERS,
    while_complete: bool = False,
) -> Plays:
    """Every way through the ties, up to `most`; or up to the first on which a pod gets no node, if only that is asked."""
    alike = Alike(view, [pod for entry in entries for pod in entry.pods], origins)
    first: Play | None = None
    worst: Play | None = None
    waiting: deque[tuple[int, ...]] = deque([()])
    paths = ends = differing = 0
    all_ends, cut_short = True, False
    while waiting and (paths + ends < most or paths < min(2, most)) and not (while_complete and worst is not None and not worst.complete):
        path = waiting.popleft()
        played = Player(view, entries, kinds, known, alike, path).run()
        paths += 1
        first = first or played
        if worst is None or len(played.placed) < len(worst.placed):
            worst = played
        if played.independent and first is played:
            return Plays(first, played, paths, True)
        all_ends &= played.overtaken <= PLAYED_IN_EACH_ORDER
        for again in OTHER_ENDS if played.overtaken and not cut_short else ():
            if while_complete and not worst.complete:
                all_ends = False
                break
            other = Player(view, entries, kinds, known, alike, path, again).run()
            ends += 1
            if other.unknown:  # it would be on the next path, too
                all_ends, cut_short = False, True
                break
            if _order(other, kinds) != _order(played, kinds):
                differing += 1
                worst = other if len(other.placed) < len(worst.placed) else worst
        for turn in range(len(path), len(played.choices)):
            start = (*path, *(0 for _ in range(turn - len(path))))
            waiting.extend((*start, other) for other in range(1, played.choices[turn]))
    assert first is not None
    assert worst is not None
    return Plays(first, worst, paths + differing, all_ends and not waiting and not differing)


def _order(play: Play, kinds: Kinds) -> list[object]:
    """Which kinds of pods, of which groups, got their nodes one after another. With the same choices the nodes are the same then."""
    return [(kinds.of_pod(pod), pod.scheduling_group, pod.workload_reference) for pod, _ in play.placed]


def ways_for(pods: int) -> int:
    """How many ways are played for so many pods."""
    return max(2, min(MOST_ORDERS, MOST_PLAYED // max(1, pods)))
