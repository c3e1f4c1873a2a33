"""The report of a run as Markdown, made from the records alone; `page` makes the HTML page of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from .equal import MEASURES, Equal, equal
from .isolation import NAMESPACES
from .records import Record
from .results import DEVICES, MOMENTS, PLACEMENT, Figures, Result, about_devices, arms, by_size, guessed, name_of
from .scoring import Fix
from .statistics import Share, every_time, paired

OUTCOMES = ("answered", "no answer", "out of time", "failed")

GROUPS: tuple[tuple[str, Callable[[Result], str]], ...] = (
    ("What it is about", about_devices),
    ("Family", lambda entry: entry.case.fault.family.value),
    ("Difficulty", lambda entry: entry.case.fault.difficulty),
    ("Size of the cluster", lambda entry: entry.case.size),
)


def markdown(found: Sequence[Result], run: Mapping[str, Any], not_run: Iterable[Record], prices: Sequence[str] = ()) -> str:
    """The tables: a row an arm, then sizes of models, then groups, then comparisons of arms on the same cases. `prices`: what is said of
    them."""
    figures = arms(found)
    judged = all(own.fixes for own in figures.values())
    what = "cause and fix right" if judged else "cause right (fixes not carried out)"
    lines = [
        f"{len({entry.record.case for entry in found})} cases, {run.get('seconds', '?')} s each, split: {run.get('split', '?')}."
        f" Cases and keys: SHA-256 `{str(run.get('fingerprint', ''))[:16]}`.",
        "",
        f"Primary metric, fixed before the run: {run.get('metric', '')}",
        "",
        *(line for text in run.get("warnings", ()) for line in (text, "")),
        *_table(
            ("arm", f"{what} at 120 s: {DEVICES}", f"the same: {PLACEMENT}", "cause right at the end", "median time", "predictions right"),
            [
                (
                    name,
                    str(own.right_at(120, DEVICES)),
                    str(own.right_at(120, PLACEMENT)),
                    str(own.causes),
                    _seconds(own.time),
                    str(own.predicted),
                )
                for name, own in figures.items()
            ],
        ),
        "",
        *_equal(figures),
        *_table(
            (f"{what} at", *(f"{moment:.0f} s" for moment in MOMENTS)),
            [(name, *(str(own.right_at(moment)) for moment in MOMENTS)) for name, own in figures.items()],
        ),
        "",
        *_table(
            (
                "safety",
                "controls left alone",
                "faults called fine",
                "harmful",
                "confident and wrong",
                "refused writes",
                "values named",
            ),
            [
                (
                    name,
                    str(own.abstentions),
                    str(own.false_abstentions),
                    str(own.harmful),
                    str(own.confident_and_wrong),
                    str(own.refused_writes),
                    short(own.values),
                )
                for name, own in figures.items()
            ],
        ),
        "",
        *_table(
            (
                "per case that is right",
                "seconds",
                "the model's",
                "tokens read",
                "tokens written",
                "cost",
                "tool calls",
                "characters read",
            ),
            [
                (
                    name,
                    *(
                        _number(own.spent(what), len(own.known))
                        for what in ("seconds", "model_seconds", "tokens_in", "tokens_out", "cost", "tool_calls", "characters")
                    ),
                )
                for name, own in figures.items()
            ],
        ),
        "",
        *_table(
            ("fixes of faults whose cause is right", *(fix.value for fix in Fix)),
            [(name, *(str(own.came_of_fixes().get(fix, 0)) for fix in Fix)) for name, own in figures.items()],
        ),
        "",
        *_table(
            ("attempts", *OUTCOMES),
            [(name, *(str(own.outcomes().get(outcome, 0)) for outcome in OUTCOMES)) for name, own in figures.items()],
        ),
        "",
    ]
    lines += [f"Cost: {' '.join(prices)}", ""] if prices else []
    lines += _sizes(found, what)
    if not judged:
        waiting = sum(own.unjudged for own in figures.values())
        lines += [
            f"{waiting} fixes of right causes weren't carried out: `python -m evals fixes FOLDER`. Until then all shares are of the cause.",
            "",
        ]
    for title, group in GROUPS:
        tables = {name: own.by(group) for name, own in figures.items()}
        columns = sorted({column for table in tables.values() for column in table}, key=natural)
        if not columns:
            continue
        lines += [
            *_table((title, *tables), [(column, *(short(table.get(column)) for table in tables.values())) for column in columns]),
            "",
        ]
    lines += _predictions(figures)
    lines += _repeats(figures)
    lines += _comparisons(figures)
    lines += run.get("judges", ())
    lines += _isolation(found)
    missing = sorted({(name_of(record), record.why) for record in not_run})
    lines += [f"Not run: {name}: {why}." for name, why in missing] + ([""] if missing else [])
    if any(entry.record.agent == "first-answer" for entry in found):
        lines += ["first-answer is a regression figure of ours, not evidence: cases, codes and tool have the same authors.", ""]
    return "\n".join(lines)


def _sizes(found: Sequence[Result], what: str) -> list[str]:
    """A small model with one arm beside a large one with another."""
    rows = [
        (
            size,
            arm,
            str(len({entry.record.model for entry in own.every})),
            str(own.right_at(120)),
            _seconds(own.time),
            *(_number(own.spent(spent), len(own.known)) for spent in ("tokens_in", "tokens_out", "cost", "characters")),
        )
        for size, arms_of in by_size(found).items()
        for arm, own in arms_of.items()
    ]
    head = ("model's size", "arm", "models", f"{what} at 120 s", "median time", "tokens read per case that is right")
    return [*_table((*head, "written", "cost", "characters read"), rows), ""] if rows else []


def _predictions(figures: Mapping[str, Figures]) -> list[str]:
    """Questions before anything is broken, by kind, beside what one and the same answer to all of a kind would get at best."""
    tables = {name: own.predicted_by_kind() for name, own in figures.items()}
    rows = [
        (kind, *(short(table.get(kind)) for table in tables.values()), short(constant))
        for kind, constant in guessed(figures.values()).items()
    ]
    return [*_table(("Before anything is broken", *tables, "the best answer without looking"), rows), ""] if rows else []


def _repeats(figures: Mapping[str, Figures]) -> list[str]:
    most = max((len(runs) for own in figures.values() for runs in own.repeats().values()), default=0)
    if most < 2:
        return []
    rows = [(name, *(str(every_time(own.repeats(), number)) for number in range(1, most + 1))) for name, own in figures.items()]
    return [*_table(("right in each of the first", *map(str, range(1, most + 1))), rows), ""]


def _equal(figures: Mapping[str, Figures]) -> list[str]:
    """The headline: what the same solved cases took of two arms. Baselines aren't agents, and have no part in it."""
    names = [name for name, own in figures.items() if any(entry.record.arm != "none" for entry in own.every)]
    rows: list[tuple[str, ...]] = []
    for number, first in enumerate(names):
        for second in names[number + 1 :]:
            one, other = first, second
            found = equal(figures[one], figures[other])
            if found.both and found.taken["seconds until right"].one < found.taken["seconds until right"].other:
                one, other = second, first  # the slower one stands first
                found = equal(figures[one], figures[other])
            if found.both:
                right = f"{short(found.one)} and {short(found.other)} (by chance {found.chance:.2g})"
                rows.append((one, other, right, str(found.both), *(_taken(found, name) for name in MEASURES)))
    if not rows:
        return []
    head = ("at equal accuracy: one", "other", "right, of the cases of both", "right in both", *(f"median {name}" for name in MEASURES))
    return [*_table(head, rows), ""]


def _taken(found: Equal, measure: str) -> str:
    taken = found.taken.get(measure)
    if taken is None:
        return "not known"
    of = "" if taken.cases == found.both else f", of {taken.cases}"
    return f"{_plain(taken.one)} and {_plain(taken.other)}" + (f" ({_times(taken.times)}{of})" if taken.times is not None else of)


def _times(value: float) -> str:
    """How many times as much; of less than once the other way round."""
    return f"{value:,.3g}:1" if value >= 1 or value == 0 else f"1:{1 / value:,.3g}"


def _plain(value: float) -> str:
    return f"{value:,.4g}" if value < 1_000 else f"{value:,.0f}"


def _isolation(found: Sequence[Result]) -> list[str]:
    """Which attempts ran commands on the machine that has the answer keys, and what kept them from these."""
    counted = Counter((name_of(entry.record), entry.record.isolation) for entry in found if entry.record.isolation)
    lines: list[str] = []
    for (name, how), number in sorted(counted.items()):
        if how == NAMESPACES:
            said = "commands ran in namespaces without this repository, so that they couldn't read the answer keys; the network wasn't cut"
        else:
            said = f"{how}: commands could have read the answer keys on this machine"
        lines.append(f"Isolation: {name}, {number} {'attempt' if number == 1 else 'attempts'}: {said}.")
    return [*lines, ""] if lines else []


def _comparisons(figures: Mapping[str, Figures]) -> list[str]:
    names = list(figures)
    rows: list[tuple[str, ...]] = []
    for number, first in enumerate(names):
        for second in names[number + 1 :]:
            both = paired(figures[first].by_case(), figures[second].by_case())
            rows.append(
                (first, second, str(both.only_first), str(both.only_second), str(both.both), str(both.neither), f"{both.chance:.3g}")
            )
    head = ("one", "other", "only the one", "only the other", "both", "neither", "by chance (McNemar)")
    return [*_table(head, rows), ""] if rows else []


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    def line(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cell.replace('|', '/').replace(chr(10), ' ') for cell in cells)} |"

    return [line(head), line(["---"] * len(head)), *map(line, rows)]


def _seconds(value: float | None) -> str:
    return "never" if value is None else f"{value:.1f} s"


def _number(found: tuple[float, int] | None, of: int) -> str:
    if found is None:
        return "not known"
    value, known = found
    return _plain(value) + ("" if known == of else f" (known of {known} of {of})")


def short(found: Share | None) -> str:
    """Hits of how many, without the interval."""
    return "" if found is None else f"{found.hits}/{found.of}"


def natural(text: str) -> tuple[str, int]:
    """Sorts F2 before F10."""
    digits = "".join(letter for letter in text if letter.isdigit())
    return text.rstrip("0123456789").split("0")[0] if digits else text, int(digits or 0)
