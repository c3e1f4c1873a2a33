"""What `verify` makes of a fault, with recordings in place of a control plane."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

from fault_injection.library import recordings
from fault_injection.library.known import KNOWN
from fault_injection.library.recordings import Recording
from fault_injection.library.shelf import Entry, entry
from fault_injection.library.verification import Wanted, _one


class Session:
    """Each fault lands at once, as it was recorded."""

    @contextlib.contextmanager
    def injected(self, chosen: Entry, seed: int, innocents: int | None = None) -> Iterator[Entry]:
        yield chosen

    def record(self, injection: Entry) -> Recording:
        return recordings.read(injection, recordings.recorded(injection)[0])


def other(name: str, **golden: Any) -> Entry:
    """A fault whose golden file says something else."""
    found = Entry(entry(name).folder)
    found.__dict__["golden"] = found.golden.model_copy(update=golden)
    return found


def test_a_wrong_answer_fails() -> None:
    told = _one(Session(), other("slice-without-devices", verdict="not pending"), Wanted(ask=True))  # type: ignore[arg-type]
    assert told.failures == ["verdict 'blocked', golden 'not pending'"]
    assert told.notes == []
    assert _one(Session(), entry("slice-without-devices"), Wanted(ask=True)).failures == []  # type: ignore[arg-type]


def test_a_wrong_answer_that_is_known_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(KNOWN, "slice-without-devices", "for this test")
    told = _one(Session(), other("slice-without-devices", verdict="not pending"), Wanted(ask=True))  # type: ignore[arg-type]
    assert told.failures == []
    assert told.notes == ["verdict 'blocked', golden 'not pending'"]
