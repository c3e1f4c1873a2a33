"""The real compiler and evaluator of each release, recorded: value, cost, error text and compile error text."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from .comparison import agree, known_difference, ours

RECORDINGS = Path(__file__).parent / "recordings"
MINORS = ("1.34", "1.35", "1.36", "1.37")


def recorded(minor: str) -> Iterator[str]:
    with gzip.open(RECORDINGS / f"{minor}.jsonl.gz", "rt", encoding="utf-8") as file:
        yield from file
    found = RECORDINGS / f"{minor}-found.jsonl"
    if found.exists():
        yield from found.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("minor", MINORS)
def test_every_recorded_answer_is_ours(minor: str) -> None:
    different: list[str] = []
    count = 0
    for line in recorded(minor):
        entry = json.loads(line)
        row, real = entry["row"], entry["answer"]
        count += 1
        mine = ours(minor, row)
        if not agree(mine, real) and not known_difference(minor, row, real):
            different.append(f"{row['expression']}\n  real {real}\n  ours {mine}")
    assert count >= 1000
    assert not different, f"{len(different)} of {count} differ:\n" + "\n".join(different[:5])


@pytest.mark.oracle
@pytest.mark.parametrize("minor", MINORS)
def test_the_live_oracle_agrees(minor: str) -> None:
    live = pytest.importorskip("tests.conformance.cel_live")
    found = live.compare_expressions(minor, 7, 400)
    assert found.compared == 400
    assert not found.differences, "\n".join(found.differences)
