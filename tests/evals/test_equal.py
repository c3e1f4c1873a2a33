"""The figures of a run, worked out by hand on eight made-up records: a small model with tools beside a large one with a shell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evals import page, report, results
from evals.answers import Answer
from evals.cases import Case, cases
from evals.equal import equal
from evals.mechanisms import Mechanism
from evals.records import Record, Timed

RUN = {"fingerprint": "x", "metric": "m", "seconds": 300.0, "split": "all"}
RIGHT, WRONG = Answer(nothing_wrong=True), Answer(mechanism=Mechanism.KEPT_OUT)
CONTROLS = [case for case in cases() if case.control][:4]
"""Of these a right answer needs no fix, so that it is known to be right."""
LARGE, SMALL = "shell, anthropic:large-model", "shell+ours, anthropic:small-model"


def record(case: Case, arm: str, answers: list[tuple[float, Answer]], seconds: float, **more: Any) -> Record:
    told = tuple(Timed(at=at, answer=answer) for at, answer in answers)
    size = "large" if arm == "shell" else "small"
    given = {"seed": case.seed, "agent": "anthropic", "model": f"{size}-model", "size": size, "outcome": "answered", "repeat": 0, **more}
    return Record(case=case.name, arm=arm, answers=told, seconds=seconds, **given)


def spent(tokens_in: int, tokens_out: int, characters: int, cost: float) -> dict[str, Any]:
    return {"tokens_in": tokens_in, "tokens_out": tokens_out, "characters": characters, "cost": cost}


@pytest.fixture
def records() -> list[Record]:
    a, b, c, d = CONTROLS
    return [
        record(a, "shell", [(40, RIGHT)], 42, **spent(10_000, 500, 20_000, 0.5)),
        record(b, "shell", [(20, WRONG), (60, RIGHT)], 65, **spent(30_000, 700, 40_000, 1.0)),
        record(c, "shell", [(90, RIGHT), (95, WRONG)], 100, **spent(50_000, 1_000, 60_000, 2.0)),
        record(d, "shell", [(50, RIGHT)], 50, **spent(20_000, 600, 30_000, 0.7)),
        record(a, "shell+ours", [(4, RIGHT)], 5, **spent(1_000, 100, 500, 0.01)),
        record(b, "shell+ours", [(6, RIGHT)], 6, **spent(1_200, 100, 700, 0.02)),
        record(c, "shell+ours", [(5, RIGHT)], 5, **spent(900, 100, 600, 0.01)),
        record(d, "shell+ours", [(2, WRONG)], 3, **spent(800, 50, 400, 0.01)),
        # A second attempt is no other case.
        record(a, "shell", [(200, RIGHT)], 250, repeat=1, **spent(900_000, 9_000, 900_000, 90.0)),
    ]


def found(records: list[Record]) -> list[results.Result]:
    return results.results(records, {case.name: case for case in CONTROLS})


def row(text: str, head: str, *first: str) -> list[str]:
    """The cells of a table's row, by the head's first cell and the row's."""
    lines = text.splitlines()
    place = next(number for number, line in enumerate(lines) if line.startswith(f"| {head}"))
    cells = [line[2:-2].split(" | ") for line in lines[place + 2 :]]
    return next(line for line in cells if tuple(line[: len(first)]) == first)


def test_what_the_same_solved_cases_took_of_both(records: list[Record]) -> None:
    figures = results.arms(found(records))
    both = equal(figures[LARGE], figures[SMALL])
    assert (both.one.hits, both.one.of, both.other.hits, both.other.of, both.both, both.chance) == (3, 4, 3, 4, 2, 1.0)
    # Right in both: a and b. (40 + 60)/2 and (4 + 6)/2; (10,500 + 30,700)/2 and (1,100 + 1,300)/2; and so on.
    assert {name: (taken.one, taken.other, taken.cases) for name, taken in both.taken.items()} == {
        "seconds until right": (50, 5, 2),
        "tokens": (20_600, 1_200, 2),
        "characters read": (30_000, 600, 2),
        "cost": (0.75, pytest.approx(0.015), 2),
    }
    back = equal(figures[SMALL], figures[LARGE])
    assert back.taken["seconds until right"].times == pytest.approx(0.1)


def test_it_is_the_first_table_after_the_primary_metric(records: list[Record]) -> None:
    text = report.markdown(found(records), RUN, [])
    cells = row(text, "at equal accuracy", LARGE, SMALL)
    assert cells[2:] == [
        "3/4 and 3/4 (by chance 1)",
        "2",
        "50 and 5 (10:1)",
        "20,600 and 1,200 (17.2:1)",
        "30,000 and 600 (50:1)",
        "0.75 and 0.015 (50:1)",
    ]
    heads = [line.split(" | ")[0] for line in text.splitlines() if line.startswith("| ") and "---" not in line]
    assert heads.index("| at equal accuracy: one") == 3
    assert "at equal accuracy" in page.page(found(records), RUN, [], Path("x"))


def test_per_case_that_is_right_all_attempts_are_paid_for(records: list[Record]) -> None:
    text = report.markdown(found(records), RUN, [])
    # Seconds (42 + 65 + 100 + 50)/3; tokens read 110,000/3, written 2,800/3; cost 4.2/3; characters 150,000/3.
    assert row(text, "per case that is right", LARGE) == [LARGE, "85.67", "not known", "36,667", "933.3", "1.4", "not known", "50,000"]
    # (5 + 6 + 5 + 3)/3; 3,900/3 and 350/3; 0.05/3; 2,200/3.
    assert row(text, "per case that is right", SMALL) == [SMALL, "6.333", "not known", "1,300", "116.7", "0.01667", "not known", "733.3"]


def test_shares_medians_and_moments(records: list[Record]) -> None:
    text = report.markdown(found(records), RUN, [])
    large, small = (row(text, "cause and fix right at |", name) for name in (LARGE, SMALL))
    # At 60 s two of the large one's answers are right and a third is (50 s); at 120 s c's right one has been taken back.
    assert [cell.split()[0] for cell in large[1:]] == ["0/4", "3/4", "3/4", "3/4"]
    assert [cell.split()[0] for cell in small[1:]] == ["3/4"] * 4
    figures = results.arms(found(records))
    # 40, 50, 60, never; 4, 5, 6, never.
    assert (figures[LARGE].time, figures[SMALL].time) == (55, 5.5)
    assert dict(figures[LARGE].curve)[90.0] == 1.0


def test_by_the_models_size(records: list[Record]) -> None:
    text = report.markdown(found(records), RUN, [])
    for size, arm, want in (
        ("small", "shell+ours", ["1", "3/4", "5.5 s", "1,300", "116.7", "0.01667", "733.3"]),
        ("large", "shell", ["1", "3/4", "55.0 s", "36,667", "933.3", "1.4", "50,000"]),
    ):
        cells = row(text, "model's size", size, arm)[2:]
        assert [cells[0], cells[1].split()[0], *cells[2:]] == want


def test_what_is_known_of_one_alone_is_compared_on_the_others(records: list[Record]) -> None:
    a = CONTROLS[0].name
    partly = [entry.model_copy(update={"cost": None, "tokens_in": None}) if entry.case == a else entry for entry in records]
    cells = row(report.markdown(found(partly), RUN, []), "at equal accuracy", LARGE, SMALL)
    assert cells[5:] == ["30,700 and 1,300 (23.6:1, of 1)", "30,000 and 600 (50:1)", "1 and 0.02 (50:1, of 1)"]
    none = [entry.model_copy(update={"cost": None}) for entry in records]
    assert row(report.markdown(found(none), RUN, []), "at equal accuracy", LARGE, SMALL)[-1] == "not known"


def test_arms_that_are_right_in_no_case_together_are_not_compared_so(records: list[Record]) -> None:
    apart = [entry for entry in records if (entry.case == CONTROLS[2].name) or entry.case == CONTROLS[3].name]
    assert "at equal accuracy" not in report.markdown(found(apart), RUN, [])
    baselines = [entry.model_copy(update={"arm": "none", "agent": entry.arm, "model": ""}) for entry in records]
    assert "at equal accuracy" not in report.markdown(found(baselines), RUN, [])
