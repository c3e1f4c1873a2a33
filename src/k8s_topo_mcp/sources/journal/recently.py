"""What a process that only reads a journal saw itself of late: when the one that writes ends, none of it is lost."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Hashable, Iterable, Sequence

from ...objects import Timestamp
from ...view.past import FieldChange

KEPT_S = 60.0
"""Seconds that a change is kept. The next writer looks whether the last one is still there every few seconds."""
KEPT = 10_000
"""Changes that are kept at most."""
OVERLAP = 15.0
"""Seconds by which two processes see one change apart at most, and by which the clock of a source can turn back."""


class Recently:
    """The last changes that were seen. `since`: from when on none is missing, None: nothing was seen yet. Not for several threads."""

    def __init__(self) -> None:
        self.since: Timestamp | None = None
        self._found: deque[FieldChange] = deque()

    def looking(self, seen: Timestamp) -> None:
        """Everything up to `seen` was told."""
        if self.since is None:
            self.since = seen
        self.since = max(self.since, seen - KEPT_S)
        while self._found and self._found[0].at < self.since:
            self._found.popleft()

    def add(self, found: Iterable[FieldChange]) -> None:
        """These were seen. Of too many the oldest go, and it is known that they did."""
        self._found.extend(found)
        while len(self._found) > KEPT:
            gone = self._found.popleft()
            self.since = gone.at if self.since is None else max(self.since, gone.at)

    def missed(self, ended: Timestamp | None, written: Sequence[FieldChange]) -> list[FieldChange]:
        """What isn't in a journal whose writer looked until `ended` and of late wrote these."""
        if ended is None:
            return list(self._found)
        known: defaultdict[Hashable, deque[Timestamp]] = defaultdict(deque)
        for entry in written:
            known[_what(entry)].append(entry.at)
        left: list[FieldChange] = []
        for entry in self._found:
            if entry.at < ended - OVERLAP:
                continue
            times = known[_what(entry)]
            while times and times[0] < entry.at - OVERLAP:
                times.popleft()
            if times and times[0] <= entry.at + OVERLAP:
                times.popleft()
            else:
                left.append(entry)
        return left

    def known_from(self, ended: Timestamp | None, seen: Timestamp | None) -> Timestamp | None:
        """From when on a new writer, which looked until `seen`, knows all: since the last one ended, if nothing is missing since then."""
        if self.since is None or seen is None:
            return seen
        return min(seen, self.since if ended is None else max(self.since, ended))


def _what(entry: FieldChange) -> Hashable:
    ref = entry.object
    return ref.kind, ref.namespace, ref.name, ref.uid, entry.field, entry.old, entry.new
