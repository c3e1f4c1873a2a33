"""Each remedy is tried in a copy of its own, which is asked about as it is recorded."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from fault_injection.lab.told import Told
from fault_injection.library import recordings, remedies
from fault_injection.library.remedies import Tried, every, try_remedies
from fault_injection.library.shelf import entry

FAULT = entry("slice-without-devices")


class Session:
    """A fault that lands as it was recorded; writes down what is done, in its order."""

    def __init__(self, old_condition: bool = False) -> None:
        self.did: list[str] = []
        self.variant = SimpleNamespace(old_condition=old_condition)
        self.recording = recordings.read(FAULT, recordings.recorded(FAULT)[0])

    @contextlib.contextmanager
    def injected(self, *of: object) -> Iterator[Any]:
        self.did.append("injected")
        place = SimpleNamespace(component=lambda name, up: self.did.append(f"{name} {'up' if up else 'down'}"))
        yield SimpleNamespace(world=SimpleNamespace(variant=self.variant), place=place, roles=lambda: self.recording.roles)

    def finish(self, injection: object) -> None:
        self.did.append("finished")

    def look(self, injection: object) -> list[dict[str, Any]]:
        self.did.append("looked at")
        return self.recording.items


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many remedies the copies are offered, one after the other; each of them helps."""
    counts: list[int] = []
    monkeypatch.setattr(remedies, "remedies_of", lambda answer: [Told(f"change {number}") for number in range(counts.pop(0))])
    monkeypatch.setattr(remedies, "_failure", lambda *of: "")
    return counts


def tried(session: Session) -> list[Tried]:
    return list(try_remedies(session, FAULT, 1, 2, every))  # type: ignore[arg-type]


def test_the_answer_is_asked_for_when_all_is_written_and_the_variant_has_had_its_end(offered: list[int]) -> None:
    offered += [2, 2]
    session = Session()
    assert tried(session) == [Tried("change 0"), Tried("change 1")]
    assert session.did == ["injected", "finished", "looked at"] * 2


def test_a_scheduler_that_was_stopped_for_the_answer_runs_again_for_the_remedy(offered: list[int]) -> None:
    offered += [1]
    session = Session(old_condition=True)
    assert tried(session) == [Tried("change 0")]
    assert session.did == ["injected", "finished", "looked at", "kube-scheduler up"]


def test_another_number_of_remedies_in_another_copy_is_left_out_and_no_failure(offered: list[int]) -> None:
    offered += [3, 2, 3]
    other = Tried("remedy 2", left_out="another copy of the fault is offered 2 remedies, the first 3")
    assert tried(Session()) == [Tried("change 0"), other, Tried("change 2")]
