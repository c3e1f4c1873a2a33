"""Scores of a run's records, and figures over them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from .cases import Asked, Case
from .fixes import hash_of
from .records import Record, Tried
from .running import CONFIDENT
from .scoring import Fix, Score, score
from .statistics import Share, median

MOMENTS = (30.0, 60.0, 120.0, 300.0)
"""Seconds at which it is looked how many are right."""
CURVE = tuple(float(second) for second in (*range(0, 30, 2), *range(30, 120, 5), *range(120, 301, 15)))
CLAIMLESS = frozenset({"F12", "F15", "F16", "F17"})
"""Families in which devices aren't at the root: quota, autoscalers, placement."""


@dataclass(frozen=True)
class Result:
    """A record with the scores of its answers, in order."""

    record: Record
    case: Asked
    scores: tuple[Score, ...]

    @property
    def last(self) -> Score | None:
        return self.scores[-1] if self.scores else None

    def at(self, second: float) -> Score | None:
        """The score of the last answer that was there by then."""
        return next(
            (found for timed, found in zip(reversed(self.record.answers), reversed(self.scores), strict=True) if timed.at <= second), None
        )

    @cached_property
    def time_to_cause(self) -> float | None:
        """Seconds until the answer was right and stayed so."""
        moment: float | None = None
        for timed, found in zip(self.record.answers, self.scores, strict=True):
            moment = (timed.at if moment is None else moment) if found.cause else None
        return moment

    @property
    def cause(self) -> bool:
        return self.last is not None and self.last.cause

    @property
    def right(self) -> bool | None:
        """None where the fix wasn't carried out."""
        return False if self.last is None else self.last.right

    @property
    def confident_and_wrong(self) -> bool:
        return self.last is not None and not self.last.cause and self.last.confidence >= CONFIDENT


def results(records: Iterable[Record], cases: Mapping[str, Asked], tried: Iterable[Tried] = ()) -> list[Result]:
    """Scores of all records whose case is known, with what came of their fixes."""
    outcomes = {(entry.case, entry.fix): entry.outcome for entry in tried}
    return [
        Result(
            record,
            case,
            tuple(
                score(case, timed.answer, outcomes.get((record.case, hash_of(timed.answer.fix)), Fix.NOT_RUN)) for timed in record.answers
            ),
        )
        for record in records
        if (case := cases.get(record.case)) is not None and record.outcome != "not run"
    ]


@dataclass(frozen=True)
class Figures:
    """The figures of one arm with one agent and model."""

    found: Sequence[Result]

    @property
    def faults(self) -> list[Result]:
        return [entry for entry in self.diagnoses if not entry.case.control]

    @property
    def diagnoses(self) -> list[Result]:
        """Faults and controls, without the questions for a number."""
        return [entry for entry in self.found if isinstance(entry.case, Case)]

    @property
    def numbers(self) -> Share:
        """Of the questions for a number, how many got the measured one."""
        asked = [entry for entry in self.found if not isinstance(entry.case, Case)]
        return Share(sum(entry.cause for entry in asked), len(asked))

    @property
    def controls(self) -> list[Result]:
        return [entry for entry in self.found if entry.case.control]

    def cause_at(self, second: float, among: Sequence[Result] | None = None) -> Share:
        chosen = self.diagnoses if among is None else among
        return Share(sum((found := entry.at(second)) is not None and found.cause for entry in chosen), len(chosen))

    @property
    def right(self) -> Share:
        """Of the faults whose fix was carried out, or that need none to be wrong."""
        judged = [entry for entry in self.faults if entry.right is not None]
        return Share(sum(bool(entry.right) for entry in judged), len(judged))

    @property
    def unjudged(self) -> int:
        """Faults whose cause is right and whose fix wasn't carried out."""
        return sum(entry.right is None for entry in self.faults)

    @property
    def time(self) -> float | None:
        return median([entry.time_to_cause for entry in self.diagnoses])

    @property
    def curve(self) -> list[tuple[float, float]]:
        return [(second, self.cause_at(second).value or 0.0) for second in CURVE]

    @property
    def abstentions(self) -> Share:
        return Share(sum(entry.cause for entry in self.controls), len(self.controls))

    @property
    def false_abstentions(self) -> int:
        return sum(entry.last is not None and entry.last.abstained and not entry.cause for entry in self.faults)

    @property
    def harmful(self) -> int:
        return sum(bool(entry.last and entry.last.harmful) for entry in self.found)

    @property
    def confident_and_wrong(self) -> int:
        return sum(entry.confident_and_wrong for entry in self.found)

    @property
    def refused_writes(self) -> int:
        return sum(entry.record.refused_writes for entry in self.found)

    def spent(self, what: str) -> float | None:
        """Tokens, cost, characters, calls or seconds per case whose cause is right; None where it isn't known or none is."""
        values = [getattr(entry.record, what) for entry in self.found]
        solved = sum(entry.cause for entry in self.found)
        return None if not solved or any(value is None for value in values) else sum(values) / solved

    def by(self, group: Callable[[Result], str]) -> dict[str, Share]:
        """The share of right causes by group."""
        grouped: dict[str, list[Result]] = {}
        for entry in self.found:
            grouped.setdefault(group(entry), []).append(entry)
        return {name: Share(sum(entry.cause for entry in found), len(found)) for name, found in sorted(grouped.items())}

    def repeats(self) -> dict[str, list[bool]]:
        """Whether each repeat of a case was right, in order."""
        runs: dict[str, list[Result]] = {}
        for entry in self.found:
            runs.setdefault(entry.record.case, []).append(entry)
        return {case: [entry.cause for entry in sorted(found, key=lambda entry: entry.record.repeat)] for case, found in runs.items()}

    def by_case(self) -> dict[str, bool]:
        """Right in every repeat."""
        return {case: all(found) for case, found in self.repeats().items()}


def arms(found: Sequence[Result]) -> dict[str, Figures]:
    """Figures by arm, agent and model: "shell+ours, anthropic:x"."""
    grouped: dict[str, list[Result]] = {}
    for entry in found:
        grouped.setdefault(name_of(entry.record), []).append(entry)
    return {name: Figures(results) for name, results in sorted(grouped.items())}


def name_of(record: Record) -> str:
    """How an arm is called in reports; a baseline by itself."""
    who = f"{record.agent}:{record.model}" if record.model else record.agent
    return who if record.arm == "none" else f"{record.arm}, {who}"


def about_devices(entry: Result) -> str:
    """What a case is about."""
    if not isinstance(entry.case, Case):
        return "before anything is broken"
    return "placement, quota and autoscalers" if entry.case.fault.family.value in CLAIMLESS else "DRA and devices"
