"""Intervals and comparisons, against published and hand-computed values."""

from __future__ import annotations

import pytest

from evals.statistics import Share, every_time, median, paired


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    # Newcombe, Statistics in Medicine 17 (1998), table I, method 3.
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilsons_interval(hits: int, of: int, low: float, high: float) -> None:
    assert Share(hits, of).interval == pytest.approx((low, high), abs=5e-5)


def test_of_nothing_nothing_is_known() -> None:
    assert Share(0, 0).interval == (0.0, 1.0)
    assert Share(0, 0).value is None


def test_paired_arms() -> None:
    first = {"a": True, "b": True, "c": False, "d": True, "only": True}
    second = {"a": True, "b": False, "c": False, "d": False, "e": True}
    found = paired(first, second)
    assert (found.only_first, found.only_second, found.both, found.neither) == (2, 0, 1, 1)
    assert found.chance == pytest.approx(0.5)
    assert paired({}, {}).chance == 1.0
    many = paired({str(number): True for number in range(10)}, {str(number): False for number in range(10)})
    assert many.chance == pytest.approx(2 / 2**10)


def test_never_is_later_than_every_time() -> None:
    assert median([3.0, None, 1.0]) == 3.0
    assert median([1.0, None]) is None
    assert median([None, None, 1.0]) is None
    assert median([]) is None


def test_right_every_time() -> None:
    runs = {"a": [True, True], "b": [True, False], "c": [True]}
    assert (every_time(runs, 1).hits, every_time(runs, 1).of) == (3, 3)
    assert (every_time(runs, 2).hits, every_time(runs, 2).of) == (1, 2)
