"""Faults that were recorded with Kueue or Karpenter itself: what a scene writes in their stead is what they write."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from fault_injection.__main__ import main
from fault_injection.lab.controllers import PROGRAMS
from fault_injection.library import actions, real, recordings
from fault_injection.library.command import CONTROLLERS
from fault_injection.library.declared import Fault
from fault_injection.library.recordings import Recording
from fault_injection.library.roles import Named
from fault_injection.library.shelf import Entry, entries, entry
from fault_injection.library.steps import Create, Said
from fault_injection.library.strict import BadFile, read

CASES = [pytest.param(found, name, id=f"{found.name}-{name}") for found in entries() for name in found.fault.real]
each = pytest.mark.parametrize(("fault", "controller"), CASES)
SOURCES = {"kueue": "kueue-admission", "karpenter": "karpenter"}
"""As what a controller writes its events."""
GROUPS = {"kueue": "kueue.x-k8s.io", "karpenter": "karpenter.sh"}


def test_one_fault_each_of_kueue_and_karpenter_is_recorded_with_the_real_one() -> None:
    assert {name for found in entries() for name in found.fault.real} == set(CONTROLLERS) == set(PROGRAMS)


@pytest.mark.parametrize("fault", entries(), ids=lambda found: found.name)
def test_a_recording_with_the_real_one_is_of_the_version_that_is_told(fault: Entry) -> None:
    kept = recordings.with_controllers(fault)
    assert kept == sorted(real.name_of(fault, name) for name in fault.fault.real)
    for name in kept:
        told = recordings.read(fault, name).told["with"]
        assert told == {controller: version for controller, version in fault.fault.real.items() if controller in told}
        assert all(PROGRAMS[controller].version == version for controller, version in told.items())


@each
def test_nothing_is_written_in_its_stead(fault: Entry, controller: str) -> None:
    world = fault.world(fault.seed, 2, controller)
    assert not [step for step in world.steps if isinstance(step, Said) and step.source == SOURCES[controller]]
    made = [item for step in world.steps if isinstance(step, Create) for item in step.items]
    own = [item for item in made if item["apiVersion"].partition("/")[0] == GROUPS[controller]]
    assert own
    assert not [item["kind"] for item in own if item.get("status") or item["kind"] in ("Workload", "NodeClaim")]
    assert world.settings


@each
def test_what_is_written_in_its_stead_is_what_it_writes(fault: Entry, controller: str) -> None:
    """Conditions of its own kinds, one by one, and what it says of objects: in the same words, but for the names that it makes up."""
    written, itself = (recordings.read(fault, name) for name in (fault.fault.plane.release, real.name_of(fault, controller)))
    assert conditions(written, controller)
    assert conditions(written, controller) == conditions(itself, controller)
    assert said(written, controller) <= said(itself, controller)


def conditions(recording: Recording, controller: str) -> set[tuple[str, ...]]:
    return {
        (item["kind"], *(entry.get(field, "") for field in ("type", "status", "reason", "message")))
        for item in recording.items
        if item.get("apiVersion", "").partition("/")[0] == GROUPS[controller]
        for entry in (item.get("status") or {}).get("conditions") or ()
    }


def said(recording: Recording, controller: str) -> set[tuple[str, ...]]:
    return {
        (item["involvedObject"]["kind"], item["type"], item["reason"], item["message"])
        for item in recording.items
        if item.get("kind") == "Event" and item["source"].get("component") == SOURCES[controller]
    }


# --- the command ---------------------------------------------------------------------------------------------------------------------


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["record", *arguments]) == 1
    return capsys.readouterr().err


def test_a_scene_that_is_not_made_for_it_is_refused_before_anything_is_built(capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(capsys, "slice-without-devices", "--with", "kueue")
    version = PROGRAMS["kueue"].version
    assert said == f"record: slice-without-devices: fault.yaml has no `in_stead` with `of: kueue` and `real: {version}`\n"


def test_another_version_than_the_lab_builds_is_refused() -> None:
    (found, *_) = [found for found in entries() if "kueue" in found.fault.real]
    other = Entry(found.folder)
    parts = tuple(part.model_copy(update={"real": "v0.1.0"}) for part in found.fault.in_stead)
    other.__dict__["fault"] = found.fault.model_copy(update={"in_stead": parts})
    with pytest.raises(Exception, match=rf"fault\.yaml says `real: v0\.1\.0` of kueue, and the lab builds {PROGRAMS['kueue'].version}"):
        real.recordable([other], "kueue")


def test_a_controller_that_there_is_not_is_refused_with_those_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["record", "--all", "--with", "volcano"])
    assert re.search(r"invalid choice: 'volcano' \(choose from '?kueue'?, '?karpenter'?\)", capsys.readouterr().err)


def test_several_side_by_side_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    (name, *_) = [found.name for found in entries() if "kueue" in found.fault.real]
    assert "--jobs isn't for recordings with a controller" in refused(capsys, name, "--with", "kueue", "--jobs", "2")


def test_all_with_a_controller_are_those_that_are_made_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[tuple[str, str, int]] = []

    def take(fault: Entry, controller: str, seed: int, innocents: int | None) -> Recording:
        asked.append((fault.name, controller, seed))
        return Recording({"items": []}, {"pod": Named("v1", "Pod", "default", "a")}, {"seed": seed})

    monkeypatch.setattr(actions.real, "record", take)
    assert main(["record", "--all", "--with", "karpenter", "--into", str(tmp_path)]) == 0
    assert asked == [(found.name, "karpenter", found.seed) for found in entries() if "karpenter" in found.fault.real]
    assert {path.name for path in tmp_path.glob("*.json.gz")} == {f"{name}.json.gz" for name, _, _ in asked}
    assert "landed" in capsys.readouterr().out


def test_a_recording_that_is_gone_is_told_with_the_command_that_writes_it(tmp_path: Path) -> None:
    (found, *_) = [found for found in entries() if "kueue" in found.fault.real]
    shutil.copytree(found.folder, tmp_path / found.name)
    copy = Entry(tmp_path / found.name)
    recordings.path_of(copy, real.name_of(copy, "kueue")).unlink()
    assert recordings.with_controllers(copy) == []
    with pytest.raises(BadFile, match=rf"`python -m fault_injection record {found.name} --with kueue` writes it anew"):
        recordings.read(copy, real.name_of(copy, "kueue"))


def test_a_version_that_is_none_is_refused(tmp_path: Path) -> None:
    told: dict[str, Any] = yaml.safe_load((entry("claims-that-karpenter-ignores").folder / "fault.yaml").read_text())
    told["in_stead"][0]["real"] = "newest"
    (tmp_path / "fault.yaml").write_text(json.dumps(told))
    with pytest.raises(BadFile, match=r"in_stead.*real"):
        read(tmp_path / "fault.yaml", Fault)
