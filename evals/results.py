"""Scores of a run's records, and figures over them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .cases import Asked, Case, fingerprint
from .fixes import hash_of
from .predictions import WORDS, Prediction, blind
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

    @property
    def cause(self) -> bool:
        return self.last is not None and self.last.cause

    @property
    def right(self) -> bool | None:
        """None where nobody knows: the fix wasn't carried out, or only an autoscaler would show."""
        return False if self.last is None else self.last.right

    @property
    def untried(self) -> bool:
        """Whether its fix is still to be carried out."""
        return self.last is not None and self.last.untried

    @property
    def unknowable(self) -> bool:
        """Whether no lab can show if its fix helps."""
        return self.last is not None and self.last.unknowable

    @property
    def confident_and_wrong(self) -> bool:
        return self.last is not None and not self.last.cause and self.last.confidence >= CONFIDENT


def results(records: Iterable[Record], cases: Mapping[str, Asked], tried: Iterable[Tried] = ()) -> list[Result]:
    """Scores of all records whose case is known, with what came of their fixes."""
    outcomes = {(entry.case, entry.fix): entry.outcome for entry in tried if entry.outcome is not Fix.NOT_RUN}
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


def unlike(run: Mapping[str, Any], records: Iterable[Record], cases: Mapping[str, Asked]) -> list[str]:
    """What keeps a report from being that of the run as it was made, in words: attempts that are still to be made (or are in a shard that
    isn't here), cases that aren't here, recordings or keys that are others now."""
    records = list(records)
    missing = sorted({record.case for record in records} - cases.keys())
    said: list[str] = []
    asked: dict[str, set[str]] = {}
    for record in records:
        asked.setdefault(name_of(record), set()).add(record.case)
    for name, own in sorted(asked.items()):
        left = run.get("cases", {}).keys() - own
        if left:
            said.append(f"Not finished: {name} has no attempt at {len(left)} of the run's {len(run['cases'])} cases.")
    if missing:
        some = f"{', '.join(missing[:3])}{', …' if len(missing) > 3 else ''}"
        said.append(
            f"Not scored: the attempts at {len(missing)} cases that aren't here ({some}); `--cases DIR` takes recordings from elsewhere."
        )
    chosen = [cases[name] for name in run.get("cases", {}) if name in cases]
    if len(chosen) == len(run.get("cases", {})) and run.get("fingerprint") not in (None, fingerprint(chosen)):
        said.append("Cases or keys have been changed since this run: its answers are scored here by those of now.")
    return said


@dataclass(frozen=True)
class Figures:
    """The figures of one arm with one agent and model, or with several models of one size. `fixes`: whether all proposed fixes were
    tried, so that right means cause and fix; otherwise everything here is about the cause alone. Shares are over faults and controls,
    each by its first attempt: repeats aren't more cases, and questions before anything is broken have figures of their own. Where right
    means cause and fix, an attempt whose fix only an autoscaler could judge is in no share (`known`); as an interim answer it isn't right
    yet.
    """

    every: Sequence[Result]
    fixes: bool

    @cached_property
    def found(self) -> list[Result]:
        first: dict[tuple[str, str], Result] = {}
        for entry in sorted(self.every, key=lambda entry: entry.record.repeat):
            first.setdefault((entry.record.case, name_of(entry.record)), entry)
        return list(first.values())

    def good(self, found: Score | None) -> bool:
        """Whether an answer counts as right."""
        return found is not None and bool(found.right if self.fixes else found.cause)

    @property
    def diagnoses(self) -> list[Result]:
        """Faults and controls, without the questions before anything is broken."""
        return [entry for entry in self.found if isinstance(entry.case, Case)]

    @property
    def known(self) -> list[Result]:
        """Those of which it can be known whether they are right."""
        return [entry for entry in self.diagnoses if not (self.fixes and entry.unknowable)]

    @property
    def questions(self) -> list[Result]:
        """The questions before anything is broken."""
        return [entry for entry in self.found if isinstance(entry.case, Prediction)]

    @property
    def predicted(self) -> Share:
        """Of the questions before anything is broken, how many got what was measured."""
        return Share(sum(entry.cause for entry in self.questions), len(self.questions))

    def predicted_by_kind(self) -> dict[str, Share]:
        """The same by the kind of question."""
        kinds: dict[str, list[bool]] = {}
        for entry in self.questions:
            kinds.setdefault(kind_of(entry), []).append(entry.cause)
        return {kind: Share(sum(own), len(own)) for kind, own in sorted(kinds.items())}

    def right_at(self, second: float, about: str | None = None) -> Share:
        """How many had a right answer as their last one by then; `about`: of these cases alone."""
        chosen = [entry for entry in self.known if about in (None, about_devices(entry))]
        return Share(sum(self.good(entry.at(second)) for entry in chosen), len(chosen))

    @property
    def causes(self) -> Share:
        return Share(sum(entry.cause for entry in self.diagnoses), len(self.diagnoses))

    @property
    def unjudged(self) -> int:
        """Faults whose cause is right and whose fix wasn't carried out."""
        return sum(entry.untried for entry in self.diagnoses)

    @property
    def time(self) -> float | None:
        """The median of the seconds until the answer was right and stayed so."""
        return median([self.moment(entry) for entry in self.known])

    def moment(self, entry: Result) -> float | None:
        """The second from which the answer was right and stayed so; None: never."""
        moment: float | None = None
        for timed, found in zip(entry.record.answers, entry.scores, strict=True):
            moment = (timed.at if moment is None else moment) if self.good(found) else None
        return moment

    @property
    def curve(self) -> list[tuple[float, float]]:
        return [(second, self.right_at(second).value or 0.0) for second in CURVE]

    @property
    def abstentions(self) -> Share:
        controls = [entry for entry in self.diagnoses if entry.case.control]
        return Share(sum(entry.cause for entry in controls), len(controls))

    @property
    def false_abstentions(self) -> int:
        """Faults of which it was said that nothing is wrong."""
        answers = (entry.record.last for entry in self.diagnoses if not entry.case.control)
        return sum(answer is not None and answer.nothing_wrong for answer in answers)

    @property
    def harmful(self) -> int:
        return sum(bool(entry.last and entry.last.harmful) for entry in self.diagnoses)

    @property
    def confident_and_wrong(self) -> int:
        return sum(entry.confident_and_wrong for entry in self.diagnoses)

    @property
    def refused_writes(self) -> int:
        return sum(entry.record.refused_writes for entry in self.every)

    @property
    def values(self) -> Share:
        """Of what whole answers name, how much the answers with the right cause name."""
        scores = [entry.last for entry in self.diagnoses if entry.last is not None and entry.cause and not entry.case.control]
        return Share(sum(found.values for found in scores), sum(found.of_values for found in scores))

    def came_of_fixes(self) -> dict[Fix, int]:
        """What came of the fixes of faults whose cause is right."""
        found: dict[Fix, int] = {}
        for entry in self.diagnoses:
            if entry.last is not None and entry.cause and not entry.case.control:
                found[entry.last.fix] = found.get(entry.last.fix, 0) + 1
        return found

    def outcomes(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for entry in self.every:
            found[entry.record.outcome] = found.get(entry.record.outcome, 0) + 1
        return found

    def spent(self, what: str) -> tuple[float, int] | None:
        """Tokens, cost, characters, calls or seconds per right case, over the attempts of which it is known, and of how many that is; None
        where it isn't known of any or none is right."""
        known = [entry for entry in self.known if getattr(entry.record, what) is not None]
        solved = sum(self.good(entry.last) for entry in known)
        return (sum(getattr(entry.record, what) for entry in known) / solved, len(known)) if solved else None

    def by(self, group: Callable[[Result], str]) -> dict[str, Share]:
        """The share of right answers by group."""
        grouped: dict[str, list[Result]] = {}
        for entry in self.known:
            grouped.setdefault(group(entry), []).append(entry)
        return {name: Share(sum(self.good(entry.last) for entry in found), len(found)) for name, found in sorted(grouped.items())}

    def repeats(self) -> dict[str, list[bool]]:
        """Whether each repeat of a case was right, in order; without cases of which that isn't known of one."""
        runs: dict[str, list[Result]] = {}
        for entry in self.every:
            if isinstance(entry.case, Case):
                runs.setdefault(entry.record.case, []).append(entry)
        runs = {case: found for case, found in runs.items() if not (self.fixes and any(entry.unknowable for entry in found))}
        return {
            case: [self.good(entry.last) for entry in sorted(found, key=lambda entry: entry.record.repeat)] for case, found in runs.items()
        }

    def by_case(self) -> dict[str, bool]:
        """Right in the first attempt."""
        return {entry.record.case: self.good(entry.last) for entry in self.known}

    def by_question(self) -> dict[str, bool]:
        """The same of the questions before anything is broken."""
        return {entry.record.case: entry.cause for entry in self.questions}


def arms(found: Sequence[Result]) -> dict[str, Figures]:
    """Figures by arm, agent and model: "shell+ours, anthropic:x". All are about the same thing: right, if every fix was tried."""
    grouped: dict[str, list[Result]] = {}
    for entry in found:
        grouped.setdefault(name_of(entry.record), []).append(entry)
    judged = not any(entry.untried for entry in found)
    return {name: Figures(results, judged) for name, results in sorted(grouped.items())}


def by_size(found: Sequence[Result]) -> dict[str, dict[str, Figures]]:
    """Figures by size of the model (small, large, unknown), then by arm, over all models of that size; baselines have none."""
    grouped: dict[str, dict[str, list[Result]]] = {}
    for entry in found:
        if entry.record.arm != "none":
            grouped.setdefault(entry.record.size, {}).setdefault(entry.record.arm, []).append(entry)
    judged = not any(entry.untried for entry in found)
    order = sorted(grouped, key=("small", "large", "unknown").index)
    return {size: {arm: Figures(own, judged) for arm, own in sorted(grouped[size].items())} for size in order}


def name_of(record: Record) -> str:
    """How an arm is called in reports; a baseline by itself."""
    who = f"{record.agent}:{record.model}" if record.model else record.agent
    return who if record.arm == "none" else f"{record.arm}, {who}"


DEVICES, PLACEMENT = "DRA and devices", "placement, quota and autoscalers"


def kind_of(entry: Result) -> str:
    """Which question before anything is broken it is, in words."""
    assert isinstance(entry.case, Prediction)
    return WORDS[entry.case.kind]


def guessed(figures: Iterable[Figures]) -> dict[str, Share]:
    """By kind of the questions that were asked, how many the best single answer to all of them gets."""
    asked: dict[str, dict[str, Prediction]] = {}
    for entry in (entry for own in figures for entry in own.questions):
        assert isinstance(entry.case, Prediction)
        asked.setdefault(kind_of(entry), {})[entry.case.name] = entry.case
    return {kind: Share(blind(list(own.values())), len(own)) for kind, own in sorted(asked.items())}


def about_devices(entry: Result) -> str:
    """What a fault or control is about."""
    return PLACEMENT if entry.case.fault.family.value in CLAIMLESS else DEVICES
