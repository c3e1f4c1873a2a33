"""Recorded templates of nodes to come: our verdict is Karpenter's, or a known cause accounts for the difference. Needs no Go."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from ..oracle.karpenter.generate import DEEP, row
from .karpenter import (
    ALTERNATIVES,
    ANOTHER,
    CAUSES,
    DIFFERENT,
    ERROR,
    EXCLUSIVE,
    EXHAUSTED,
    LONE,
    NOTHING,
    OVERDRAWN,
    PUBLISHED,
    SHARES,
    Row,
    as_karpenter,
    compare_rows,
    explanation,
    ours,
    recorded,
)

Answered = tuple[Row, Row, Row | None]

DOCUMENT = Path(__file__).parents[2] / "docs" / "karpenter-differences.md"


WHICH_WAY = {
    **dict.fromkeys((ALTERNATIVES, EXHAUSTED, LONE, PUBLISHED), frozenset({("fits", False), ("unknown", False)})),
    DIFFERENT: frozenset({("unknown", False)}),
    **dict.fromkeys((OVERDRAWN, NOTHING, ERROR, SHARES, EXCLUSIVE, ANOTHER), frozenset({("no", True), ("unknown", True)})),
}
"""Our verdict, and whether Karpenter finds room, where one cause alone makes them differ."""


@pytest.fixture(scope="module")
def rows() -> list[Answered]:
    return list(recorded())


def test_every_recorded_verdict_is_karpenters_or_differs_for_a_known_cause(rows: list[Answered]) -> None:
    found = compare_rows(rows)
    assert not found.unexplained, found.unexplained[0]
    assert found.compared >= 500
    assert min(found.agree["fits"], found.agree["no"]) >= 100
    assert found.given_up
    assert set(found.causes) == {*CAUSES, ALTERNATIVES, EXHAUSTED}
    assert found.explained < found.compared / 5
    for verdict, fits, causes in found.alone:
        if causes in WHICH_WAY:
            assert (verdict, fits) in WHICH_WAY[causes], causes


def test_the_document_tells_every_cause() -> None:
    told = [line.split("|")[1].strip() for line in DOCUMENT.read_text().splitlines() if line.startswith("| ")]
    assert sorted(told[2:]) == sorted((*CAUSES, ALTERNATIVES, EXHAUSTED))


def test_no_cause_accounts_for_an_answer_that_is_wrong(rows: list[Answered]) -> None:
    """The opposite of what both say stays unexplained: the causes are narrow."""
    plain = (
        (asked, answer)
        for asked, answer, again in rows
        if answer["kind"] in ("allocated", "none") and again is None and explanation(asked, answer, None) == ()
    )
    wrong = [explanation(asked, opposite(answer), None) for asked, answer in islice(plain, 150)]
    assert len(wrong) == 150
    assert all(causes is None for causes in wrong)


def opposite(answer: Row) -> Row:
    return {**answer, "kind": "none" if answer["kind"] == "allocated" else "allocated", "error": ""}


def test_a_search_that_karpenter_gives_up_counts_as_neither() -> None:
    found = compare_rows([(row(1, 0), {"kind": "timeout"}, None)])
    assert (found.compared, found.given_up) == (0, 1)


@pytest.mark.parametrize("kind", ["panic", "input"])
def test_an_answer_that_is_none_is_a_failure(kind: str) -> None:
    found = compare_rows([(row(1, 0), {"kind": kind, "error": "…"}, None)])
    assert len(found.unexplained) == 1


def test_a_row_asked_without_a_cause_is_left_as_it_is() -> None:
    assert as_karpenter(row(1, 3), frozenset()) == row(1, 3)


def test_rows_are_the_same_for_the_same_seed_and_end_a_search_now_and_then() -> None:
    assert row(3, 17) == row(3, 17) != row(4, 17)
    deep = row(3, DEEP // 2)
    assert ours(deep) == "no"
