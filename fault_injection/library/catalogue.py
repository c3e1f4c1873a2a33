"""The catalogue page, docs/faults.md: every fault by family, made from the folders."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .declared import TITLES, Family, InStead, Source
from .known import KNOWN
from .recordings import recorded
from .shelf import Entry, entries

PAGE = Path(__file__).parents[2] / "docs/faults.md"
COMMAND = "python -m fault_injection list --page > docs/faults.md"


def page() -> str:
    """The page, whole."""
    all_of_them = entries()
    controls = [entry for entry in all_of_them if entry.fault.kind == "control"]
    pairs = {frozenset((entry.name, entry.fault.pair_of)) for entry in all_of_them if entry.fault.pair_of}
    chains = [entry for entry in all_of_them if len(entry.golden.blockers) > 1]
    lines = [
        "# The fault library",
        "",
        f"<!-- made by `{COMMAND}`; a test holds it to the folders under fault_injection/faults/ -->",
        "",
        f"{len(all_of_them)} entries: {len(all_of_them) - len(controls)} faults and {len(controls)} controls, in which nothing is wrong;",
        f"{len(pairs)} pairs with one event text and two causes, {len(chains)} with a second blocker behind the first. Each is injected",
        "into a real control plane, and counts because its symptom was seen there. For a component that isn't in the lab the scene",
        "writes in its stead: such a part of a symptom proves nothing but that it was written, except where it was recorded with that",
        "component itself, too, and a test holds the two equal. [How to add one](adding-a-fault.md).",
        "",
        "```",
        "python -m fault_injection inject NAME            # a control plane with this fault in it, until Ctrl-C",
        "python -m fault_injection verify --all --jobs 2  # every symptom is there",
        "python -m fault_injection verify --all --trials  # and what is said of fixes is true, carried out",
        "```",
    ]
    for family in Family:
        own = [entry for entry in all_of_them if entry.fault.family is family]
        if own:
            lines += ["", f"## {family.value}. {TITLES[family]}", "", *_table(own)]
    if KNOWN:
        lines += ["", "## What we don't answer right yet", "", *(f"- {name}: {reason}" for name, reason in sorted(KNOWN.items()))]
    return "\n".join(lines) + "\n"


def _table(own: Sequence[Entry]) -> list[str]:
    rows = ["| name | what the user sees | cause | difficulty | releases | written in stead | source |", f"|{' --- |' * 7}"]
    return rows + [f"| {' | '.join(_cell(text) for text in _row(entry))} |" for entry in own]


def _row(entry: Entry) -> tuple[str, ...]:
    fault = entry.fault
    kind = "control, " if fault.kind == "control" else ""
    beside = f"; pair of {fault.pair_of}" if fault.pair_of else ""
    return (
        f"`{entry.name}`",
        fault.symptom_text,
        fault.title,
        f"{kind}{fault.difficulty}{beside}",
        _releases(entry),
        "; ".join(f"of the {part.of}: {part.what}{_itself(part)}" for part in fault.in_stead),
        ", ".join(_source(source) for source in fault.sources) or "none",
    )


def _itself(part: InStead) -> str:
    return "" if part.real is None else f" (also recorded with {part.of} {part.real} itself)"


def _releases(entry: Entry) -> str:
    """Those in which it was seen, and those in which the rules that it rests on are the same."""
    seen = recorded(entry)
    expected = [release for release in entry.fault.minors if release not in seen]
    said = (("seen", seen), ("expected", expected))
    return "; ".join(f"{how} in {', '.join(releases)}" for how, releases in said if releases)


def _source(source: Source) -> str:
    return f"{source.repo}#{source.issue}" if source.issue is not None else f"{source.repo}/{source.path}"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
