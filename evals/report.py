"""The report of a run: Markdown for a README, and one self-contained HTML page with plots and transcripts. Made from the records alone."""

from __future__ import annotations

import html
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .isolation import NAMESPACES
from .records import Record
from .results import CURVE, DEVICES, MOMENTS, PLACEMENT, Figures, Result, about_devices, arms, by_size, guessed, name_of
from .scoring import Fix, Score
from .statistics import Share, every_time, paired

MOST_TRANSCRIPT = 20_000
"""Characters of a transcript in the page."""
FEW = 100
"""Transcripts in the page; the rest are files beside it."""

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
                    _short(own.values),
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
        columns = sorted({column for table in tables.values() for column in table}, key=_natural)
        if not columns:
            continue
        lines += [
            *_table((title, *tables), [(column, *(_short(table.get(column)) for table in tables.values())) for column in columns]),
            "",
        ]
    lines += _predictions(figures)
    lines += _repeats(figures)
    lines += _comparisons(figures)
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
        (kind, *(_short(table.get(kind)) for table in tables.values()), _short(constant))
        for kind, constant in guessed(figures.values()).items()
    ]
    return [*_table(("Before anything is broken", *tables, "the best answer without looking"), rows), ""] if rows else []


def _repeats(figures: Mapping[str, Figures]) -> list[str]:
    most = max((len(runs) for own in figures.values() for runs in own.repeats().values()), default=0)
    if most < 2:
        return []
    rows = [(name, *(str(every_time(own.repeats(), number)) for number in range(1, most + 1))) for name, own in figures.items()]
    return [*_table(("right in each of the first", *map(str, range(1, most + 1))), rows), ""]


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
    return (f"{value:,.4g}" if value < 1_000 else f"{value:,.0f}") + ("" if known == of else f" (known of {known} of {of})")


def _short(found: Share | None) -> str:
    return "" if found is None else f"{found.hits}/{found.of}"


def _natural(text: str) -> tuple[str, int]:
    digits = "".join(letter for letter in text if letter.isdigit())
    return text.rstrip("0123456789").split("0")[0] if digits else text, int(digits or 0)


# --- the page -------------------------------------------------------------------------------------------------------------------------

_STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color:#1c1f24}
table{border-collapse:collapse;margin:1rem 0;font-size:13px}
td,th{border:1px solid #ccd;padding:.25rem .6rem;text-align:left;vertical-align:top}
th{background:#f2f4f8}svg{max-width:100%;height:auto}
pre{white-space:pre-wrap;overflow-wrap:anywhere;font-size:12px;background:#f6f7f9;padding:.6rem}
details{margin:.3rem 0}.right{color:#17692c}.wrong{color:#a12622}
"""
_COLOURS = ("#2258a5", "#b3541e", "#2d7d46", "#7a3b96", "#8a6d00", "#0f7c86", "#b0306a", "#555")


def page(found: Sequence[Result], run: Mapping[str, Any], not_run: Sequence[Record], folder: Path, prices: Sequence[str] = ()) -> str:
    """The HTML page; no network, no script."""
    figures = arms(found)
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>",
        f"<title>Evaluation</title><style>{_STYLE}</style><h1>Evaluation</h1>",
        _tables(markdown(found, run, not_run, prices)),
        "<h2>Right over time</h2>",
        over_time(figures),
        "<h2>Families</h2>",
        heat_map(figures),
        "<h2>Cost against accuracy</h2>",
        cost(figures),
        f"<h2>Cases</h2><p>Transcripts of the first {FEW}, cut after {MOST_TRANSCRIPT} characters; all are in the folder transcripts.</p>",
        *_cases(found, folder),
        "</html>",
    ]
    return "\n".join(parts) + "\n"


def _tables(text: str) -> str:
    """Our own Markdown tables and paragraphs as HTML."""
    made: list[str] = []
    rows: list[list[str]] = []

    def close() -> None:
        if rows:
            head, *rest = rows
            made.append(
                f"<table><tr>{''.join(f'<th>{cell}</th>' for cell in head)}</tr>"
                + "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rest if set(row) != {"---"})
                + "</table>"
            )
            rows.clear()

    for line in text.splitlines():
        if line.startswith("| "):
            rows.append([html.escape(cell) for cell in line[2:-2].split(" | ")])
            continue
        close()
        if line:
            made.append(f"<p>{html.escape(line)}</p>")
    close()
    return "\n".join(made)


def over_time(figures: Mapping[str, Figures]) -> str:
    """A line an arm: the share of cases whose answer is right, by seconds."""
    width, height, left, bottom = 760, 300, 50, 40
    most = CURVE[-1]

    def x(second: float) -> float:
        return left + second / most * (width - left - 10)

    def y(value: float) -> float:
        return 10 + (1 - value) * (height - bottom - 10)

    lines = [
        f"<line x1='{left}' x2='{width - 10}' y1='{y(level):.1f}' y2='{y(level):.1f}' stroke='#dde'/>"
        f"<text x='{left - 6}' y='{y(level) + 4:.1f}' text-anchor='end'>{level:.0%}</text>"
        for level in (0, 0.25, 0.5, 0.75, 1)
    ]
    lines += [f"<text x='{x(second):.1f}' y='{height - 22}' text-anchor='middle'>{second} s</text>" for second in (0, 30, 60, 120, 300)]
    for number, (name, own) in enumerate(figures.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        points = " ".join(f"{x(second):.1f},{y(value):.1f}" for second, value in own.curve)
        lines.append(
            f"<polyline points='{points}' fill='none' stroke='{colour}' stroke-width='2'><title>{html.escape(name)}</title></polyline>"
        )
    return _svg(width, height, lines) + _legend(figures)


def heat_map(figures: Mapping[str, Figures]) -> str:
    """A row an arm, a column a family: darker is more right."""
    tables = {name: own.by(GROUPS[1][1]) for name, own in figures.items()}
    families = sorted({family for table in tables.values() for family in table}, key=_natural)
    side, left, top = 34, 260, 30
    lines = [
        f"<text x='{left + side * column + side / 2}' y='20' text-anchor='middle'>{family}</text>" for column, family in enumerate(families)
    ]
    for row, (name, table) in enumerate(tables.items()):
        lines.append(f"<text x='{left - 8}' y='{top + side * row + 21}' text-anchor='end'>{html.escape(name[:38])}</text>")
        for column, family in enumerate(families):
            share = table.get(family)
            value = share.value if share is not None else None
            fill = "#eee" if value is None else f"rgb({235 - 200 * value:.0f},{240 - 120 * value:.0f},{248 - 60 * value:.0f})"
            place = f"x='{left + side * column}' y='{top + side * row}' width='{side - 2}' height='{side - 2}'"
            lines.append(f"<rect {place} fill='{fill}'><title>{html.escape(name)}, {family}: {_short(share) or 'no case'}</title></rect>")
    return _svg(left + side * len(families) + 10, top + side * len(tables) + 10, lines)


def cost(figures: Mapping[str, Figures]) -> str:
    """A point an arm: tokens per solved case against the share of right causes; arms whose tokens aren't known are left out."""
    points = [
        (name, read[0] + written[0], own.right_at(math.inf).value or 0.0)
        for name, own in figures.items()
        if (read := own.spent("tokens_in")) is not None and (written := own.spent("tokens_out")) is not None
    ]
    if not points:
        return "<p>No arm says what it spent.</p>"
    width, height, left, bottom = 760, 260, 50, 40
    most = max(spent for _, spent, _ in points) or 1.0
    lines = [
        f"<text x='{left - 6}' y='{14 + (1 - level) * (height - bottom - 10):.1f}' text-anchor='end'>{level:.0%}</text>"
        for level in (0, 0.5, 1)
    ]
    lines.append(f"<text x='{width / 2}' y='{height - 8}' text-anchor='middle'>tokens per solved case, up to {most:,.0f}</text>")
    for name, spent, value in points:
        number = list(figures).index(name)
        spot = f"cx='{left + spent / most * (width - left - 30):.1f}' cy='{10 + (1 - value) * (height - bottom - 10):.1f}'"
        lines.append(
            f"<circle {spot} r='6' fill='{_COLOURS[number % len(_COLOURS)]}'><title>{html.escape(name)}: {spent:,.0f}</title></circle>"
        )
    return _svg(width, height, lines) + _legend(figures)


def _svg(width: float, height: float, lines: Sequence[str]) -> str:
    return f"<svg viewBox='0 0 {width:.0f} {height:.0f}' width='{width:.0f}' font-size='12' role='img'>{''.join(lines)}</svg>"


def _legend(figures: Mapping[str, Figures]) -> str:
    return "<p>" + " &nbsp; ".join(
        f"<span style='color:{_COLOURS[number % len(_COLOURS)]}'>&#9632;</span> {html.escape(name)}" for number, name in enumerate(figures)
    ) + "</p>"  # fmt: skip


def _cases(found: Sequence[Result], folder: Path) -> list[str]:
    made: list[str] = []
    for number, entry in enumerate(sorted(found, key=lambda entry: (entry.record.case, name_of(entry.record), entry.record.repeat))):
        last = entry.last
        good = entry.cause if entry.right is None else entry.right
        unknown = last is not None and (last.untried or last.unknowable)
        state = ("right" if good else "wrong") + (f", its fix: {last.fix}" if last is not None and unknown else "")
        said = entry.record.last.model_dump_json(exclude_defaults=True) if entry.record.last is not None else entry.record.outcome
        why = "" if last is None or good else _why(last)
        path = folder / entry.record.transcript if entry.record.transcript else None
        text = ""
        if path is not None and path.exists() and number < FEW:
            events = json.loads(path.read_text(encoding="utf-8")).get("events") or []
            text = json.dumps(events, indent=1, ensure_ascii=False)[:MOST_TRANSCRIPT] if events else ""
        body = f"<p>{html.escape(entry.case.question)}</p><pre>{html.escape(said)}</pre>" + (
            f"<pre>{html.escape(text)}</pre>" if text else ""
        )
        title = f"{html.escape(entry.record.case)}, {html.escape(name_of(entry.record))}"
        head = f"<summary>{title}: <span class={'right' if good else 'wrong'}>{state}</span> {html.escape(why)}</summary>"
        made.append(f"<details>{head}{body}</details>")
    return made


def _why(found: Score) -> str:
    if found.control:
        return "; ".join(found.harmful[:2]) or "nothing had to be changed"
    if found.predicts:
        return {(True, False): "names more than would do", (False, True): "names less than would do"}.get(
            (found.object, found.mechanism), "something else was measured"
        )
    return "; ".join(
        [
            *([] if found.object else ["another object"]),
            *([] if found.mechanism else ["another mechanism"]),
            *(f"blames {name}" for name in found.innocent_blamed[:2]),
            *(found.harmful[:2] or ([f"its fix: {found.fix}"] if found.cause else [])),
        ]
    )
