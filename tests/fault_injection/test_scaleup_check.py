"""What `lab check-scaleup` makes of its cases: the real scheduler is left out here."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from fault_injection.lab import scaleup_check
from fault_injection.lab.scaleup_cases import Case, at_random
from fault_injection.lab.scaleup_check import MOST, TIES, Result, compare, has_tie
from k8s_topo_mcp.scaleup.node_counts import NodeCounts, node_counts


def test_fewer_than_twenty_ties_are_said_not_to_be_judged() -> None:
    result = Result(cases=250, lucky=TIES - 1, missed=TIES - 1)
    assert not result.too_many_missed
    assert f"{TIES - 1} had a tie, {TIES - 1} of them left pods over: NOT JUDGED" in result.summary


@pytest.mark.parametrize(("lucky", "missed", "share", "wrong"), [(20, 1, "95.0%", False), (20, 2, "90.0%", True), (39, 2, "94.9%", True)])
def test_ties_that_are_enough_are_judged_by_the_share_that_placed_all(lucky: int, missed: int, share: str, wrong: bool) -> None:
    result = Result(cases=250, lucky=lucky, missed=missed)
    assert result.too_many_missed is wrong
    assert f"all placed in {share}, 95% wanted" in result.summary
    assert "NOT JUDGED" not in result.summary


class Played:
    """In the lab's stead: counts what it is given, and misses as told."""

    def __init__(self, misses: Callable[[int], bool], dies_after: int = 0) -> None:
        self.result = Result()
        self.cases: list[Case] = []
        self.ties: list[bool] = []
        self.lost = False
        self._misses = misses
        self._dies_after = dies_after

    def close(self) -> None: ...

    def one(self, case: Case, counts: NodeCounts, thought: float) -> None:
        self.cases.append(case)
        self.ties.append(has_tie(counts))
        self.result.cases += 1
        self.lost = self.result.cases == self._dies_after
        if has_tie(counts):
            self.result.lucky += 1
            self.result.missed += self._misses(self.result.lucky)


def play(monkeypatch: pytest.MonkeyPatch, misses: Callable[[int], bool], dies_after: int = 0, **asked: Any) -> Played:
    played = Played(misses, dies_after)
    monkeypatch.setattr(scaleup_check, "_Run", lambda lab: played)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    compare(None, **asked)  # pyright: ignore[reportArgumentType]
    return played


def test_after_the_cases_asked_for_only_such_with_a_tie_come_until_there_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    played = play(monkeypatch, lambda _: False, cases=6, seed=1, ties=3)
    assert played.result.lucky == 3
    assert all(played.ties[6:])
    assert [case.title for case in played.cases[:6]] == [case.title for case in play(monkeypatch, lambda _: False, cases=6, seed=1).cases]


def test_too_many_that_left_pods_over_are_a_disagreement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaleup_check, "TIES", 3)
    assert play(monkeypatch, lambda nth: nth == 2, cases=0, seed=1, ties=3).result.disagreements == [
        "1 of 3 cases with a tie left pods over"
    ]
    assert not play(monkeypatch, lambda _: False, cases=0, seed=1, ties=3).result.disagreements


def test_with_a_control_plane_that_is_gone_no_further_case_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    assert play(monkeypatch, lambda _: False, dies_after=2, cases=6, seed=1, ties=3).result.cases == 2
    assert play(monkeypatch, lambda _: False, dies_after=3, cases=0, seed=1, ties=20).result.cases == 3


@pytest.mark.parametrize(("ties", "status"), [(0, 0), (2, 1), (3, 0)])
def test_the_exit_status_tells_that_ties_which_were_wanted_could_not_be_judged(
    monkeypatch: pytest.MonkeyPatch, ties: int, status: int
) -> None:
    monkeypatch.setattr(scaleup_check, "TIES", 3)
    monkeypatch.setattr(scaleup_check, "_Run", lambda lab: Played(lambda _: False))  # pyright: ignore[reportUnknownLambdaType]
    assert scaleup_check.check(SimpleNamespace(release="1.37"), 0, 1, ties) == status  # pyright: ignore[reportArgumentType]


def test_whether_a_case_has_a_tie_is_what_its_counts_say() -> None:
    cases = [at_random(number, number) for number in range(40)]
    assert {has_tie(node_counts(case.view, case.waiting, case.template, MOST)) for case in cases} == {True, False}
