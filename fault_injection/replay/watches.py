"""Watches: the events after a revision, bookmarks, and initial events (watch-list).

A watch-list is gzip-encoded when the client accepts that, each flush a gzip member of its own, as since 1.37 (`perFlushGzipWriter` in
apiserver pkg/endpoints/handlers/watch.go); other watches never are. A watcher that falls too far behind is ended, as by the watch cache.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import status
from .lists import Refused, match_of, revision_of
from .request import Request
from .selectors import Match
from .store import Change, Entry, Expired, Kept, Store
from .tables import metadata_of, table

MAX_WAITING = 100_000
"""Changes that may wait for a slow watcher."""
INITIAL_END = "k8s.io/initial-events-end"
_BATCH = 500


@dataclass(frozen=True, slots=True)
class Event:
    """One line of a watch."""

    type: str
    line: bytes
    revision: int


class Watch:
    """A watch that was asked for. Made in the loop's thread, fed from any; `events` is empty when there is nothing to send."""

    def __init__(self, store: Store, kept: Kept, namespace: str, request: Request, form: str, now: float, watch_list: bool) -> None:
        self.kept = kept
        self.store = store
        self.initial_events = request.flag("sendInitialEvents")
        self.bookmarks = request.flag("allowWatchBookmarks")
        self.timeout = _timeout(request)
        self.since: int | None = None
        """The resourceVersion that was asked for, where the watch began at one."""
        self.overrun = False
        self.sent = 0
        self.wake = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._namespace = namespace
        self._form = form
        self._include = request.query.get("includeObject", "Metadata")
        self._now = now
        self._with_columns = True
        self._waiting: deque[Change] = deque()
        self._initial: deque[Entry] = deque()
        self._initial_end = False
        self._failure: status.Status | None = None
        self._woken = False
        self._match: Match | None = match_of(kept, request)
        _check(request, watch_list)
        self._begin(revision_of(request, for_watch=True))

    def _begin(self, wanted: int | None) -> None:
        with self.store.lock:
            revision = self.store.revision
            if self.initial_events or not wanted:
                if wanted is not None and wanted > revision:
                    raise Refused(status.too_large(wanted, revision))
                self._initial.extend(entry for entry in self.kept.at(revision) if self._wants(entry))
                self._initial_end = self.initial_events and self.bookmarks
                self.sent = revision
            else:
                self.since = self.sent = wanted
                try:
                    self._waiting.extend(self.kept.since(wanted))
                except Expired as error:
                    self._failure = status.expired(str(error))
            self.kept.watchers.add(self)

    def close(self) -> None:
        with self.store.lock:
            self.kept.watchers.discard(self)

    def push(self, change: Change) -> None:
        """Take a change; called under the store's lock."""
        if self.since is not None and change.revision <= self.since:
            return  # the watch was asked for from a revision that had not come yet
        if len(self._waiting) >= MAX_WAITING:
            self.overrun = True
        else:
            self._waiting.append(change)
        self.rouse()

    def rouse(self) -> None:
        """Let the sender look again. From any thread."""
        if not self._woken:
            self._woken = True
            try:
                self._loop.call_soon_threadsafe(self.wake.set)
            except RuntimeError:
                self.overrun = True  # the server's loop has ended

    def calm(self) -> None:
        self._woken = False
        self.wake.clear()

    # --- events -------------------------------------------------------------------------------------------------------------------

    def fail(self, failure: status.Status) -> None:
        """End with an ERROR event."""
        self._failure = failure

    def events(self) -> tuple[Sequence[Event], bool]:
        """The next events to send, and whether the watch ends after them."""
        if self._failure is not None:
            return [Event("ERROR", _line("ERROR", _encoded(self._failure)), self.sent)], True
        found: list[Event] = []
        while self._initial and len(found) < _BATCH:
            entry = self._initial.popleft()
            found.append(Event("ADDED", _line("ADDED", self._object(entry)), entry.revision))
        if self._initial or found:
            return found, False
        if self._initial_end:
            self._initial_end = False
            return [self._bookmark(self.sent, {INITIAL_END: "true"})], False
        while self._waiting and len(found) < _BATCH:
            event = self._of(self._waiting.popleft())
            if event is not None:
                found.append(event)
        return found, self.overrun

    def bookmark(self) -> Event | None:
        """A bookmark for now; None while events wait."""
        with self.store.lock:
            if self._initial or self._initial_end or self._waiting or self._failure is not None:
                return None
            revision = self.store.revision
        return self._bookmark(max(revision, self.sent))

    def stale_bookmark(self) -> Event:
        """A bookmark at what was sent last, whatever waits."""
        return self._bookmark(self.sent)

    def _bookmark(self, revision: int, annotations: Mapping[str, str] | None = None) -> Event:
        metadata = {"resourceVersion": str(revision), **({"annotations": annotations} if annotations else {})}
        resource = self.kept.resource
        value: dict[str, Any] = {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": metadata}
        if self._form == "Table":
            value = table(self.kept, [], metadata, self._include, self._now, with_columns=False)
        elif self._form:
            value = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata}
        return Event("BOOKMARK", _line("BOOKMARK", _encoded(value)), revision)

    def _wants(self, entry: Entry) -> bool:
        if self._namespace and entry.namespace != self._namespace:
            return False
        return self._match is None or self._match(entry)

    def _of(self, change: Change) -> Event | None:
        """What a change is to this watch: with a selector an object may come into its sight, or leave it."""
        before = change.before is not None and self._wants(change.before)
        after = change.type != "DELETED" and self._wants(change.after)
        if not before and not after:
            return None
        if after:
            kind = "MODIFIED" if before else "ADDED"
            return Event(kind, _line(kind, self._object(change.after)), change.revision)
        gone = change.after
        if change.type != "DELETED":  # as it was when it was last seen, with the revision of the change
            assert change.before is not None
            gone = Entry(self.kept.resource, change.before.value(self.kept.resource), change.revision)
        return Event("DELETED", _line("DELETED", self._object(gone)), change.revision)

    def _object(self, entry: Entry) -> bytes:
        if self._form == "Table":
            metadata = {"resourceVersion": str(entry.revision)}
            value = table(self.kept, [entry], metadata, self._include, self._now, self._with_columns)
            self._with_columns = False
            return _encoded(value)
        if self._form:
            return _encoded(metadata_of(entry))
        return self.kept.head + entry.data[1:]


def _encoded(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")


def _line(kind: str, value: bytes) -> bytes:
    return b'{"type":"%s","object":%s}\n' % (kind.encode(), value)


def joined(events: Iterable[Event]) -> bytes:
    return b"".join(event.line for event in events)


def _timeout(request: Request) -> float:
    """Seconds; without timeoutSeconds between a half and a whole hour, as --min-request-timeout makes it."""
    text = request.query.get("timeoutSeconds", "")
    return float(text) if text.isdecimal() and int(text) else 1800 * (1 + random.random())


def _check(request: Request, watch_list: bool) -> None:
    match = request.query.get("resourceVersionMatch", "")
    if "sendInitialEvents" in request.query:
        if match != "NotOlderThan":
            problem = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
            raise Refused(status.invalid_options("resourceVersionMatch", problem))
        if not watch_list:
            problem = "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"
            raise Refused(status.invalid_options("sendInitialEvents", problem))
    elif match:
        problem = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
        raise Refused(status.invalid_options("resourceVersionMatch", problem))
