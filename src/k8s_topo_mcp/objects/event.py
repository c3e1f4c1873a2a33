"""Event, core/v1 and events.k8s.io/v1 in one class.

The times of an event are spread over five fields, most of them null (a scheduler's event has only eventTime; a repeated one has
series or count). `first` and `last` are the earliest and latest of what is there, in the end the object's creation time.
"""

from __future__ import annotations

from sys import intern
from typing import ClassVar

from .decoding import Json, integer, mapping, optional_mapping, string, timestamp
from .meta import ApiObject, ObjectRef, Timestamp, decode_metadata
from .record import record


@record(weakref_slot=True)
class Event(ApiObject):
    """`type` is Normal or Warning. `field_path` names the part of the object ("spec.containers{main}")."""

    KIND: ClassVar[str] = "Event"

    regarding: ObjectRef
    type: str
    reason: str
    message: str
    component: str = ""
    action: str = ""
    count: int = 1
    first: Timestamp | None = None
    last: Timestamp | None = None
    field_path: str = ""


def _reference(source: Json) -> ObjectRef:
    return ObjectRef(intern(string(source, "kind")), intern(string(source, "namespace")), string(source, "name"), string(source, "uid"))


def decode_event(item: Json) -> Event:
    """An Event out of its JSON."""
    metadata = decode_metadata(item, namespaced=True)
    regarding = mapping(item, "involvedObject" if "involvedObject" in item else "regarding")
    series = optional_mapping(item, "series") or {}
    times = [
        moment
        for moment in (
            timestamp(item, "eventTime"),
            timestamp(item, "firstTimestamp"),
            timestamp(item, "lastTimestamp"),
            timestamp(item, "deprecatedFirstTimestamp"),
            timestamp(item, "deprecatedLastTimestamp"),
            timestamp(series, "lastObservedTime"),
        )
        if moment is not None
    ] or ([metadata.created] if metadata.created is not None else [])
    return Event(
        metadata=metadata,
        regarding=_reference(regarding),
        type=intern(string(item, "type")),
        reason=intern(string(item, "reason")),
        message=string(item, "message") or string(item, "note"),
        component=intern(
            string(item, "reportingComponent")
            or string(item, "reportingController")
            or string(mapping(item, "source"), "component")
            or string(mapping(item, "deprecatedSource"), "component")
        ),
        action=intern(string(item, "action")),
        count=max(1, integer(item, "count"), integer(item, "deprecatedCount"), integer(series, "count")),
        first=min(times, default=None),
        last=max(times, default=None),
        field_path=string(regarding, "fieldPath"),
    )
