"""explain_pending about every recording, held against the golden file; what it doesn't get right is listed, and the list is printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from fault_injection.lab.errors import LabError
from fault_injection.library import asked, recordings
from fault_injection.library.known import KNOWN
from fault_injection.library.recordings import Recording
from fault_injection.library.shelf import Entry, entries


def known_failure(name: str) -> pytest.MarkDecorator:
    """Expected to differ from the golden answer. To crash isn't expected of any fault."""
    return pytest.mark.xfail(reason=f"{name}: {KNOWN[name]}", strict=True, raises=AssertionError)


def cases() -> list[object]:
    return [
        pytest.param(
            entry,
            release,
            id=f"{entry.name}-{release}",
            marks=known_failure(entry.name) if entry.name in KNOWN else (),
        )
        for entry in entries()
        for release in every(entry)
    ]


def every(entry: Entry) -> list[str]:
    return [*recordings.recorded(entry), *recordings.with_controllers(entry)]


def test_a_crash_is_not_a_known_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(KNOWN, "a-fault", "for this test")
    mark = known_failure("a-fault").mark
    assert (mark.kwargs["raises"], mark.kwargs["strict"]) == (AssertionError, True)


@pytest.mark.parametrize(("entry", "release"), cases())
def test_the_answer_is_the_golden_one(entry: Entry, release: str) -> None:
    assert asked.complaints(recordings.read(entry, release), entry.golden) == []


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_every_fault_has_a_recording_small_enough_of_a_release_that_it_is_of(entry: Entry) -> None:
    kept = recordings.recorded(entry)
    assert entry.fault.plane.release in kept
    assert set(kept) <= set(entry.fault.minors)
    assert all(recordings.path_of(entry, release).stat().st_size <= recordings.LARGE for release in every(entry))


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_a_recording_is_of_the_scene_as_it_is_now(entry: Entry) -> None:
    """A scene that was changed is recorded again: python -m fault_injection record NAME."""
    for release in every(entry):
        recording = recordings.read(entry, release)
        world = entry.world(recording.told["seed"], recording.told["innocents"], *recording.told.get("with", ()))
        assert recording.told["variant"] == world.variant.words()
        names = {role: str(of) for role, of in recording.roles.items()}
        assert {role: str(of) for role, of in world.named().items()}.items() <= names.items()


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_its_symptom_is_in_the_recording(entry: Entry) -> None:
    """Whoever has only the recording sees it, unless the variant took the events away."""
    for release in every(entry):
        recording = recordings.read(entry, release)
        for sign in entry.fault.symptom:
            if sign.needs_events() and "events expired" in recording.told["variant"]:
                continue
            of = recording.roles[sign.of]
            item = recording.find(of)  # type: ignore[arg-type]
            seen = sign.seen(item, lambda of=of, recording=recording: recording.events(of), recording.roles)
            assert seen is not sign.absent, sign.words()
            assert item is not None or sign.is_of_existence, sign.words()


def test_a_recording_that_is_too_large_leaves_the_one_that_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = Entry(tmp_path / "a-fault")
    before = Recording({"items": []}, {}, {"seed": 1})
    target = recordings.write(found, "1.37", before)
    monkeypatch.setattr(recordings, "LARGE", target.stat().st_size)
    large = Recording({"items": [{"name": f"{number:x}"} for number in range(100)]}, {}, {"seed": 2})
    with pytest.raises(LabError, match=r"a-fault: \d+ bytes are too many for the repository"):
        recordings.write(found, "1.37", large)
    assert recordings.read(found, "1.37") == before
    recordings.write(found, "1.37", large, into=tmp_path / "elsewhere")
    assert (tmp_path / "elsewhere/a-fault.json.gz").exists()
