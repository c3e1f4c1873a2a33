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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Protocol

from fault_injection.library import recordings
from fault_injection.library.declared import Fault
from fault_injection.library.golden import Golden
from fault_injection.library.recordings import Recording
from fault_injection.library.roles import Named, dump, filled, filled_in, roles_in
from fault_injection.library.shelf import FAULTS, Entry, entries
from fault_injection.library.strict import BadFile

from . import keys
from .answers import Ref
from .keys import ObjectKey, key, key_of
from .mechanisms import Mechanism, of_code

Object = dict[str, Any]
Split = Literal["tuning", "held-out", "all"]


class NoSuchCase(Exception):
    """A case isn't there. Says what is."""


@dataclass(frozen=True)
class Case:
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

    @property
    def golden(self) -> Golden:
        return self.entry.golden

    @cached_property
    def recording(self) -> Recording:
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

    # --- the key ------------------------------------------------------------------------------------------------------------------

    @cached_property
    def mechanisms(self) -> frozenset[Mechanism]:
        """What the cause may be called, of one object or another."""
        return frozenset[Mechanism]().union(*(mechanisms for _, mechanisms in self.causes))

    @cached_property
    def causes(self) -> tuple[tuple[frozenset[ObjectKey], frozenset[Mechanism]], ...]:
        """Objects, and what the cause may be called where one of them is blamed: what golden.yaml names by the first blocker's code, and
        the entries of the key."""
        golden = of_code(self.golden.blockers[0].code) if self.golden.blockers else frozenset[Mechanism]()
        found = [(self._golden, golden)]
        for entry in keys.of_fault(self.entry.name):
            ended = set(keys.objects(entry.delete, self.recording))
            objects = frozenset(self._with_kin(set(keys.objects(entry.named, self.recording)), ended))
            found.append((objects if entry.named else self._golden, frozenset(entry.mechanisms) or golden))
        return tuple(found)

    def mechanisms_of(self, blamed: ObjectKey) -> frozenset[Mechanism]:
        """What the cause may be called where this is blamed."""
        return frozenset[Mechanism]().union(*(mechanisms for objects, mechanisms in self.causes if blamed in objects))

    def _keyed(self, *fields: str) -> set[ObjectKey]:
        entries = [entry for key in keys.of_fault(self.entry.name) for field in fields for entry in getattr(key, field)]
        return set(keys.objects(entries, self.recording))

    @cached_property
    def guilty(self) -> frozenset[ObjectKey]:
        """Objects that are to change: the blockers', what the golden fixes change, delete or make, what the key lets change, and what
        stands for these: a claim for its template, what a pod is owned by for the pod, the claims that it holds.
        """
        return self._golden | frozenset(self._with_kin(self._keyed("change", "delete"), self._keyed("delete")))

    @cached_property
    def _golden(self) -> frozenset[ObjectKey]:
        return frozenset(self._with_kin(set(self._named_by_golden()), self._ended))

    @cached_property
    def deletable(self) -> frozenset[ObjectKey]:
        """Objects that may be deleted: what golden fixes delete, with what stands for it, and what the key lets be deleted. That something
        may change is no leave to delete it."""
        ended = self._ended | self._keyed("delete")
        return frozenset(self._with_kin(ended, ended))

    @property
    def _ended(self) -> set[ObjectKey]:
        return {
            key_of(of)
            for trial in self.golden.fixes
            for change in trial.change
            if change.delete and isinstance(of := self.recording.roles.get(change.of or ""), Named)
        }

    @cached_property
    def blamable(self) -> frozenset[ObjectKey]:
        """The guilty, and what else an answer may blame without having a right to change it."""
        return self.guilty | frozenset(self._with_kin(self._keyed("blame"), set()))

    @cached_property
    def neutral(self) -> frozenset[ObjectKey]:
        """Objects that an answer may also name: what the user asked about and its claims, and what the golden values and cause speak of."""
        found = {key_of(self.asked)}
        for template in (*(spelling for spellings in self._spellings() for spelling in spellings), self.golden.cause):
            found |= {key_of(of) for role in roles_in(template) if isinstance(of := self.recording.roles.get(role), Named)}
        return frozenset(self._with_kin(found, found))

    @cached_property
    def traps(self) -> frozenset[ObjectKey]:
        """What the changes that don't help change, and what must stay untouched, but for what the fixes change too."""
        roles = self.recording.roles
        named = [change.of for trial in self.golden.not_fixes for change in trial.change]
        named += list(self.golden.intent.untouched) if self.golden.intent is not None else []
        found = {key_of(of) for role in named if isinstance(of := roles.get(role or ""), Named)}
        return frozenset(self._with_kin(found, found) - self.guilty)

    @cached_property
    def present(self) -> frozenset[ObjectKey]:
        """Every object of the recording."""
        return frozenset(
            key(item["kind"], item["metadata"]["name"], item["metadata"].get("namespace") or "")
            for item in self.recording.items
            if "metadata" in item
        )

    @cached_property
    def own(self) -> frozenset[ObjectKey]:
        """What the user asked about, with its claims, their templates and its owners: what a fix may change without asking anybody."""
        asked = {key_of(self.asked)}
        claims = self._with_kin(asked, asked)
        return frozenset(self._with_kin(claims, asked))

    @property
    def ends(self) -> int:
        """How many pods a golden fix ends at most."""
        pods = [sum(self._is_pod(change.of) for change in trial.change if change.delete) for trial in self.golden.fixes]
        return max(pods, default=0)

    def _is_pod(self, role: str | None) -> bool:
        of = self.recording.roles.get(role or "")
        return isinstance(of, Named) and of.kind == "Pod"

    @property
    def held(self) -> bool:
        """Whether others hold what it wants, so that the end of any of them that makes it start is as good as the golden one."""
        return self.golden.verdict == "blocked by holders"

    def key(self) -> Object:
        """What its fingerprint is made of beside the recording: what is right, who plays which part in it, and the logs that are served."""
        more = [entry.model_dump(mode="json") for entry in keys.of_fault(self.entry.name)]
        recording = self.recording
        return {**self.golden.model_dump(mode="json"), "more": more, "roles": dump(recording.roles), "logs": recording.logs}

    @property
    def answered_by(self) -> str:
        """The field of an answer without which it answers nothing; of a fault "nothing_wrong" does as well."""
        return "mechanism"

    @property
    def values(self) -> tuple[tuple[str, ...], ...]:
        """What a whole answer names, each in the spellings of which one will do."""
        roles = self.recording.roles
        return tuple(tuple(filled(spelling, roles) for spelling in spellings) for spellings in self._spellings())

    def _spellings(self) -> Iterator[tuple[str, ...]]:
        for value in self.golden.values:
            yield (value,) if isinstance(value, str) else value

    def _named_by_golden(self) -> Iterator[ObjectKey]:
        roles = self.recording.roles
        for blocker in self.golden.blockers:
            if blocker.object is not None:
                kind, _, full = filled(blocker.object, roles).partition(" ")
                namespace, _, name = full.rpartition("/")
                yield key(kind, name, namespace)
        for trial in self.golden.fixes:
            for change in trial.change:
                if change.create is not None:
                    made = filled_in(change.create, roles)
                    yield key(made["kind"], made["metadata"]["name"], made["metadata"].get("namespace") or "")
                elif isinstance(of := roles.get(change.of or ""), Named):
                    yield key_of(of)

    def _with_kin(self, found: set[ObjectKey], ended: set[ObjectKey]) -> set[ObjectKey]:
        """Both ways between a pod's generated claims and their template; from a pod to its owners, from one that is ended to its claims."""
        grown = set(found)
        for item in self.recording.items:
            if item.get("kind") != "Pod":
                continue
            metadata, pod = item["metadata"], key("Pod", item["metadata"]["name"], item["metadata"].get("namespace") or "")
            statuses = (item.get("status") or {}).get("resourceClaimStatuses") or ()
            generated = {entry["name"]: entry.get("resourceClaimName") for entry in statuses}
            for entry in item["spec"].get("resourceClaims") or ():
                template = entry.get("resourceClaimTemplateName")
                claim = generated.get(entry["name"]) if template else entry.get("resourceClaimName")
                of_template = key("ResourceClaimTemplate", template or "", metadata.get("namespace") or "")
                of_claim = key("ResourceClaim", claim or "", metadata.get("namespace") or "")
                if pod in ended:
                    grown.add(of_claim)
                if template and of_template in found:
                    grown.add(of_claim)
                if template and of_claim in found:
                    grown.add(of_template)
            if pod in found:
                owners = metadata.get("ownerReferences") or ()
                grown |= {key(owner["kind"], owner["name"], metadata.get("namespace") or "") for owner in owners}
        return {entry for entry in grown if entry[1]}


def find(ref: Ref, among: Iterable[ObjectKey]) -> ObjectKey | None:
    """The object that a reference names: plurals count as kinds, "namespace/name" as a name, a namespace that is left out as any."""
    kind = ref.kind.lower().rsplit("/", 1)[-1].partition(".")[0]
    namespace, _, name = ref.name.rpartition("/")
    namespace = namespace or ref.namespace or ""
    for entry in sorted(among):
        if (
            name == entry[1]
            and kind in (entry[0], f"{entry[0]}s", f"{entry[0]}es")
            and (not namespace or not entry[2] or namespace == entry[2])
        ):
            return entry
    return None


def names(ref: Ref, among: Iterable[ObjectKey]) -> bool:
    """Whether a reference names one of these."""
    return find(ref, among) is not None


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
