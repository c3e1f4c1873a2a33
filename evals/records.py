"""The record of a run: a folder with `run.json` (what was run), `records.jsonl` (a line for each finished attempt), `fixes.jsonl` (what
came of fixes) and `transcripts/`. Lines are appended whole and flushed; a line that a kill cut short is dropped when the folder is opened
again.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from .answers import Answer
from .scoring import Fix

Outcome = Literal["answered", "no answer", "out of time", "failed", "not run"]
Size = Literal["small", "large", "unknown"]
"""Of a model, as whoever ran it says."""


class BadRecords(Exception):
    """A folder isn't a run's, or lines of it aren't records. Says where."""


class Timed(BaseModel):
    """An answer and when it was given, in seconds from the question."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    at: float
    answer: Answer


class Record(BaseModel):
    """One attempt of one agent in one arm at one case. `characters`: what tools answered; `model_seconds`: spent waiting for the model,
    where the adapter can tell. None: not known. `isolation`: how commands of the agent's were kept from the answer keys, or "not isolated"
    and why; empty where it runs none here, and in records from before it was told."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    case: str
    seed: int
    arm: str
    agent: str
    model: str
    repeat: int
    size: Size = "unknown"
    outcome: Outcome
    why: str = ""
    seconds: float
    model_seconds: float | None = None
    answers: tuple[Timed, ...] = ()
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    tool_calls: int | None = None
    characters: int | None = None
    refused_writes: int = 0
    isolation: str = ""
    transcript: str | None = None

    @property
    def id(self) -> str:
        return identity(self.case, self.arm, self.agent, self.model, self.repeat)

    @property
    def last(self) -> Answer | None:
        return self.answers[-1].answer if self.answers else None


def short(identity: str) -> str:
    """A name for files: readable, and different for different attempts."""
    readable = "".join(letter if letter.isalnum() or letter in "-.@" else "_" for letter in identity)[:120]
    return f"{readable}-{hashlib.sha256(identity.encode()).hexdigest()[:8]}"


def identity(case: str, arm: str, agent: str, model: str, repeat: int) -> str:
    """What makes an attempt the same one: case, arm, agent, model, and which repeat."""
    return "|".join((case, arm, agent, model, str(repeat)))


class Folder:
    """A run's folder, open for appending by the threads of one process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        (path / "transcripts").mkdir(parents=True, exist_ok=True)
        mend(path / "records.jsonl")
        self._records = {record.id: record for record in read(path)}

    def has(self, identity: str) -> bool:
        """Whether the attempt is on record; one that wasn't run may be tried again."""
        found = self._records.get(identity)
        return found is not None and found.outcome != "not run"

    def add(self, record: Record) -> None:
        """Append a record, on disk when this returns; an attempt that is on record already is left as it is."""
        with self._lock:
            if self.has(record.id):
                return
            append(self.path / "records.jsonl", record)
            self._records[record.id] = record

    def describe(self, what: dict[str, Any]) -> None:
        """Write run.json; what is there already must say the same of prompts and cases. Raises BadRecords."""
        target = self.path / "run.json"
        if target.exists():
            before = described(self.path)
            changed = sorted(key for key in ("prompt", "fingerprint", "seconds", "metric") if before.get(key) != what.get(key))
            known = before.get("arms", {})
            changed += sorted(f"arm {name}" for name, arm in what.get("arms", {}).items() if known.get(name, arm) != arm)
            if changed:
                raise BadRecords(f"{target}: another run, with other {', '.join(changed)}; take another --out")
            what = {**before, **what, "arms": {**before.get("arms", {}), **what.get("arms", {})}}
        temporary = target.with_suffix(".new")
        temporary.write_text(json.dumps(what, indent=1, sort_keys=True) + "\n")
        temporary.replace(target)


def append(path: Path, entry: BaseModel) -> None:
    """Append a line, on disk when this returns."""
    with path.open("a", encoding="utf-8") as file:
        file.write(entry.model_dump_json() + "\n")
        file.flush()
        os.fsync(file.fileno())


def mend(path: Path) -> None:
    """Drop a last line that has no end."""
    if not path.exists():
        return
    content = path.read_bytes()
    if content and not content.endswith(b"\n"):
        with path.open("r+b") as file:
            file.truncate(content.rfind(b"\n") + 1)


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file that have an end, numbered from 1: what a kill cut short, or is just being written, is none. Without empty
    ones; none where there is no file."""
    whole, _, _ = path.read_text(encoding="utf-8", errors="replace").rpartition("\n") if path.exists() else ("", "", "")
    return ((number, line) for number, line in enumerate(whole.split("\n"), 1) if line)


def read(path: Path) -> list[Record]:
    """The records of a folder, each attempt once: its first record, but for one that wasn't run. Raises BadRecords."""
    source = path / "records.jsonl"
    found: dict[str, Record] = {}
    for number, line in lines(source):
        try:
            record = Record.model_validate_json(line)
        except ValueError as error:
            raise BadRecords(f"{source}, line {number}: no record: {str(error).splitlines()[0]}") from None
        if record.id not in found or found[record.id].outcome == "not run":
            found[record.id] = record
    return list(found.values())


def described(path: Path) -> dict[str, Any]:
    """run.json of a folder, empty where there is none. Raises BadRecords."""
    source = path / "run.json"
    if not source.exists():
        return {}
    try:
        content = json.loads(source.read_text(encoding="utf-8"))
    except ValueError as error:
        raise BadRecords(f"{source}: {error}") from None
    if not isinstance(content, dict):
        raise BadRecords(f"{source}: not a JSON object")
    return content


def merge(sources: Iterable[Path], into: Path) -> int:
    """Put the shards of a run together; gives how many attempts there are. Raises BadRecords where they aren't of one run."""
    folder = Folder(into)
    for source in sources:
        if not (source / "run.json").exists():
            raise BadRecords(f"{source}: no run.json; a run's folder has one")
        folder.describe(described(source))
        for record in read(source):
            _take_transcript(source, into, record)
            folder.add(record)
        known = {(tried.case, tried.fix) for tried in fixes(into) if tried.outcome is not Fix.NOT_RUN}
        for tried in fixes(source):
            if (tried.case, tried.fix) not in known:
                add_fix(into, tried)
    return len(read(into))


def _take_transcript(source: Path, into: Path, record: Record) -> None:
    if record.transcript and (source / record.transcript).exists():
        (into / record.transcript).write_bytes((source / record.transcript).read_bytes())


class Tried(BaseModel):
    """What came of a fix: `fix` is its hash."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    case: str
    fix: str
    outcome: Fix
    why: str = ""


def add_fix(path: Path, tried: Tried) -> None:
    """Append what came of a fix."""
    mend(path / "fixes.jsonl")
    append(path / "fixes.jsonl", tried)


def fixes(path: Path) -> Iterator[Tried]:
    """What came of the fixes of a run. Raises BadRecords."""
    source = path / "fixes.jsonl"
    for number, line in lines(source):
        try:
            yield Tried.model_validate_json(line)
        except ValueError as error:
            raise BadRecords(f"{source}, line {number}: {str(error).splitlines()[0]}") from None
