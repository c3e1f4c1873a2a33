"""The report as one self-contained HTML page with plots and transcripts: no network, no script."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .records import Record
from .report import GROUPS, markdown, natural, short
from .results import CURVE, Figures, Result, arms, name_of
from .scoring import Score

MOST_TRANSCRIPT = 20_000
"""Characters of a transcript in the page."""
FEW = 100
"""Transcripts in the page; the rest are files beside it."""

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
    families = sorted({family for table in tables.values() for family in table}, key=natural)
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
            lines.append(f"<rect {place} fill='{fill}'><title>{html.escape(name)}, {family}: {short(share) or 'no case'}</title></rect>")
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
