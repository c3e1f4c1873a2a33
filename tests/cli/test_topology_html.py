"""`topology --html`: a file that is there whole or not at all, over nothing but an older page; what is wrong is one line."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from k8s_topo_mcp.cli import main
from k8s_topo_mcp.cli.source import VARIABLE
from k8s_topo_mcp.rendering.page import MARK


@pytest.fixture(autouse=True)
def _no_snapshot_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


Captured = pytest.CaptureFixture[str]


def test_a_page_is_written_for_its_owner_alone_and_said_in_one_line(tmp_path: Path, capsys: Captured) -> None:
    target = tmp_path / "out.html"
    assert main(["topology", "--demo", "--html", str(target)]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    size = target.stat().st_size
    assert err == f"{target}: 20 nodes, 422 devices, {size:,} bytes, with the names as they were read\n"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert MARK in target.read_text(encoding="utf-8")
    assert os.listdir(tmp_path) == ["out.html"]


def test_an_older_page_is_replaced(tmp_path: Path, capsys: Captured) -> None:
    target = tmp_path / "out.html"
    assert main(["topology", "node/h100-0", "--demo", "--html", str(target)]) == 0
    small = target.read_bytes()
    assert main(["topology", "--demo", "--html", str(target)]) == 0
    assert len(target.read_bytes()) > len(small)
    assert os.listdir(tmp_path) == ["out.html"]
    capsys.readouterr()


def test_a_dash_is_stdout(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    target = tmp_path / "out.html"
    assert main(["topology", "--demo", "--html", str(target)]) == 0
    capfdbinary.readouterr()
    assert main(["topology", "--demo", "--html", "-"]) == 0
    out, err = capfdbinary.readouterr()
    assert out == target.read_bytes()
    assert err == b""


def refused(target: str, capsys: Captured) -> str:
    assert main(["topology", "--demo", "--html", target]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    return err


def test_what_is_no_page_is_left_alone(tmp_path: Path, capsys: Captured) -> None:
    other = tmp_path / "values.yaml"
    other.write_text("a: 1")
    assert "exists and is no page of this command" in refused(str(other), capsys)
    assert other.read_text() == "a: 1"
    assert "is a folder" in refused(str(tmp_path), capsys)
    assert "is a folder" in refused(f"{tmp_path}/new/", capsys)
    assert f"there is no folder {tmp_path}/nowhere" in refused(f"{tmp_path}/nowhere/out.html", capsys)
    assert refused("", capsys).startswith("error: --html: needs the name of a file")
    link = tmp_path / "link.html"
    link.symlink_to(other)
    assert "isn't a regular file" in refused(str(link), capsys)
    assert "isn't a regular file" in refused(os.devnull, capsys)
    assert sorted(os.listdir(tmp_path)) == ["link.html", "values.yaml"]


def test_where_nothing_may_be_written_is_refused_before_the_cluster_is_read(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: Path(path) != tmp_path)  # root may write anywhere
    target = f"{tmp_path}/out.html"
    assert main(["topology", "--snapshot", "missing.json", "--html", target]) == 2
    assert capsys.readouterr().err == f"error: {target}: can't be written: Permission denied\n"


def test_a_full_disk_leaves_the_older_page_and_nothing_else(tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "out.html"
    assert main(["topology", "node/h100-0", "--demo", "--html", str(target)]) == 0
    older = target.read_bytes()
    capsys.readouterr()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    assert "can't be written: No space left on device" in refused(str(target), capsys)
    assert target.read_bytes() == older
    assert os.listdir(tmp_path) == ["out.html"]


@pytest.mark.parametrize("also", [["--depth", "device"], ["--format", "json"], ["--json"], ["--exit-code"]])
def test_what_a_page_has_no_use_for_is_refused(also: list[str], tmp_path: Path, capsys: Captured) -> None:
    assert main(["topology", "--demo", "--html", str(tmp_path / "out.html"), *also]) == 2
    assert capsys.readouterr().err == f"error: --html writes a page of everything; leave out {also[0]}.\n"


def test_a_scope_that_is_not_there_writes_nothing(tmp_path: Path, capsys: Captured) -> None:
    assert main(["topology", "node/nope", "--demo", "--html", str(tmp_path / "out.html")]) == 2
    assert capsys.readouterr().err.startswith('error: node "nope" not found.')
    assert os.listdir(tmp_path) == []


def test_kinds_that_could_not_be_read_set_the_exit_status(tmp_path: Path, capsys: Captured) -> None:
    snapshot = tmp_path / "partial.json"
    snapshot.write_text(
        '{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}},'
        '{"apiVersion":"k8s-topo-mcp/v1","kind":"SnapshotInfo","unreadable":[{"kind":"Pod","reason":"403"}]}]}'
    )
    assert main(["topology", "--snapshot", str(snapshot), "--html", str(tmp_path / "out.html")]) == 5
    assert "1 node, 0 devices" in capsys.readouterr().err
