"""The journal's file: schema, permissions, one transaction a batch, pruning, reading.

Crash safety is SQLite's: in WAL mode with synchronous=NORMAL a process that is killed loses nothing that was committed, and a machine that
loses power loses at most the last commits, never the file (https://www.sqlite.org/wal.html, pragma synchronous).
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from ...objects import ObjectRef, Timestamp
from ...view.past import MOST, Effect, FieldChange, Span
from .errors import JournalError

VERSION = 1
APPLICATION = 0x6B746A31
"""PRAGMA application_id: tells a journal from other SQLite files."""
WAL_BYTES = 4 << 20
_PAGE = 4096
_BUSY_S = 5.0

_SCHEMA = f"""
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE spans (id INTEGER PRIMARY KEY, begin REAL NOT NULL, end REAL NOT NULL);
CREATE TABLE changes (
  id INTEGER PRIMARY KEY, at REAL NOT NULL, kind TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL, uid TEXT NOT NULL,
  field TEXT NOT NULL, old TEXT, new TEXT, effect INTEGER NOT NULL, about TEXT NOT NULL
);
CREATE INDEX changes_at ON changes (at);
CREATE INDEX changes_with_weight ON changes (at) WHERE effect >= {int(Effect.OTHER)};
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {VERSION};
"""
_COLUMNS = "id, at, kind, namespace, name, uid, field, old, new, effect, about"

Row = tuple[int, FieldChange]


def is_damage(error: sqlite3.Error) -> bool:
    """Whether the file itself is broken."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def prepare(path: Path, makes_folder: bool) -> None:
    """Make the file if there is none, for its owner alone. Raises JournalError when it can't be, or isn't, a file of one's own."""
    try:
        if makes_folder:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if path.parent.stat().st_mode & 0o077:
                path.parent.chmod(0o700)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise JournalError(str(path), f"the journal can't be opened ({error.strerror}); give --journal PATH or --journal none") from None
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            raise JournalError(str(path), "is not a file of this user; give another --journal PATH")
        if found.st_mode & 0o077:
            os.fchmod(handle, 0o600)
    finally:
        os.close(handle)


def _is_journal(db: sqlite3.Connection, path: Path) -> None:
    """Raises JournalError for another SQLite file, or another format."""
    application, version = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
    if application != APPLICATION:
        raise JournalError(str(path), "is an SQLite file, but not a journal; give another --journal PATH")
    if version != VERSION:
        raise JournalError(str(path), f"is a journal of format {version}, this version writes {VERSION}; give another --journal PATH")


def _is_of(db: sqlite3.Connection, path: Path, cluster: str) -> None:
    """Raises JournalError for the journal of another cluster."""
    named = db.execute("SELECT value FROM about WHERE key = 'cluster'").fetchone()
    if named is None or named[0] != cluster:
        other = "another cluster" if named is None else f"cluster {named[0][:80]!r}"
        raise JournalError(str(path), f"is the journal of {other}, not of {cluster[:80]!r}; give another --journal PATH")


def check(path: Path, cluster: str) -> None:
    """Look whether the file is the journal of that cluster. Raises JournalError, and sqlite3.Error for what can't be read."""
    with closing(_reader(path)) as db:
        _is_journal(db, path)
        _is_of(db, path, cluster)


class Store:
    """The file, open for its one writer. Not for several threads."""

    def __init__(self, path: Path, cluster: str, max_bytes: int) -> None:
        self._path = path
        self._max_bytes = max_bytes
        # SQLite gives -wal and -shm the permissions of the file itself.
        self._db = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
        try:
            self._open(cluster)
        except BaseException:
            self._db.close()
            raise
        self._inode = os.stat(path).st_ino
        self.kept_since: Timestamp = 0.0
        """What is older was forgotten, as far as this writer did it."""

    def _open(self, cluster: str) -> None:
        tables = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if tables:
            _is_journal(self._db, self._path)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._db.execute(f"PRAGMA journal_size_limit = {WAL_BYTES}")
        self._db.execute(f"PRAGMA max_page_count = {max(64, self._max_bytes // _PAGE)}")
        self._db.execute("PRAGMA cache_size = -2000")
        if not tables:
            self._db.executescript(f"BEGIN IMMEDIATE;{_SCHEMA}COMMIT;")
            self._db.execute("INSERT INTO about VALUES ('cluster', ?)", (cluster,))
        _is_of(self._db, self._path, cluster)
        self.last_id: int = self._db.execute("SELECT coalesce(max(id), 0) FROM changes").fetchone()[0]

    def _pragma(self, name: str) -> int:
        return self._db.execute(f"PRAGMA {name}").fetchone()[0]

    @property
    def is_there(self) -> bool:
        """Whether the file is still the one that was opened."""
        try:
            return os.stat(self._path).st_ino == self._inode
        except OSError:
            return False

    def begin_span(self, begin: Timestamp) -> int:
        """Somebody looks from `begin` on; returns the span's id."""
        with self._transaction():
            cursor = self._db.execute("INSERT INTO spans (begin, end) VALUES (?, ?)", (begin, begin))
        return cursor.lastrowid or 0

    def write(self, rows: Sequence[Row], span: int, end: Timestamp) -> None:
        """Add rows, and that until `end` somebody looked: all or nothing."""
        with self._transaction():
            self._db.executemany(f"INSERT INTO changes ({_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?,?)", map(_values, rows))
            self._db.execute("UPDATE spans SET end = max(end, ?) WHERE id = ?", (end, span))

    def lately(self, seconds: float) -> tuple[Timestamp | None, list[FieldChange]]:
        """Until when somebody looked (None: nobody did), and what was written of the last `seconds` before, oldest first."""
        ended: Timestamp | None = self._db.execute("SELECT max(end) FROM spans").fetchone()[0]
        if ended is None:
            return None, []
        rows = self._db.execute(f"SELECT {_COLUMNS} FROM changes WHERE at >= ? ORDER BY id", (ended - seconds,))
        return ended, [_row(values)[1] for values in rows]

    @contextmanager
    def _transaction(self) -> Generator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    def drop_before(self, moment: Timestamp) -> None:
        """Forget what is older."""
        if self._db.execute("SELECT 1 FROM changes WHERE at < ? LIMIT 1", (moment,)).fetchone() is None:
            oldest = self._db.execute("SELECT min(begin) FROM spans").fetchone()[0]
            if oldest is None or oldest >= moment:
                return
        with self._transaction():
            self._db.execute("DELETE FROM changes WHERE at < ?", (moment,))
            self._forget_spans(moment)

    def _forget_spans(self, moment: Timestamp) -> None:
        self.kept_since = max(self.kept_since, moment)
        newest = self._db.execute("SELECT max(id) FROM spans").fetchone()[0]
        self._db.execute("DELETE FROM spans WHERE end < ? AND id <> ?", (moment, newest))
        self._db.execute("UPDATE spans SET begin = ?, end = max(end, ?) WHERE begin < ?", (moment, moment, moment))

    @property
    def used(self) -> int:
        """Bytes that hold something."""
        return (self._pragma("page_count") - self._pragma("freelist_count")) * _PAGE

    def shrink(self, below: int) -> None:
        """Forget the oldest sixteenth until no more than `below` bytes are used."""
        while self.used > below:
            count, first = self._db.execute("SELECT count(*), min(id) FROM changes").fetchone()
            if not count:
                return
            last = self._db.execute("SELECT id FROM changes ORDER BY id LIMIT 1 OFFSET ?", (count // 16,)).fetchone()
            last_id = last[0] if last is not None else first
            moment = self._db.execute("SELECT max(at) FROM changes WHERE id <= ?", (last_id,)).fetchone()[0]
            with self._transaction():
                self._db.execute("DELETE FROM changes WHERE id <= ?", (last_id,))
                self._forget_spans(moment)

    def close(self) -> None:
        """Fold the log into the file."""
        with closing(self._db):
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def abandon(self) -> None:
        """Close without another write."""
        self._db.close()


def _values(row: Row) -> tuple[Any, ...]:
    number, entry = row
    ref = entry.object
    named = (ref.kind, ref.namespace, ref.name, ref.uid)
    return (number, entry.at, *named, entry.field, entry.old, entry.new, int(entry.effect), entry.about)


def read(path: Path, since: Timestamp, until: Timestamp, least: Effect) -> list[Row]:
    """Rows of a stretch of time, in any order: with weight the newest MOST, without weight the same. A connection of its own."""
    with closing(_reader(path)) as db:
        weighty = (
            f"SELECT {_COLUMNS} FROM changes WHERE at >= ? AND at <= ? AND effect >= {int(Effect.OTHER)} ORDER BY at DESC LIMIT {MOST}"
        )
        found = [_row(values) for values in db.execute(weighty, (since, until))]
        if least < Effect.OTHER:
            light = f"SELECT {_COLUMNS} FROM changes WHERE at >= ? AND at <= ? AND effect < {int(Effect.OTHER)} AND effect >= {int(least)}"
            found += [_row(values) for values in db.execute(f"{light} ORDER BY at DESC LIMIT {MOST}", (since, until))]
        return [row for row in found if row[1].effect >= least]


def read_spans(path: Path) -> list[Span]:
    """When somebody looked, oldest first."""
    with closing(_reader(path)) as db:
        return [Span(begin, end) for begin, end in db.execute("SELECT begin, end FROM spans WHERE end > begin ORDER BY begin")]


def read_kinds(path: Path) -> list[str]:
    """The kinds of which there are changes."""
    with closing(_reader(path)) as db:
        return [kind for (kind,) in db.execute("SELECT DISTINCT kind FROM changes")]


def _reader(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=_BUSY_S, isolation_level=None)
    db.execute("PRAGMA query_only = 1")
    return db


def _row(values: Sequence[Any]) -> Row:
    number, at, kind, namespace, name, uid, field, old, new, effect, about = values
    return number, FieldChange(ObjectRef(kind, namespace, name, uid), field, old, new, Effect(effect), at, "watched", about=about)


def merged(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Spans in order, those that touch or overlap as one."""
    found: list[Span] = []
    for span in sorted(spans, key=lambda entry: entry.begin):
        if found and span.begin <= found[-1].end:
            found[-1] = Span(found[-1].begin, max(found[-1].end, span.end))
        else:
            found.append(span)
    return tuple(found)


def set_aside(path: Path, moment: str) -> Path:
    """Rename a damaged file, with its log, so that nothing is lost; returns the new name."""
    aside = path.with_name(f"{path.name}.damaged-{moment}")
    number = 1
    while aside.exists():
        number += 1
        aside = path.with_name(f"{path.name}.damaged-{moment}-{number}")
    for suffix in ("", "-wal", "-shm"):
        source = path.with_name(path.name + suffix)
        if source.exists():
            source.rename(aside.with_name(aside.name + suffix))
    return aside
