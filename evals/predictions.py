"""Questions before anything is broken, each in the scene of a fault: how many pods like this one would start now, would this pod start,
which of these nodes would let the waiting pod start. `evals/predictions/KIND-FAULT.json` has what is asked and what was measured
(`measuring`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pydantic import Field, model_validator

from fault_injection.library.declared import Fault
from fault_injection.library.shelf import entry
from fault_injection.library.strict import Part, read

from .cases import Asked, Case, NoSuchCase, Object, Split, cases, recorded_in

SHELF = Path(__file__).parent / "predictions"
TIMES = 3
"""Measurements that must agree."""


class _Measured(Part):
    """Which fault's scene, at which seed, with how many innocent nodes, and how often it was measured."""

    fault: str
    release: str
    seed: int
    innocents: int | None
    times: int = Field(ge=TIMES)


class Copies(_Measured):
    """So many pods of a manifest started, of `of` that were made one after the other."""

    manifest: str
    of: int = Field(ge=1)
    started: int = Field(ge=0)


class Fits(_Measured):
    """Whether the pod of a manifest started."""

    manifest: str
    starts: bool


class Candidate(Part):
    """A node that may be added, with its slices."""

    name: str
    manifest: str


class Nodes(_Measured):
    """Which of these nodes, each added alone, let the pod start that waits."""

    candidates: tuple[Candidate, ...] = Field(min_length=2)
    would_do: tuple[str, ...]

    @model_validator(mode="after")
    def _of_these(self) -> Nodes:
        if not set(self.would_do) <= {candidate.name for candidate in self.candidates}:
            raise ValueError("would_do names candidates")
        return self


Measured = Copies | Fits | Nodes

KINDS: dict[str, type[Copies] | type[Fits] | type[Nodes]] = {"copies": Copies, "fits": Fits, "nodes": Nodes}
"""What is asked, as files and cases are called → what is kept of it."""

WORDS = {"copies": "how many would start", "fits": "would it start", "nodes": "which node to add"}
"""The same for readers."""

ANSWERED_BY = {"copies": "number", "fits": "yes", "nodes": "choices"}
"""The field of an answer that answers it."""


@dataclass(frozen=True)
class Prediction:
    """A question with its truth, as a case of a run."""

    path: Path

    @property
    def kind(self) -> str:
        """copies, fits or nodes."""
        return self.path.stem.partition("-")[0]

    @cached_property
    def measured(self) -> Measured:
        return read(self.path, KINDS[self.kind])

    @cached_property
    def case(self) -> Case:
        """The case in whose recording it is asked."""
        return Case(entry(self.measured.fault), self.measured.release)

    @property
    def name(self) -> str:
        """KIND-FAULT@RELEASE."""
        return f"{self.path.stem}@{self.measured.release}"

    @property
    def fault(self) -> Fault:
        return self.case.fault

    @property
    def snapshot(self) -> Path:
        return self.case.snapshot

    @property
    def seed(self) -> int:
        return self.measured.seed

    @property
    def split(self) -> str:
        return self.case.split

    @property
    def control(self) -> bool:
        return False

    @property
    def nodes(self) -> int:
        return self.case.nodes

    @property
    def size(self) -> str:
        return self.case.size

    @property
    def question(self) -> str:
        match self.measured:
            case Copies() as found:
                return (
                    f"I am about to create the template and {found.of} pods like the one below, one after the other, each with a name of"
                    " its own. How many of these pods would be bound to a node right away, if nothing else changes and nobody is evicted?"
                    f" Answer with `number`.\n\n```yaml\n{found.manifest}```"
                )
            case Fits() as found:
                return (
                    "I am about to create the template and the pod below. Would the pod be bound to a node right away, if nothing else"
                    f" changes and nobody is evicted? Answer with `yes`: true or false.\n\n```yaml\n{found.manifest}```"
                )
            case Nodes() as found:
                of = self.case.asked
                listed = "\n\n".join(f"{candidate.name}:\n\n```yaml\n{candidate.manifest}```" for candidate in found.candidates)
                return (
                    f"Pod {of.name} in namespace {of.namespace} waits, and I can add one node to the cluster, with what its drivers would"
                    " publish: one of those below. With which of them would the pod be bound right away, if nothing else changes? Answer"
                    f" with `choices`: the names of all that would do, each taken alone; [] if none would.\n\n{listed}"
                )

    @property
    def answered_by(self) -> str:
        """The field of an answer without which it answers nothing."""
        return ANSWERED_BY[self.kind]

    def key(self) -> Object:
        """What its fingerprint is made of beside the recording."""
        return self.measured.model_dump(mode="json")


def blind(found: Sequence[Prediction]) -> int:
    """How many of these questions, all of one kind, the best single answer to all of them gets."""
    truths = Counter(_truth(entry.measured) for entry in found)
    return max(truths.values(), default=0)


def _truth(measured: Measured) -> object:
    if isinstance(measured, Copies):
        return measured.started
    return measured.starts if isinstance(measured, Fits) else frozenset(measured.would_do)


def predictions() -> list[Prediction]:
    """All that were measured, by name."""
    return [Prediction(path) for path in sorted(SHELF.glob("*.json"))]


def everything(chosen: Sequence[str] = (), split: Split = "all", folder: Path | None = None) -> list[Asked]:
    """All cases, faults and questions before anything is broken, or those that are named, with or without the release; `folder`: those
    that are recorded there, in their stead. Raises NoSuchCase."""
    found: list[Asked] = [*cases(), *predictions()] if folder is None else [*recorded_in(folder)]
    of = {case.name: {case.name, case.name.partition("@")[0]} for case in found}
    known = set().union(*of.values())
    for name in chosen:
        if name not in known:
            where = "" if folder is None else f" --cases {folder}"
            raise NoSuchCase(f"no case {name!r}; there are {len(found)}: `python -m evals list{where}`")
    return [case for case in found if (not chosen or of[case.name] & set(chosen)) and split in ("all", case.split)]
