"""Which faults of the library are taken, and how their remedies are counted."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from fault_injection.library.shelf import entry
from fault_injection.library.verification import Told

from . import __main__ as conformance
from . import cel_live, control_plane, remedies


def test_a_fault_that_cannot_be_read_has_failed_and_the_others_are_taken(tmp_path: Path) -> None:
    good = entry("numa-node-of-four")
    for name in ("no-golden-file", "no-roles"):
        shutil.copytree(good.folder, tmp_path / name)
    (tmp_path / "no-golden-file" / "golden.yaml").unlink()
    (tmp_path / "no-roles" / "recorded" / "1.37.roles.json").unlink()
    broken = [entry(name, tmp_path) for name in ("no-golden-file", "no-roles")]
    chosen, unread = control_plane._offering([*broken, good, good], 3)
    assert chosen == [good]
    assert [told.name for told in unread] == ["no-golden-file", "no-roles"]
    assert all("there is no such file" in failure for told in unread for failure in told.failures)


def test_what_is_no_comparison_does_not_lessen_what_passed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    results = [
        Told("a", remedies=2, helped=1, failures=["remedy 'x': isn't bound"]),
        Told("b", remedies=2, helped=2),
        Told("c", failures=["no control plane: ReadTimeout"]),
        Told("d", failures=["wasn't reached"]),
        Told("e", left_out=["remedy 'y': names four of forty"]),
    ]
    monkeypatch.setattr(control_plane, "compare_remedies", lambda seed, faults: results)
    monkeypatch.setattr(conformance, "allocator", lambda *of: (50, 1))  # and 49 more of which the oracle says nothing
    monkeypatch.setattr(cel_live, "compare_expressions", lambda *of: cel_live.Expressions(10, differences=["x"]))
    monkeypatch.setattr(remedies, "compare_remedies", lambda *of: (4, [({}, "y")]))
    arguments = "--minor 1.37 --rows 100 --placements 0 --templates 0 --pods -1 --scaleups 0 --seed 1"
    monkeypatch.setattr(sys, "argv", ["conformance", *arguments.split()])
    assert conformance.main() == 1
    assert capsys.readouterr().out.endswith(f"conformance: {50 + 9 + 3 + 3} passed, {1 + 1 + 1 + 3} failed\n")
