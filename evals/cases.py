"""Cases: a recording of a fault or control, the question as a user asks it, and what a right answer may name.

The answer key is made from golden.yaml and the recording, never from what our tools say. `split`: even seeds are for tuning, odd ones are
held out: whoever changes prompts, texts or tools looks at results of tuning cases alone. The repository has one recording of a fault, which
everybody has seen; `recorded_in` takes those that were made of other seeds (`python -m fault_injection record FAULT --seed N --into DIR`).
"""

from __future__ import annotations

import gzip
import hashlib
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from fault_injection.library import recordings
from fault_injection.library.declared import Fault
from fault_injection.library.recordings import Recording
from fault_injection.library.roles import Named, dump, roles_in
from fault_injection.library.shelf import FAULTS, Entry, entries
from fault_injection.library.strict import BadFile

from . import keys
from .parts import Parts

Object = dict[str, Any]
Split = Literal["tuning", "held-out", "all"]


class NoSuchCase(Exception):
    """A case isn't there. Says what is."""


@dataclass(frozen=True)
class Case(Parts):
    """One question about one recording."""

    entry: Entry
    release: str
    at: Path | None = None
    """Where its recording is; None: in the fault's own folder."""

    @property
    def name(self) -> str:
        """FAULT@RELEASE, or FAULT@RELEASE#SEED of a recording that isn't in the fault's folder."""
        return f"{self.entry.name}@{self.release}" + ("" if self.at is None else f"#{self.seed}")

    @property
    def fault(self) -> Fault:
        return self.entry.fault

    def read(self) -> Recording:
        return recordings.read(self.entry, self.release) if self.at is None else recordings.read_at(self.at, self._again)

    @property
    def _again(self) -> str:
        assert self.at is not None
        return f"{self.entry.name} --seed N --into {self.at.parent}"

    @property
    def snapshot(self) -> Path:
        """The file that the replay server serves."""
        return recordings.path_of(self.entry, self.release) if self.at is None else self.at

    @property
    def seed(self) -> int:
        return self.recording.told["seed"]

    @property
    def split(self) -> Split:
        return "held-out" if self.seed % 2 else "tuning"

    @property
    def control(self) -> bool:
        return self.fault.kind == "control"

    @property
    def nodes(self) -> int:
        return sum(item.get("kind") == "Node" for item in self.recording.items)

    @property
    def size(self) -> str:
        """Nodes of the cluster, in classes."""
        return next(f"up to {most} nodes" for most in (10, 100, 1_000, 10_000, 10**9) if self.nodes <= most)

    # --- the question -------------------------------------------------------------------------------------------------------------

    @property
    def asked(self) -> Named:
        """What the user asks about."""
        (role,) = {role for template in self.golden.ask.values() for role in roles_in(template)}
        found = self.recording.roles[role]
        assert isinstance(found, Named), role
        return found

    @property
    def question(self) -> str:
        """As a user writes it: what is meant by name, or, where nothing else waits, only where; drawn from the name and seed, the same in
        every arm."""
        draw = random.Random(f"question {self.name} {self.seed}")
        asked = self.asked
        what = f"{asked.kind.lower()} {asked.name} in namespace {asked.namespace}"
        named = (
            f"{what[0].upper()}{what[1:]} isn't starting. What is the reason, and what would you change?",
            f"Why doesn't {what} run? Tell me the cause and the smallest fix.",
            f"Is anything wrong with {what}? If so, what, and how do I fix it?",
        )
        where = (
            f"Something in namespace {asked.namespace} isn't starting. What is the reason, and what would you change?",
            f"Is anything wrong in namespace {asked.namespace}? If so, what, and how do I fix it?",
        )
        return draw.choice((*named, *(where if self._waits_alone() else ())))

    def _waits_alone(self) -> bool:
        """Whether the asked pod is the only one of its namespace that has no node."""
        waiting = [
            item["metadata"]["name"]
            for item in self.recording.items
            if item.get("kind") == "Pod" and item["metadata"].get("namespace") == self.asked.namespace and not item["spec"].get("nodeName")
        ]
        return self.asked.kind == "Pod" and waiting == [self.asked.name]

    def key(self) -> Object:
        """What its fingerprint is made of beside the recording: what is right, who plays which part in it, and the logs that are served."""
        more = [entry.model_dump(mode="json") for entry in keys.of_fault(self.entry.name)]
        recording = self.recording
        return {**self.golden.model_dump(mode="json"), "more": more, "roles": dump(recording.roles), "logs": recording.logs}

    @property
    def answered_by(self) -> str:
        """The field of an answer without which it answers nothing; of a fault "nothing_wrong" does as well."""
        return "mechanism"


def cases(chosen: Sequence[str] = (), split: Split = "all") -> list[Case]:
    """All cases, or those of the faults (or FAULT@RELEASE) that are named. Raises NoSuchCase."""
    found = [Case(entry, release) for entry in entries() for release in recordings.recorded(entry)]
    known = {case.name for case in found} | {case.entry.name for case in found}
    for name in chosen:
        if name not in known:
            raise NoSuchCase(f"no case {name!r}; there are {len(found)}: `python -m evals list`")
    return [
        case
        for case in found
        if (not chosen or case.name in chosen or case.entry.name in chosen) and (split == "all" or case.split == split)
    ]


def recorded_in(folder: Path) -> list[Case]:
    """The cases of a folder in which `record --into` has written, and of the folders in it, by name. Raises NoSuchCase, BadFile."""
    if not folder.is_dir():
        raise NoSuchCase(f"{folder}: there is no such folder; `python -m fault_injection record FAULT --seed N --into {folder}` makes it")
    known = {entry.name for entry in entries()}
    found: dict[str, Case] = {}
    for source in sorted(folder.rglob("*.json.gz")):
        name = source.name.removesuffix(".json.gz")
        if name not in known:
            raise NoSuchCase(f"{source}: no fault is called {name!r}; `record --into` writes FAULT.json.gz")
        told = recordings.read_at(source, f"{name} --seed N --into {source.parent}").told
        if not isinstance(told.get("release"), str) or not isinstance(told.get("seed"), int):
            raise BadFile(f"{source}: the roles beside it say no release and seed")
        case = Case(Entry(FAULTS / name, told["release"]), told["release"], source)
        if case.name in found:
            raise NoSuchCase(f"{source}: the same fault, release and seed as {found[case.name].at}; one of the two is enough")
        found[case.name] = case
    if not found:
        raise NoSuchCase(f"{folder}: no recordings; `python -m fault_injection record FAULT --seed N --into {folder}` makes some")
    return [found[name] for name in sorted(found)]


class Asked(Protocol):
    """A case as runs and reports see it: a fault, or a question before anything is broken."""

    @property
    def name(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def split(self) -> str: ...
    @property
    def question(self) -> str: ...
    @property
    def snapshot(self) -> Path: ...
    @property
    def fault(self) -> Fault: ...
    @property
    def control(self) -> bool: ...
    @property
    def nodes(self) -> int: ...
    @property
    def size(self) -> str: ...
    @property
    def answered_by(self) -> str: ...
    def key(self) -> Object: ...


def fingerprint(chosen: Sequence[Asked]) -> str:
    """SHA-256 over the cases: recordings, questions and keys. Published before a held-out run, it shows that nothing was changed after."""
    digest = hashlib.sha256()
    for case in sorted(chosen, key=lambda case: case.name):
        digest.update(json.dumps([case.name, case.seed, case.question, case.key()], sort_keys=True).encode())
        digest.update(gzip.decompress(case.snapshot.read_bytes()))
    return digest.hexdigest()
