"""All that is known of a stretch of time: what was watched or compared, filled up with what the objects say themselves.

Where somebody watched, that record is whole, and the objects' own words would only repeat it; they fill the time when nobody did.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from ..objects import ApiObject, Timestamp
from ..view import ClusterView
from ..view.past import MOST, Effect, FieldChange, Known, Span
from .events import from_events
from .saying import from_objects

CLOCKS = 5.0
"""Seconds by which the clock of whoever watched and that of the API server are taken to differ at most where the same change is
recognised in both."""
REPUBLISHED = 120.0
"""Seconds in which a pool's old slices go and its new ones come when a driver publishes it anew."""


@dataclass(frozen=True, slots=True)
class Recent:
    """
    Changes of a stretch of time, oldest first.

    Attributes
    ----------
    how
        The best source there is: "timestamps" where nothing but the objects' own words is known.
    spans
        When somebody watched, within the stretch; or from one snapshot to the other.
    """

    changes: tuple[FieldChange, ...]
    since: Timestamp
    until: Timestamp
    how: Known
    spans: tuple[Span, ...] = ()
    notes: tuple[str, ...] = ()
    metadata_kinds: tuple[str, ...] = ()

    @property
    def whole_since(self) -> Timestamp | None:
        """From when on nothing is missing; None: at no time."""
        last = self.spans[-1] if self.spans else None
        return last.begin if last is not None and last.end >= self.until - CLOCKS else None


def recent(
    view: ClusterView,
    since: Timestamp,
    until: Timestamp | None = None,
    least: Effect = Effect.NOTE,
    without: Collection[type[ApiObject]] = (),
) -> Recent:
    """What is known of the time from `since` to `until` (default: the view's moment), with at least that effect. Objects of kinds `without`
    aren't asked for what they say themselves."""
    end = view.now if until is None else until
    past = view.past
    events = from_events(view, since, end, least)
    if past is None:
        return Recent(_sorted((*from_objects(view, since, end, least, without), *events)), since, end, "timestamps")
    seen = past.changes(since, end, least)
    watched = past.how == "watched"
    spans = tuple(_clipped(past.spans, since, end)) if watched else past.spans
    said = [
        entry
        for gap in (_gaps(spans, since, end) if watched else (Span(since, end),))
        for entry in from_objects(view, gap.begin, gap.end, least, without)
    ]
    known = {_key(entry): entry for entry in seen}
    merged = [*_refined(seen, said), *(entry for entry in said if not _same(entry, known.get(_key(entry)))), *events]
    notes = (*past.notes, *_cut(seen))
    return Recent(_sorted(_without_republishing(merged)), since, end, past.how, spans, notes, tuple(past.metadata_kinds))


def _sorted(found: Iterable[FieldChange]) -> tuple[FieldChange, ...]:
    return tuple(sorted(found, key=lambda entry: (entry.at, entry.object.kind, entry.object.namespace, entry.object.name, entry.field)))


def _clipped(spans: Iterable[Span], since: Timestamp, until: Timestamp) -> Iterator[Span]:
    for span in spans:
        if span.end > since and span.begin < until:
            yield Span(max(span.begin, since), min(span.end, until))


def _gaps(spans: tuple[Span, ...], since: Timestamp, until: Timestamp) -> Iterator[Span]:
    """When nobody watched, with what clocks may differ by at the edges of when somebody did."""
    at = since
    for span in spans:
        begin, end = span.begin + (CLOCKS if span.begin > since else 0.0), span.end - (CLOCKS if span.end < until else 0.0)
        if begin >= end:
            continue
        if begin > at:
            yield Span(at, begin)
        at = max(at, end)
    if at < until:
        yield Span(at, until)


def _cut(seen: tuple[FieldChange, ...]) -> Iterator[str]:
    light = sum(entry.effect < Effect.OTHER for entry in seen)
    if len(seen) - light >= MOST:
        yield f"of changes that could mean something only the newest {MOST:,} are here"
    if light >= MOST:
        yield f"of changes without weight only the newest {MOST:,} are here"


def _key(entry: FieldChange) -> tuple[str, str, str, str]:
    return entry.object.kind, entry.object.namespace, entry.object.name, entry.field


def _same(said: FieldChange, seen: FieldChange | None) -> bool:
    if seen is None:
        return False
    begin = seen.at if seen.after is None else seen.after
    return begin - CLOCKS <= said.at <= seen.at + CLOCKS


def _refined(seen: Iterable[FieldChange], said: Iterable[FieldChange]) -> Iterator[FieldChange]:
    """A comparison knows a change only between two moments; where the object dates it itself, that is its time."""
    own = {_key(entry): entry.at for entry in said}
    for entry in seen:
        at = own.get(_key(entry))
        if entry.after is not None and at is not None and entry.after < at <= entry.at:
            yield replace(entry, at=at, after=None)
        else:
            yield entry


def _without_republishing(found: list[FieldChange]) -> Iterator[FieldChange]:
    """A slice that went and one with the same devices that came in the same pool are one note."""
    went = [entry for entry in found if entry.gone and entry.about and entry.object.kind == "ResourceSlice"]
    pairs: dict[int, FieldChange] = {}
    dropped: set[int] = set()
    for came in found:
        if not (came.created and came.about and came.object.kind == "ResourceSlice"):
            continue
        for gone in went:
            near = abs(gone.at - came.at) <= REPUBLISHED
            if near and id(gone) not in dropped and gone.about == came.about and _devices(gone.old) == _devices(came.new):
                dropped.add(id(gone))
                pairs[id(came)] = replace(came, field="spec.pool.generation", old=_generation(gone.old), new=_generation(came.new),
                                          effect=Effect.NOTE)  # fmt: skip
                break
    for entry in found:
        if id(entry) not in dropped:
            yield pairs.get(id(entry), entry)


def _devices(summary: str | None) -> str:
    return (summary or "").partition(", ")[2]


def _generation(summary: str | None) -> str:
    return (summary or "").partition(" of ")[0].rpartition(" ")[2]
