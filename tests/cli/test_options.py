"""Options that would do nothing are refused, with what would be right."""

from __future__ import annotations

from pathlib import Path

import pytest

from k8s_topo_mcp.cli import main

GANG = str(Path(__file__).parents[1] / "scenes" / "gang-16.json")
Captured = pytest.CaptureFixture[str]


@pytest.mark.parametrize("cluster", [["--snapshot", GANG], ["--demo"], []])
@pytest.mark.parametrize("http", [[], ["--http", "127.0.0.1:0"]])
def test_a_snapshot_keeps_no_journal(
    cluster: list[str], http: list[str], tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("K8S_TOPO_SNAPSHOT", GANG)
    path = tmp_path / "journal.sqlite"
    assert main(["serve", *cluster, *http, "--journal", str(path)]) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: --journal is for a live cluster: a snapshot doesn't change.")
    assert said.count("\n") == 1
    assert not path.exists()


@pytest.mark.parametrize("command", [["serve"], ["snapshot", "-"]])
def test_a_server_on_a_live_cluster_and_a_snapshot_have_no_older_one(command: list[str], tmp_path: Path, capsys: Captured) -> None:
    config = tmp_path / "config"
    config.write_text("{}")
    assert main([*command, "--kubeconfig", str(config), "--before", GANG]) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: --before ")
    assert said.count("\n") == 1


def test_a_snapshot_is_written_of_one_moment(tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / "out.json"
    assert main(["snapshot", str(out), "--snapshot", GANG, "--before", GANG]) == 2
    assert capsys.readouterr().err.startswith("error: --before is for answers, and a snapshot holds none; leave it out")
    assert not out.exists()
