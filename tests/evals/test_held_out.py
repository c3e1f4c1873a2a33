"""Recordings of other seeds, made by `fault_injection record --into`, as cases of their own: named, hashed before a run, run, reported."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from evals.cases import Case, cases, recorded_in
from evals.command import main
from evals.records import described, read
from fault_injection.library.recordings import path_of

NAMES = ("all-links-but-one-short", "waits-for-its-owner-on-purpose")


def recorded(into: Path, name: str, seed: object) -> Path:
    """A recording as `record --into` writes it. The content is the repository's: its names are those of its own seed."""
    (case,) = cases([name])
    into.mkdir(parents=True, exist_ok=True)
    target = into / f"{name}.json.gz"
    target.write_bytes(path_of(case.entry, case.release).read_bytes())
    roles = case.snapshot.with_name(case.snapshot.name.replace(".json.gz", ".roles.json"))
    told = {**json.loads(roles.read_text()), "seed": seed}
    target.with_name(f"{name}.roles.json").write_text(json.dumps(told))
    return target


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in NAMES:
        recorded(tmp_path / "held" / "2027", name, 2027)
    recorded(tmp_path / "held" / "2028", NAMES[0], 2028)
    return tmp_path / "held"


def test_a_folder_of_recordings_is_a_set_of_cases_with_their_own_names_and_splits(folder: Path) -> None:
    found = recorded_in(folder)
    assert [case.name for case in found] == [f"{NAMES[0]}@1.37#2027", f"{NAMES[0]}@1.37#2028", f"{NAMES[1]}@1.37#2027"]
    assert [case.split for case in found] == ["held-out", "tuning", "held-out"]
    of_repository = {case.name for case in cases()}
    assert not of_repository & {case.name for case in found}
    (own,) = cases([NAMES[0]])
    assert found[0].guilty == own.guilty
    assert found[0].snapshot == folder / "2027" / f"{NAMES[0]}.json.gz"


def test_its_hash_can_be_published_before_it_is_run(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    which = ["--cases", str(folder), "--split", "held-out"]
    assert main(["list", *which, "--fingerprint"]) == 0
    told = capsys.readouterr().out
    assert told.endswith("  2 cases, held-out\n")
    out = tmp_path / "out"
    assert main(["run", *which, "--agent", "first-answer", "--out", str(out)]) == 0
    assert described(out)["fingerprint"] == told.split()[0]
    assert {record.case for record in read(out)} == {f"{name}@1.37#2027" for name in NAMES}
    text = capsys.readouterr().out
    assert "split: held-out" in text
    assert "2/2" in text


@pytest.mark.parametrize("changed", ["a byte of the recording", "who plays a part", "a line of a log"])
def test_its_hash_is_another_once_anything_is_that_decides_over_an_answer(
    changed: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def printed() -> str:
        assert main(["list", "--cases", str(folder), "--fingerprint"]) == 0
        return capsys.readouterr().out.split()[0]

    before, place = printed(), folder / "2027" / NAMES[0]
    recording, roles = place.with_name(f"{NAMES[0]}.json.gz"), place.with_name(f"{NAMES[0]}.roles.json")
    if changed == "a byte of the recording":
        recording.write_bytes(gzip.compress(gzip.decompress(recording.read_bytes()) + b" "))
    elif changed == "who plays a part":
        told = json.loads(roles.read_text())
        told["roles"]["deciding"]["object"][-1] = told["roles"]["neighbour"]["object"][-1]
        roles.write_text(json.dumps(told))
    else:
        place.with_name(f"{NAMES[0]}.logs.json").write_text(json.dumps({"ns/pod": {"main": {"current": ["2026-11-30T00:00:00Z a line"]}}}))
    assert printed() != before


def test_a_report_without_the_recordings_says_what_it_leaves_out(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert main(["run", "--cases", str(folder), "--agent", "event-text", "--out", str(out)]) == 0
    assert "Not scored" not in capsys.readouterr().out
    assert main(["report", str(out)]) == 0
    assert "Not scored: the attempts at 3 cases that aren't here (all-links-but-one-short@1.37#2027" in capsys.readouterr().out
    assert main(["report", str(out), "--cases", str(folder)]) == 0
    assert "Not scored" not in (told := capsys.readouterr().out)
    assert "3 cases" in told
    assert main(["compare", str(out), str(out)]) == 0
    assert "Not scored" in capsys.readouterr().err


def test_answers_that_are_scored_by_other_keys_than_they_were_given_for_are_told(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["run", "--cases", str(folder), "--agent", "event-text", "--out", str(out)]) == 0
    assert "have been changed" not in capsys.readouterr().out
    monkeypatch.setattr(Case, "key", lambda self: {"mechanism": "another"})
    assert main(["report", str(out), "--cases", str(folder)]) == 0
    said = "Cases or keys have been changed since this run: its answers are scored here by those of now."
    assert said in capsys.readouterr().out
    assert said in (out / "report.html").read_text()


def test_what_is_no_set_of_cases_is_told_in_a_line(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def told(*arguments: str) -> str:
        assert main(["list", "--cases", *arguments]) == 1
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        return said

    assert "there is no such folder; `python -m fault_injection record FAULT --seed N --into" in told(str(tmp_path / "none"))
    (tmp_path / "empty").mkdir()
    assert "no recordings" in told(str(tmp_path / "empty"))
    assert "no case 'numa-node-of-four'; there are 3" in told(str(folder), "--case", "numa-node-of-four")
    assert "none of these cases is of the split tuning" in told(str(folder / "2027"), "--split", "tuning", "--fingerprint")
    again = recorded(folder / "again", NAMES[0], 2027)
    assert "the same fault, release and seed as" in told(str(folder))
    again.with_name("nobody-knows-it.json.gz").write_bytes(again.read_bytes())
    assert "no fault is called 'nobody-knows-it'" in told(str(folder / "again"))
    again.with_name("nobody-knows-it.json.gz").unlink()
    recorded(folder / "again", NAMES[0], "x")
    assert "say no release and seed" in told(str(folder / "again"))
    again.write_bytes(b"no gzip")
    assert f"record {NAMES[0]} --seed N --into {folder / 'again'}` writes it anew" in told(str(folder / "again"))
    again.with_name(f"{NAMES[0]}.roles.json").unlink()
    assert "there is no such file" in told(str(folder / "again"))
