"""The journal of a cluster, read by a process that lives for one question: nothing is made, locked or written."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from ...objects import Timestamp
from ...view.past import METADATA_KINDS, Effect, FieldChange, Known, Span
from . import store as stores
from .errors import JournalError

T = TypeVar("T")
_log = logging.getLogger(__name__)


class Written:
    """
    What a server on the same cluster wrote, as the past of a view that was made at `as_of`.

    Parameters
    ----------
    cluster
        What tells the cluster from others, as in `open_journal`.

    Raises
    ------
    JournalError
        There is no such file, it is no journal, or that of another cluster.
    """

    how: Known = "watched"
    notes: tuple[str, ...] = ()

    def __init__(self, path: Path, cluster: str, as_of: Timestamp) -> None:
        if not path.is_file():
            raise JournalError(str(path), "there is no such journal; `k8s-topo-mcp serve` on a live cluster keeps one")
        self._path, self._as_of = path, as_of
        try:
            stores.check(path, cluster)
        except sqlite3.Error as error:
            raise JournalError(str(path), f"the journal can't be read ({error})") from None

    @property
    def spans(self) -> tuple[Span, ...]:
        """When a server looked."""
        found = stores.merged(self._read(lambda: stores.read_spans(self._path)))
        return tuple(Span(span.begin, min(span.end, self._as_of)) for span in found if span.begin < self._as_of)

    @property
    def metadata_kinds(self) -> tuple[str, ...]:
        """Kinds of which it was noted that they were written. One that never was isn't among them."""
        kinds = self._read(lambda: stores.read_kinds(self._path))
        return tuple(kind for kind in METADATA_KINDS if kind in kinds)

    def changes(self, since: Timestamp, until: Timestamp, least: Effect = Effect.NOTE) -> tuple[FieldChange, ...]:
        """Changes of a stretch of time before the view, oldest first."""
        rows = self._read(lambda: stores.read(self._path, since, min(until, self._as_of), least))
        return tuple(entry for _, entry in sorted(rows, key=lambda row: (row[1].at, row[0])))

    def _read(self, question: Callable[[], list[T]]) -> list[T]:
        try:
            return question()
        except sqlite3.Error as error:
            _log.warning("journal %s can't be read: %s", self._path, error)
            return []


class NotRead:
    """A past of which nothing is known, and why."""

    how: Known = "watched"
    spans: tuple[Span, ...] = ()
    metadata_kinds: tuple[str, ...] = ()

    def __init__(self, why: str) -> None:
        self.notes = (f"journal: {why}",)

    def changes(self, since: Timestamp, until: Timestamp, least: Effect = Effect.NOTE) -> tuple[FieldChange, ...]:
        """None."""
        return ()
