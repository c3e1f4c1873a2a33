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
        if not agree(mine, real) and not known_difference(minor, row, mine, real):
            different.append(f"{row['expression']}\n  real {real}\n  ours {mine}")
    assert count >= 1000
    assert not different, f"{len(different)} of {count} differ:\n" + "\n".join(different[:5])


CRASHED = {"error": "internal error: runtime error: invalid memory address or nil pointer dereference"}
NAN = "{double('NaN'): 1} == dyn(device.attributes)"


@pytest.mark.parametrize(
    ("expression", "results", "excused"),
    [
        (NAN, [CRASHED, {"value": False, "cost": 1}], True),
        (f"!(1 == 1 && {NAN.replace('==', '!=')})", [CRASHED, {"value": False, "cost": 1}], True),
        (NAN, [CRASHED, {"value": True, "cost": 1}], False),  # another device differs, too
        ("{'a': 1} == dyn(device.attributes)", [CRASHED, {"value": False, "cost": 1}], False),
        ("double('NaN') == device.capacity['a'].b", [CRASHED, {"value": False, "cost": 1}], False),
    ],
)
def test_only_the_crash_that_is_known_is_excused(expression: str, results: list[dict[str, object]], excused: bool) -> None:
    mine = {"results": [{"value": False, "cost": 1}, {"value": False, "cost": 1}]}
    assert known_difference("1.37", {"expression": expression}, mine, {"results": results}) is excused


@pytest.mark.oracle
@pytest.mark.parametrize("minor", MINORS)
def test_the_live_oracle_agrees(minor: str) -> None:
    live = pytest.importorskip("tests.conformance.cel_live")
    found = live.compare_expressions(minor, 7, 400)
    assert found.compared == 400
    assert not found.differences, "\n".join(found.differences)
