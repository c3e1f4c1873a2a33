"""Journal: an observer of a live source that writes down what changed, on a thread of its own, and tells it to views.

Nothing that goes wrong with the disk reaches a question: writing stops, a note says since when, and it is tried again. What wasn't written
is a gap between two spans; a journal never claims to have looked when it didn't.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from ...history.comparing import changes
from ...objects import ApiObject, Timestamp
from ...view.past import Effect, FieldChange, Known, MetadataChange, Span
from ..lock import WriterLock
from . import store as stores
from .errors import JournalError
from .recently import OVERLAP, Recently
from .store import Row, Store

MAX_AGE = 7 * 86_400.0
MAX_BYTES = 200_000_000
BATCH = 500
"""Rows that are written at once."""
INTERVAL = 1.0
"""Seconds that a row waits for others at most."""
IDLE = 5.0
"""Seconds after which the writer looks up without being told anything: the span's end, a lock that became free."""
RETRY = 30.0
"""Seconds until writing is tried again after it failed."""
PENDING = 100_000
"""Rows that wait for the writer at most; then they are given up, and the span ends."""

T = TypeVar("T")
_log = logging.getLogger(__name__)


def _clock(moment: Timestamp) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%MZ")


class Journal:
    """
    See `open_journal`. Methods may be called from any thread.

    A second process that opens the journal of a cluster reads what the first one writes, and says so; it takes over when that ends, with
    what it saw itself meanwhile (`recently`).
    """

    how: Known = "watched"

    def __init__(
        self,
        path: Path,
        cluster: str,
        now: Callable[[], Timestamp],
        *,
        max_age: float = MAX_AGE,
        max_bytes: int = MAX_BYTES,
        metadata_kinds: Sequence[str] = (),
        makes_folder: bool = False,
        retry: float = RETRY,
        idle: float = IDLE,
    ) -> None:
        self.path = path
        self.metadata_kinds = tuple(metadata_kinds)
        self._opened = now()
        self._cluster, self._now = cluster, now
        self._max_age, self._max_bytes, self._retry, self._idle = max_age, max_bytes, retry, idle
        self._state = threading.Condition()
        # Under `_state`:
        self._pending: list[Row] = []
        self._told, self._done = 0, 0  # rows told and rows dealt with: `flush` waits for the one to reach the other
        self._began: Timestamp | None = None
        self._seen: Timestamp | None = None
        self._failure: tuple[Timestamp, str] | None = None
        self._damaged = False
        self._aside: list[str] = []
        self._next_id = 1
        self._writes = False
        self._lately = Recently()
        self._kept_since: Timestamp = 0.0
        self._hurried = self._closing = False
        # Of the writer's thread alone:
        self._store: Store | None = None
        self._span: int | None = None
        self._written_end: Timestamp = 0.0
        self._retry_at = 0.0
        stores.prepare(path, makes_folder)
        self._lock = WriterLock(path)
        try:
            writes = self._lock.take()
        except OSError as error:
            raise JournalError(str(path), f"its lock can't be made ({error.strerror}); give --journal PATH or --journal none") from None
        if writes:
            try:
                self._open_store(takes_over=False)
            except BaseException:
                self._lock.release()
                raise
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()

    # --- told by the source -------------------------------------------------------------------------------------------------------

    def changed(self, before: ApiObject | None, after: ApiObject | None, at: Timestamp) -> None:
        """`before` became `after`, seen at `at`. What was there before the journal was opened (a first list) is no change."""
        with self._state:
            self._looking(at)
            if before is None and after is not None and (after.metadata.created is None or after.metadata.created < self._opened):
                return
        found = changes(before, after, at)
        if found:
            self._add(found)

    def noticed(self, change: MetadataChange) -> None:
        """An object whose content isn't read was written."""
        from ...history.metadata_only import as_field_change

        with self._state:
            self._looking(change.at)
        self._add((as_field_change(change),))

    def watching(self, at: Timestamp) -> None:
        """The source has told everything up to `at`. To be called when a bookmark or a view proves it: silence then counts as knowledge."""
        with self._state:
            self._looking(at)

    def _looking(self, at: Timestamp) -> None:
        if self._began is None:
            self._began = at
        self._seen = at if self._seen is None else max(self._seen, at)
        if not self._writes:
            self._lately.looking(self._seen)

    def _add(self, found: Sequence[FieldChange]) -> None:
        with self._state:
            self._told += len(found)
            if self._failure is not None or not self._writes or self._closing:
                self._done += len(found)
                if not self._writes:
                    self._lately.add(found)
                return
            if len(self._pending) + len(found) > PENDING:
                self._fail("changes came faster than they could be written")
                self._done += len(found)
                return
            for entry in found:
                self._pending.append((self._next_id, entry))
                self._next_id += 1
            if len(self._pending) <= len(found) or len(self._pending) >= BATCH:
                self._state.notify_all()

    # --- asked by views -----------------------------------------------------------------------------------------------------------

    def past(self, as_of: Timestamp) -> PastOfJournal:
        """What is known of the time before a view that was made at `as_of`; the source has told everything up to then."""
        self.watching(as_of)
        return PastOfJournal(self, as_of)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know."""
        with self._state:
            found = list(self._aside)
            if self._failure is not None:
                since, why = self._failure
                found.append(f"journal: nothing could be written since {_clock(since)} ({why}); what changed since then isn't in it")
            elif not self._writes:
                pid = self._lock.holder()
                found.append(f"journal: another process{f' ({pid})' if pid else ''} writes it, this one reads")
            return tuple(found)

    def read(self, since: Timestamp, until: Timestamp, least: Effect) -> tuple[FieldChange, ...]:
        """Changes of a stretch of time, those included that wait to be written."""
        with self._state:
            waiting = tuple(self._pending)
        # Waiting ones first: a row that is written meanwhile is then met twice, never missed.
        rows = dict(self._read(lambda: stores.read(self.path, since, until, least)))
        rows.update((number, entry) for number, entry in waiting if since <= entry.at <= until and entry.effect >= least)
        return tuple(entry for _, entry in sorted(rows.items(), key=lambda row: (row[1].at, row[0])))

    def spans(self, as_of: Timestamp) -> tuple[Span, ...]:
        """When somebody looked, up to `as_of`."""
        found = list(self._read(lambda: stores.read_spans(self.path)))
        with self._state:
            if self._failure is None and self._writes and self._began is not None:
                begin = max(self._began, self._kept_since)
                found.append(Span(begin, max(begin, min(as_of, self._seen or as_of))))
        return tuple(Span(span.begin, min(span.end, as_of)) for span in stores.merged(found) if span.begin < as_of)

    def _read(self, question: Callable[[], list[T]]) -> list[T]:
        try:
            return question()
        except sqlite3.Error as error:
            if stores.is_damage(error):
                with self._state:
                    self._damaged = True
                    self._state.notify_all()
            _log.warning("journal %s can't be read: %s", self.path, error)
            return []

    # --- the writer ---------------------------------------------------------------------------------------------------------------

    def flush(self, timeout: float = 30.0) -> bool:
        """Wait until everything told so far is written, or given up. False after `timeout` seconds."""
        with self._state:
            told, self._hurried = self._told, True
            self._state.notify_all()
            try:
                return self._state.wait_for(lambda: self._done >= told, timeout)
            finally:
                self._hurried = False

    def close(self) -> None:
        """Write what waits and let somebody else write."""
        with self._state:
            self._closing = True
            self._state.notify_all()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout=30)

    def _open_store(self, takes_over: bool) -> None:
        """Become the writer. `takes_over`: from another process, which may not have written all that it saw. Raises JournalError for a file
        that isn't ours to write; a damaged one is set aside."""
        try:
            self._store = Store(self.path, self._cluster, self._max_bytes)
        except sqlite3.DatabaseError as error:
            if not stores.is_damage(error):
                raise JournalError(str(self.path), f"the journal can't be opened ({error}); give another --journal PATH") from None
            self._set_aside()
            self._store = Store(self.path, self._cluster, self._max_bytes)
        self._span = None
        ended, written = self._store.lately(OVERLAP) if takes_over else (None, [])
        with self._state:
            waiting = [entry for _, entry in self._pending]
            self._began = self._seen
            if takes_over:
                missed = self._lately.missed(ended, written)
                self._began = self._lately.known_from(ended, self._seen)
                self._told += len(missed)
                waiting = [*missed, *waiting]
            first = self._store.last_id + 1
            self._pending = [(first + position, entry) for position, entry in enumerate(waiting)]
            self._next_id = first + len(waiting)
            self._lately = Recently()
            self._writes = True

    def _set_aside(self) -> None:
        moment = self._now()
        name = stores.set_aside(self.path, datetime.fromtimestamp(moment, UTC).strftime("%Y%m%dT%H%M%SZ")).name
        stores.prepare(self.path, False)
        note = f"journal: the file was damaged and is kept as {name}; a new one begins at {_clock(moment)}"
        _log.warning("%s (%s)", note, self.path.parent)
        with self._state:
            self._aside = [note]
            self._damaged = False

    def _fail(self, why: str) -> None:
        """Stop writing. Under `_state`."""
        if self._failure is None:
            self._failure = (self._now(), why)
            _log.warning("journal %s: writing stops: %s", self.path, why)
        self._done += len(self._pending)
        self._pending.clear()
        self._retry_at = time.monotonic() + self._retry
        self._state.notify_all()

    def _run(self) -> None:
        while True:
            with self._state:
                if not self._pending and not self._closing and not self._damaged:
                    self._state.wait(self._idle)
                if self._pending and not self._closing and len(self._pending) < BATCH:
                    self._state.wait_for(lambda: self._closing or self._hurried or len(self._pending) >= BATCH, INTERVAL)
                closing, damaged = self._closing, self._damaged
            try:
                if damaged and self._store is not None:
                    self._store.abandon()
                    self._set_aside()
                    self._open_store(takes_over=False)
                self._step()
                if closing:
                    self._end()
            except (sqlite3.Error, OSError, JournalError) as error:
                self._broken(error)
            if closing:
                self._lock.release()
                return

    def _step(self) -> None:
        if not self._lock.held and not self._take_over():
            return
        if self._failure is not None and not self._resume():
            return
        store = self._store
        if store is None:
            return
        if not store.is_there:
            store.abandon()
            stores.prepare(self.path, False)
            self._open_store(takes_over=False)
            return
        with self._state:
            rows, began, seen = self._pending[:], self._began, self._seen
        if began is None or seen is None or (not rows and seen < self._written_end + self._idle):
            return
        self._write(store, rows, began, seen)

    def _write(self, store: Store, rows: list[Row], began: Timestamp, seen: Timestamp) -> None:
        oldest = self._now() - self._max_age
        if self._span is None:
            self._span = store.begin_span(began)
        store.shrink(self._max_bytes * 7 // 8)
        try:
            store.write(rows, self._span, seen)
        except sqlite3.OperationalError as error:
            if getattr(error, "sqlite_errorcode", 0) != sqlite3.SQLITE_FULL or store.used < self._max_bytes // 2:
                raise
            store.shrink(self._max_bytes // 2)  # not the disk: the bound of the file
            store.write(rows, self._span, seen)
        store.drop_before(oldest)
        self._written_end = seen
        with self._state:
            del self._pending[: len(rows)]
            self._done += len(rows)
            self._kept_since = store.kept_since
            self._state.notify_all()

    def _take_over(self) -> bool:
        """Become the writer if nobody is."""
        if not self._lock.take():
            return False
        self._open_store(takes_over=True)
        return True

    def _resume(self) -> bool:
        if time.monotonic() < self._retry_at:
            return False
        if self._store is not None:
            self._store.abandon()
        self._store = None
        self._retry_at = time.monotonic() + self._retry
        self._open_store(takes_over=False)
        assert self._store is not None
        with self._state:
            begin = self._seen if self._seen is not None else self._now()
        self._span = self._store.begin_span(begin)  # a write, so that this is known to work again
        with self._state:
            self._failure, self._began = None, self._seen
        _log.warning("journal %s: writing goes on", self.path)
        return True

    def _broken(self, error: Exception) -> None:
        if isinstance(error, sqlite3.Error) and stores.is_damage(error):
            with self._state:
                self._damaged = True
                self._done += len(self._pending)
                self._pending.clear()
                self._state.notify_all()
            return
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        why = "disk full" if code == sqlite3.SQLITE_FULL else str(error)[:120]
        with self._state:
            self._fail(why)

    def _end(self) -> None:
        if self._store is not None and self._failure is None:
            self._store.close()
        elif self._store is not None:
            self._store.abandon()


class PastOfJournal:
    """A journal as the past of one view."""

    how: Known = "watched"

    def __init__(self, journal: Journal, as_of: Timestamp) -> None:
        self._journal = journal
        self._as_of = as_of

    @property
    def spans(self) -> tuple[Span, ...]:
        """When somebody looked."""
        return self._journal.spans(self._as_of)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know."""
        return self._journal.notes

    @property
    def metadata_kinds(self) -> tuple[str, ...]:
        """Kinds of which it is known that they were written, not what."""
        return self._journal.metadata_kinds

    def changes(self, since: Timestamp, until: Timestamp, least: Effect = Effect.NOTE) -> tuple[FieldChange, ...]:
        """Changes of a stretch of time before the view, oldest first."""
        return self._journal.read(since, min(until, self._as_of), least)
