"""Measuring the questions before anything is broken: what is kept is what a control plane does; and what can't be asked."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from evals import measuring
from evals.command import main
from evals.predictions import SHELF
from fault_injection.lab.errors import ApiError


@pytest.mark.parametrize(
    ("kind", "name", "why"),
    [
        ("copies", "busy-node-and-short-node", "no claim with a device class"),
        ("fits", "busy-node-and-short-node", "no claim with a device class"),
        ("nodes", "runs-beside-old-noise", "no pod that waits"),
        ("nodes", "claims-of-pods-long-gone", "only 1 other shapes with gpu.amd.com"),
    ],
)
def test_what_cannot_be_asked_is_told_and_nothing_is_kept(
    kind: str, name: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(measuring, "SHELF", tmp_path)
    assert main(["measure", "--ask", kind, name]) == 1
    told = capsys.readouterr().err
    assert told.startswith(f"evals: {name}: ")
    assert why in told
    assert list(tmp_path.iterdir()) == []


def test_a_kind_that_there_is_not_and_a_fault_that_there_is_not_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["measure", "--ask", "size", "returned-but-marked"])
    assert "copies" in capsys.readouterr().err
    assert main(["measure", "returned-but-market"]) == 1
    assert "no fault 'returned-but-market'; near it: returned-but-marked" in capsys.readouterr().err


@pytest.mark.skipif(not os.environ.get("TOPO_LAB"), reason="a real control plane, minutes: TOPO_LAB=1 make test ARGS=tests/evals")
@pytest.mark.parametrize(
    ("kind", "name"), [("copies", "numa-node-of-four"), ("fits", "returned-but-marked"), ("nodes", "numa-node-with-three-free")]
)
def test_a_measurement_comes_out_as_it_is_kept(kind: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "SHELF", tmp_path)
    path, _ = measuring.measure(kind, name, "1.37")
    assert path.read_text() == (SHELF / path.name).read_text()


@pytest.mark.parametrize(("status", "reason"), [(403, "Forbidden"), (422, "Invalid"), (500, "InternalError")])
def test_only_what_is_forbidden_does_not_start(status: int, reason: str) -> None:
    """Any other refusal is no measurement."""

    class Client:
        def create(self, item: dict[str, Any]) -> None:
            if item["kind"] == "Pod":
                raise ApiError("POST", "/pods", status, reason, "no")

    injection: Any = SimpleNamespace(place=SimpleNamespace(client=Client()))
    manifest = [{"kind": "ResourceClaimTemplate"}, {"kind": "Pod", "metadata": {"name": "a", "namespace": "b"}}]
    if status == 403:
        assert measuring._started(injection, manifest) == 0
        return
    with pytest.raises(ApiError, match=reason):
        measuring._started(injection, manifest)
