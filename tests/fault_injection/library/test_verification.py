"""What `verify` makes of a fault, with recordings in place of a control plane."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, ClassVar

import httpx
import pytest

from fault_injection.library import recordings, verification
from fault_injection.library.declared import Plane
from fault_injection.library.golden import Change, Trial
from fault_injection.library.injection import NotThere
from fault_injection.library.known import KNOWN
from fault_injection.library.recordings import Recording
from fault_injection.library.remedies import Tried
from fault_injection.library.session import NotClean
from fault_injection.library.session import Session as TrueSession
from fault_injection.library.shelf import Entry, entry
from fault_injection.library.verification import Told, Wanted, _one, _trial, verify


class Session:
    """Each fault lands at once, as it was recorded. What leaves something behind is named."""

    dirty: ClassVar[dict[str, Exception | None]] = {}
    opened: ClassVar[list[list[str]]] = []

    def __init__(self, plane: Plane | None = None, *, retries_soon: bool = False) -> None:
        self.had: list[str] = []
        self.opened.append(self.had)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *of: object) -> None:
        pass

    @contextlib.contextmanager
    def injected(self, chosen: Entry, seed: int, innocents: int | None = None) -> Iterator[Entry]:
        self.had.append(chosen.name)
        try:
            if (failure := self.dirty.get(chosen.name)) is not None:
                raise failure
            yield chosen
        finally:
            if chosen.name in self.dirty:
                raise NotClean("the cluster isn't clean: there is still Pod p")

    def finish(self, injection: Entry) -> None:
        pass

    def record(self, injection: Entry) -> Recording:
        return recordings.read(injection, recordings.recorded(injection)[0])


def other(name: str, **golden: Any) -> Entry:
    """A fault whose golden file says something else."""
    found = Entry(entry(name).folder)
    found.__dict__["golden"] = found.golden.model_copy(update=golden)
    return found


def asked(chosen: Entry) -> Told:
    return _one(Session(), chosen, Wanted(ask=True))[0]  # type: ignore[arg-type]


def test_a_wrong_answer_fails() -> None:
    told = asked(other("slice-without-devices", verdict="not pending"))
    assert told.failures == ["verdict 'blocked', golden 'not pending'"]
    assert told.notes == []
    assert asked(entry("slice-without-devices")).failures == []


def test_a_wrong_answer_that_is_known_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(KNOWN, "slice-without-devices", "for this test")
    told = asked(other("slice-without-devices", verdict="not pending"))
    assert told.failures == []
    assert told.notes == ["verdict 'blocked', golden 'not pending'"]


@pytest.mark.parametrize("failure", [None, NotThere("not seen")])
def test_after_a_fault_that_left_something_the_next_gets_another_control_plane(
    failure: Exception | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verification, "Session", Session)
    monkeypatch.setattr(Session, "dirty", {"numa-node-of-four": failure})
    monkeypatch.setattr(Session, "opened", [])
    chosen = [entry(name) for name in ("slice-without-devices", "numa-node-of-four", "seven-shares-run", "template-was-deleted")]
    results = verify(chosen, Wanted(), 1, lambda told: None)
    assert Session.opened == [["slice-without-devices", "numa-node-of-four"], ["seven-shares-run", "template-was-deleted"]]
    before = [str(failure)] if failure else []
    assert [(told.name, told.failures) for told in results] == [
        ("slice-without-devices", []),
        ("numa-node-of-four", [*before, "the cluster isn't clean: there is still Pod p"]),
        ("seven-shares-run", []),
        ("template-was-deleted", []),
    ]


@pytest.mark.parametrize(("after", "said"), [(10.5, ["'it is labelled' helps after all"]), (None, [])])
def test_a_change_that_helps_at_the_end_of_the_longest_backoff_is_one_that_helps(
    after: float | None, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Clock:
        now = 0.0

        def monotonic(self) -> float:
            return self.now

        def sleep(self, seconds: float) -> None:
            self.now += seconds

    class Waiting:
        place = None

        def roles(self) -> dict[str, str]:
            return {}

        def shows(self, sign: object) -> bool:
            return after is not None and clock.now >= after

    clock = Clock()
    monkeypatch.setattr(verification, "time", clock)
    monkeypatch.setattr(verification, "at_place", lambda *of: None)
    trial = Trial(say="it is labelled", change=(Change(of="node", set={"metadata.labels.a": "b"}),))
    assert _trial(entry("numa-node-of-four"), Waiting(), trial, helps=False) == said  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wanted", "injections"),
    [
        (Wanted(), 1),
        (Wanted(remedies=lambda _, offered: range(offered)), 3),
        (Wanted(remedies=lambda _, offered: [1]), 1),
        (Wanted(remedies=lambda _, offered: []), 1),
        (Wanted(remedies=lambda _, offered: [1], ask=True), 2),
    ],
)
def test_a_fault_is_injected_once_for_each_remedy_and_once_for_a_look(
    wanted: Wanted, injections: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = ["", "isn't bound", ""]

    def three(session: Session, *of: object) -> Iterator[Tried]:
        assert wanted.remedies is not None
        for number in wanted.remedies("", len(tried)) or [-1]:
            with session.injected(entry("slice-without-devices"), 1):
                pass
            if number >= 0:
                yield Tried(f"remedy {number + 1}", tried[number])

    monkeypatch.setattr(verification, "try_remedies", three)
    session = Session()
    told, _ = _one(session, entry("slice-without-devices"), wanted)  # type: ignore[arg-type]
    assert len(session.had) == injections
    assert told.remedies - told.helped == len(told.failures) == any("isn't bound" in text for text in told.failures)


@pytest.mark.parametrize("at", ["__enter__", "__exit__"])
def test_a_control_plane_that_cannot_be_reached_is_told_for_each_fault_that_is_left(at: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*of: object) -> None:
        raise httpx.ReadTimeout("")

    monkeypatch.setattr(verification, "Session", Session)
    monkeypatch.setattr(Session, "dirty", {"numa-node-of-four": None})
    monkeypatch.setattr(Session, at, away)
    results = verify([entry(name) for name in ("numa-node-of-four", "seven-shares-run")], Wanted(), 1, lambda told: None)
    assert results[-1].name == "seven-shares-run"
    assert results[-1].failures == ["no control plane: ReadTimeout"]


def test_a_cluster_that_cannot_be_reached_any_more_is_not_clean() -> None:
    class Away:
        def restore(self) -> None:
            raise httpx.ConnectError("connection refused")

    session = TrueSession(Plane())
    session.place = Away()  # type: ignore[assignment]
    with pytest.raises(NotClean, match="the cluster isn't clean: connection refused"):
        session.clean()
