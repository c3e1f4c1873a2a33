"""What becomes of each pod of a played queue: where it starts, or why not, or why that isn't known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Literal

from ..findings import Finding
from ..objects import Pod
from ..scheduling.placement import Placement
from .doubts import Doubts, Hopes
from .new_nodes import NewNodes
from .on_new_nodes import OnNewNode
from .play import Play
from .queue import Entry

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


class Judge:
    """What became of each pod: `before` and `after` are the queue without and with the new nodes, where what isn't known is refused, and
    `hopeful` with them where it isn't. `asking`: ids of pods to which devices are to be given; `same`: where not all was played those of
    pods of which it makes no difference."""

    def __init__(
        self,
        entries: Sequence[Entry],
        new: NewNodes,
        before: Play,
        after: Play,
        hopeful: Hopes,
        doubts: Doubts,
        on_new: Mapping[int, tuple[OnNewNode, ...]],
        asking: Set[int],
        same: Set[int],
    ) -> None:
        self._entries = entries
        self._new = new
        self._doubts = doubts
        self._on_new = on_new
        self._asking = asking
        self._hopeful = hopeful
        self._same = same
        self._earlier = {pod.key for pod, _ in before.placed}
        self._nodes = {pod.key: node for pod, node in after.placed}
        placed = [{pod.key for pod, _ in play.placed} for play in (after, *hopeful.plays)]
        self._ever, self._always = placed[0].union(*placed), placed[0].intersection(*placed)
        self._last = {pod.key: placement for play in (before, after) for pod, placement in play.left if placement is not None}
        self._ended = next((play.unknown for play in (after, *hopeful.plays) if play.unknown), "")

    def entry(self, entry: Entry) -> Iterator[PodOutcome]:
        """The outcomes of its pods."""
        waits = entry.gang is not None and not any(pod.key in self._nodes for pod in entry.pods)
        for pod in entry.pods:
            on, last = self._on_new[id(pod)], self._last.get(pod.key)
            node = self._nodes.get(pod.key, "")
            why = self._why(pod, entry, last)
            if node and not why:
                now = pod.key in self._earlier
                yield PodOutcome(pod, "starts now" if now else "starts", node, node in self._new.origins, on)
            elif why:
                yield PodOutcome(pod, "unknown", on_new_nodes=on, last=last, why=why)
            elif entry.held is not None:
                yield PodOutcome(pod, "held", on_new_nodes=on, held=entry.held)
            else:
                takes = any(own.verdict != "refused" for own in on)
                fits = takes or (last is not None and bool(last.fitting))
                refused: Verdict = "waits for its group" if waits and fits else "no room" if takes else "refused"
                yield PodOutcome(pod, refused, on_new_nodes=on, last=last)

    def _why(self, pod: Pod, entry: Entry, last: Placement | None) -> str:
        """Why it isn't known whether the pod starts, "" where it is."""
        if not self._hopeful.all_played and id(pod) not in self._same:
            return self._unplayed(pod, entry)
        if pod.key in self._always:
            return self._doubts.before(pod, self._nodes[pod.key], self._entries) if id(pod) in self._asking else ""
        if pod.key in self._ever:
            return self._own(pod) or self._by_others(pod, entry)
        if entry.held is not None:
            return self._own(pod)
        if self._ended:
            return self._own(pod) or self._ended
        if id(pod) in self._doubts.undecided:
            return "" if self._never(entry) else self._own(pod)
        if last is not None and not last.fitting and last.unknown:
            return last.unknown
        doubtful = any(id(mate) in self._doubts.undecided for mate in entry.pods)
        if doubtful and self._takes(pod) and not self._never(entry):
            return self._by_others(pod, entry)
        return ""

    def _unplayed(self, pod: Pod, entry: Entry) -> str:
        """Why it isn't known of a pod of which others may decide, where not all that may come was played."""
        if entry.held is not None:
            return self._own(pod)
        placed = pod.key in self._ever
        return self._own(pod) or self._by_others(pod, entry) if placed or (self._takes(pod) and not self._never(entry)) else ""

    def _own(self, pod: Pod) -> str:
        return self._doubts.whys.get(id(pod), "") if id(pod) in self._doubts.undecided else ""

    def _by_others(self, pod: Pod, entry: Entry) -> str:
        """Of which pod it isn't known, where that decides over this one: of itself, of its group, else in the queue."""
        whys = self._doubts.whys
        if id(pod) in whys:
            return whys[id(pod)]
        mate = next((own for own in entry.pods if id(own) in whys), None)
        other = mate if mate is not None else self._doubts.elsewhere(entry, self._entries)
        return f"depends on where {other.full_name} goes: {whys[id(other)]}" if other is not None else ""

    def _takes(self, pod: Pod) -> bool:
        """Whether some node takes the pod, or may."""
        last = self._last.get(pod.key)
        return any(own.verdict != "refused" for own in self._on_new[id(pod)]) or (last is not None and bool(last.fitting))

    def _never(self, entry: Entry) -> bool:
        """Of an entry of which no pod gets a node in any play: whether that is so whatever comes of those of its pods of which it isn't
        known. All that may come was played; or its group's others are too few; or also all together don't fit, and nobody else decides over
        their room."""
        if any(pod.key in self._ever for pod in entry.pods):
            return False
        if self._hopeful.all_played:
            return True
        if entry.gang is None:
            return False
        perhaps = sum(self._takes(pod) for pod in entry.pods)
        if len(entry.gang.bound) + perhaps < entry.gang.min_count:
            return True
        return self._hopeful.bound and self._doubts.elsewhere(entry, self._entries) is None
