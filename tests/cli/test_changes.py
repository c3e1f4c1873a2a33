"""`changes`, an older snapshot beside the present one, and the journal's option."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from k8s_topo_mcp.cli import journal as option
from k8s_topo_mcp.cli import main
from k8s_topo_mcp.cli.source import VARIABLE
from k8s_topo_mcp.sources.journal import JournalError

SCENE = Path(__file__).parents[1] / "scenes" / "four-h100-nodes" / "objects.json"
Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _no_snapshot_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


@pytest.fixture
def two(tmp_path: Path) -> tuple[str, str]:
    """The recorded scene, and the same before its pods were made, when gpu-2 had a device more and the class took anything."""
    now: dict[str, Any] = json.loads(SCENE.read_text(encoding="utf-8"))
    before = json.loads(SCENE.read_text(encoding="utf-8"))
    before["items"] = [item for item in before["items"] if item["kind"] in ("Node", "ResourceSlice", "DeviceClass", "Namespace")]
    for item in before["items"]:
        if item["kind"] == "ResourceSlice" and item["spec"]["nodeName"] == "gpu-2":
            item["spec"]["devices"].append({**item["spec"]["devices"][0], "name": "gpu-8"})
        if item["kind"] == "DeviceClass":
            item["spec"]["selectors"] = []
    paths = tmp_path / "now.json", tmp_path / "before.json"
    for path, content in zip(paths, (now, before), strict=True):
        path.write_text(json.dumps(content), encoding="utf-8")
    return str(paths[0]), str(paths[1])


def test_what_changed_between_two_snapshots(two: tuple[str, str], capsys: Captured) -> None:
    now, before = two
    assert main(["changes", "trainer-0", "--snapshot", now, "--before", before]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "DeviceClass gpu.nvidia.com spec.selectors: none → device.driver == 'gpu.nvidia.com'" in out
    assert "ResourceSlice gpu-2-gpu.nvidia.com spec.devices: gpu-8 → none · devices it could use" in out
    assert "two snapshots compared" in out
    assert out.splitlines()[-1].startswith("basis  ")


def test_explain_knows_of_them_too(two: tuple[str, str], capsys: Captured) -> None:
    now, before = two
    assert main(["explain", "trainer-0", "--snapshot", now]) == 0
    plain = capsys.readouterr().out
    assert main(["explain", "trainer-0", "--snapshot", now, "--before", before]) == 0
    lines = capsys.readouterr().out.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("before it  "))
    assert "DeviceClass gpu.nvidia.com spec.selectors" in lines[start]
    assert [*lines[:start], *lines[start + 2 :]] == plain.splitlines()


def test_objects_namespaces_and_json(two: tuple[str, str], capsys: Captured) -> None:
    now, before = two
    assert main(["changes", "--object", "Node/gpu-2", "--since", "2h", "--snapshot", now, "--before", before, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["subject"] == {"kind": "Node", "name": "gpu-2"}
    assert said["changes"][0]["object"] == "ResourceSlice gpu-2-gpu.nvidia.com"
    assert main(["changes", "nobody", "--snapshot", now]) == 2
    assert capsys.readouterr().err.startswith('error: pod "nobody" not found.')


def test_an_older_one_that_is_newer_or_missing_is_one_line(two: tuple[str, str], capsys: Captured) -> None:
    now, before = two
    assert main(["changes", "--snapshot", now, "--before", before, "--as-of", "2020-01-01T00:00:00Z"]) == 4
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "later than what it is to be before (2020-01-01T00:00Z); swap them" in err
    assert main(["changes", "--snapshot", now, "--before", before + "x"]) == 4
    assert "before.jsonx" in capsys.readouterr().err


def options(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    option.add_argument(parser)
    return parser.parse_args(arguments)


def test_a_journal_is_kept_unless_it_is_not_wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert option.opened(options("--journal", "none"), "prod") is None
    for arguments, path in (
        ((), tmp_path / "k8s-topo-mcp" / "prod.sqlite"),
        (("--journal", str(tmp_path / "a.sqlite")), tmp_path / "a.sqlite"),
    ):
        journal = option.opened(options(*arguments), "prod")
        assert journal is not None
        assert journal.path == path
        journal.close()


def test_a_place_that_cannot_be_used_is_refused_when_it_was_named_and_else_only_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    assert option.opened(options(), "prod") is None
    assert "no journal is kept" in caplog.text
    with pytest.raises(JournalError):
        option.opened(options("--journal", str(tmp_path / "file" / "j.sqlite")), "prod")
