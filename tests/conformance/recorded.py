"""The recorded answers of upstream's own table tests, compared with our core."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from .comparison import Row, Verdict, compare

RECORDINGS = Path(__file__).parent.parent / "recordings"
UPSTREAM, RANDOM, FOUND = RECORDINGS / "upstream", RECORDINGS / "random", RECORDINGS / "found"
MINORS = ("1.34", "1.35", "1.36", "1.37")
VARIANTS = ("stable", "incubating", "experimental")


NOT_IN_JSON = {
    # An empty list of values, which JSON drops: what is left reads as an attribute without any value.
    "list-attributes-distinct-constaint-with-empty-or-unknown-type",
    "list-attributes-distinct-constraint-with-empty-or-unknown-type",
}


def lines(path: Path) -> list[str]:
    """The lines of a compressed file."""
    with gzip.open(path, "rt") as file:
        return file.read().splitlines()


def rows(minor: str, variant: str) -> Iterator[Row]:
    """The recorded rows of one variant; those whose JSON doesn't reproduce the answer left out."""
    for line in lines(UPSTREAM / f"{minor}-{variant}.jsonl.gz"):
        row = json.loads(line)
        if not row.get("notReplayable") and row["name"] not in NOT_IN_JSON:
            yield row


def judge(minor: str, variant: str) -> Iterator[tuple[Row, Verdict]]:
    for row in rows(minor, variant):
        yield row, compare(row, int(minor.partition(".")[2]))


def summary(minor: str, variant: str) -> tuple[Counter[str], list[tuple[str, str]]]:
    """How many agree, differ or wait for a feature; and the differences."""
    counts: Counter[str] = Counter()
    differences: list[tuple[str, str]] = []
    for row, verdict in judge(minor, variant):
        counts["agree" if verdict.agrees else "wait" if verdict.agrees is None else "differ"] += 1
        if verdict.agrees is False:
            differences.append((row["name"], verdict.why))
    return counts, differences
