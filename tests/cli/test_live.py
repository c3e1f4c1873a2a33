"""Commands on a live cluster: which one is read, and how."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from fault_injection.replay import Faults, Server, serve
from k8s_topo_mcp.cli import main
from k8s_topo_mcp.cli.source import VARIABLE
from k8s_topo_mcp.objects import Node
from k8s_topo_mcp.sources.journal import identity, open_journal
from k8s_topo_mcp.sources.live.source import LiveSource

SCENES = Path(__file__).parents[1] / "scenes"
FOUR = str(SCENES / "four-h100-nodes")
GANG = str(SCENES / "gang-16.json")
Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _nothing_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


@pytest.fixture
def server() -> Iterator[Server]:
    with serve(FOUR) as made:
        yield made


@pytest.fixture
def kubeconfig(server: Server, tmp_path: Path) -> str:
    return str(server.kubeconfig(tmp_path / "config"))


def basis(capsys: Captured) -> str:
    return capsys.readouterr().out.splitlines()[-1]


def test_a_command_lists_once_and_watches_nothing(server: Server, kubeconfig: str, capsys: Captured) -> None:
    assert main(["explain", "trainer-0", "--kubeconfig", kubeconfig]) == 0
    out = capsys.readouterr().out
    assert out.startswith("default/trainer-0 is blocked")
    assert "live replay, " in out.splitlines()[-1]
    assert not any(request.flag("watch") for request in server.requests)
    assert server.writes == []
    assert main(["explain", "trainer-0", "--snapshot", FOUR]) == 0
    assert capsys.readouterr().out.splitlines()[0] == out.splitlines()[0]


def test_every_answering_command_reads_a_live_cluster(kubeconfig: str, tmp_path: Path, capsys: Captured) -> None:
    claim = tmp_path / "claim.yaml"
    claim.write_text("apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: a}\nspec: {devices: {requests: [{name: g, exactly: {deviceClassName: gpu.nvidia.com}}]}}\n")  # fmt: skip  # noqa: E501
    for command in (["topology"], ["fits", str(claim)], ["call", "explain_pending", "pod=default/vlm-0"]):
        assert main([*command, "--kubeconfig", kubeconfig]) == 0
        assert "live replay" in basis(capsys)


def test_the_kubeconfig_may_come_from_the_environment(kubeconfig: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setenv("KUBECONFIG", kubeconfig)
    assert main(["topology"]) == 0
    assert "live replay" in basis(capsys)
    assert main(["topology", "--context", "replay"]) == 0
    assert "live replay" in basis(capsys)
    monkeypatch.setenv(VARIABLE, GANG)
    assert main(["topology"]) == 0
    assert "gang-16" in basis(capsys)
    assert main(["topology", "--context", "replay"]) == 0
    assert "live replay" in basis(capsys)


def test_what_may_not_be_read_sets_the_exit_status(kubeconfig: str, server: Server, capsys: Captured) -> None:
    server.faults.on("forbidden", None, "resourcequotas")
    assert main(["topology", "--kubeconfig", kubeconfig]) == 5
    assert "unreadable: ResourceQuota (not permitted in all namespaces)" in basis(capsys)


def test_namespaces_are_the_only_ones_read_and_the_answer_says_so(kubeconfig: str, server: Server, capsys: Captured) -> None:
    assert main(["explain", "trainer-0", "--kubeconfig", kubeconfig, "--namespaces", "default"]) == 5
    last = basis(capsys)
    assert "Pod (in default only)" in last
    assert "only default can be seen" in last
    assert {request.path for request in server.requests if request.path.endswith("/pods")} == {"/api/v1/namespaces/default/pods"}


def test_the_release_can_be_given(kubeconfig: str, capsys: Captured) -> None:
    assert main(["topology", "--kubeconfig", kubeconfig, "--kubernetes-version", "1.36", "--gates", "DRADeviceTaints=false"]) == 0
    last = basis(capsys)
    assert "Kubernetes 1.36" in last
    assert "DRADeviceTaints=false" in last


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "k8s-topo-mcp"


def written(kubeconfig: str, path: Path | None = None, minutes: float = 5) -> Path:
    """A journal of the cluster, as a server leaves it: gpu-2 was cordoned and opened again."""
    live = LiveSource(kubeconfig, None, watch=False)
    live.start()
    view = live.view()
    live.close()
    node = view.get(Node, "gpu-2")
    assert node is not None
    at = view.now - minutes * 60
    journal = open_journal(path, identity(live.name, view), lambda: at)
    journal.watching(at - 60)
    journal.changed(node, replace(node, unschedulable=True), at)
    journal.changed(replace(node, unschedulable=True), node, at + 30)
    journal.close()
    return journal.path


CORDONED = "Node gpu-2 spec.unschedulable: false → true"


def test_what_a_server_saw_is_told_by_commands_too(kubeconfig: str, state: Path, capsys: Captured) -> None:
    assert main(["changes", "--kubeconfig", kubeconfig]) == 0
    assert "nobody watched" in capsys.readouterr().out
    assert not state.exists()  # nothing is made by looking
    path = written(kubeconfig)
    assert path.parent == state
    before = {entry.name: entry.stat().st_mtime_ns for entry in state.iterdir() if not entry.name.endswith(("-wal", "-shm"))}
    for command in (["changes"], ["changes", "--object", "Node/gpu-2"], ["call", "recent_changes"]):
        assert main([*command, "--kubeconfig", kubeconfig]) == 0
        assert CORDONED in capsys.readouterr().out
    assert {entry.name: entry.stat().st_mtime_ns for entry in state.iterdir() if not entry.name.endswith(("-wal", "-shm"))} == before
    assert main(["changes", "--kubeconfig", kubeconfig, "--journal", "none"]) == 0
    assert "nobody watched" in capsys.readouterr().out


def test_a_journal_is_read_while_it_is_written(kubeconfig: str, state: Path, capsys: Captured) -> None:
    path = written(kubeconfig)
    with closing(sqlite3.connect(path)) as db:
        (cluster,) = db.execute("SELECT value FROM about WHERE key = 'cluster'").fetchone()
    writer = open_journal(path, cluster)
    try:
        assert main(["changes", "--kubeconfig", kubeconfig]) == 0
        assert CORDONED in capsys.readouterr().out
    finally:
        writer.close()


def test_a_journal_that_is_named_has_to_be_this_cluster_s(kubeconfig: str, state: Path, tmp_path: Path, capsys: Captured) -> None:
    path = written(kubeconfig, tmp_path / "named.sqlite")
    assert main(["changes", "--kubeconfig", kubeconfig, "--journal", str(path)]) == 0
    assert CORDONED in capsys.readouterr().out
    open_journal(tmp_path / "other.sqlite", "other").close()
    for named, said in (("other", "is the journal of cluster 'other', not of 'replay"), ("none-there", "there is no such journal")):
        assert main(["changes", "--kubeconfig", kubeconfig, "--journal", str(tmp_path / f"{named}.sqlite")]) == 4
        out, err = capsys.readouterr()
        assert out == ""
        assert said in err
        assert err.count("\n") == 1
    assert not (tmp_path / "none-there.sqlite").exists()


def test_a_journal_in_the_default_place_that_cannot_be_read_is_a_note(kubeconfig: str, state: Path, capsys: Captured) -> None:
    path = written(kubeconfig)
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    path.write_bytes(b"no journal at all, but long enough for a header" * 100)
    assert main(["changes", "--kubeconfig", kubeconfig]) == 0
    out = capsys.readouterr().out
    assert "journal: " in out
    assert "file is not a database" in out
    assert main(["explain", "trainer-0", "--kubeconfig", kubeconfig]) == 0


def test_an_older_snapshot_stands_before_a_live_cluster(kubeconfig: str, tmp_path: Path, capsys: Captured) -> None:
    now = json.loads((SCENES / "four-h100-nodes" / "objects.json").read_text(encoding="utf-8"))
    for item in now["items"]:
        if item["kind"] == "Node" and item["metadata"]["name"] == "gpu-2":
            item["spec"]["unschedulable"] = True
    (tmp_path / "before.json").write_text(json.dumps(now), encoding="utf-8")
    assert main(["changes", "--kubeconfig", kubeconfig, "--before", str(tmp_path / "before.json")]) == 0
    out = capsys.readouterr().out
    assert "Node gpu-2 spec.unschedulable: true → false" in out
    assert "two snapshots compared" in out


def test_a_cluster_that_cannot_be_reached_is_one_line_and_status_4(tmp_path: Path, capsys: Captured) -> None:
    with serve(FOUR, Faults()) as gone:
        kubeconfig = gone.kubeconfig(tmp_path / "gone")
    assert main(["explain", "--kubeconfig", str(kubeconfig)]) == 4
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error: replay: {gone.url} can't be reached: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "no cluster to read: give --snapshot PATH"),
        (["--kubeconfig", "missing"], "--kubeconfig missing: there is no such file."),
        (["--context", "a", "--demo"], "--context is for a live cluster, --demo names another; give one."),
        (["--namespaces", "a", "--snapshot", GANG], "--namespaces is for a live cluster, --snapshot names another; give one."),
        (["--kubeconfig", "CONFIG", "--namespaces", "a,../b"], "--namespaces: '../b' isn't the name of a namespace"),
        (["--kubeconfig", "CONFIG", "--as-of", "2026-11-30T00:00:00Z"], "--as-of is for snapshots; a live cluster is judged as of now."),
        (["--kubeconfig", "CONFIG", "--version-json", "v"], "--version-json is for snapshots"),
        (["--kubeconfig", "CONFIG", "--kubernetes-version", "new"], "--kubernetes-version: 'new' is not a Kubernetes version"),
        (["--kubeconfig", "CONFIG", "--gates", "A"], "--gates: 'A' isn't NAME=true or NAME=false"),
        (["--journal", "j.sqlite", "--demo"], "--journal is for a live cluster: a snapshot doesn't change."),
        (["--journal", "j.sqlite", "--snapshot", GANG], "--journal is for a live cluster: a snapshot doesn't change."),
        (["--journal", "j.sqlite", "--kubeconfig", "CONFIG", "--before", GANG], "--journal and --before both say what came before"),
    ],
)
@pytest.mark.parametrize("command", ["explain", "serve"])
def test_options_that_cannot_be_meant_so_are_one_line(
    command: str, options: list[str], said: str, kubeconfig: str, capsys: Captured
) -> None:
    assert main([command, *(kubeconfig if option == "CONFIG" else option for option in options)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error: {said}")
    assert err.count("\n") == 1


def test_a_server_on_a_live_cluster_has_no_use_for_an_older_snapshot(kubeconfig: str, capsys: Captured) -> None:
    assert main(["serve", "--kubeconfig", kubeconfig, "--before", GANG]) == 2
    assert capsys.readouterr().err.startswith("error: --before is for a snapshot, or for a single question;")


def test_without_any_source_all_ways_are_named(capsys: Captured) -> None:
    assert main(["explain"]) == 2
    err = capsys.readouterr().err
    assert all(way in err for way in ("--snapshot", VARIABLE, "--demo", "--kubeconfig", "$KUBECONFIG", "in a pod"))


def test_rbac_is_printed(capsys: Captured) -> None:
    assert main(["rbac"]) == 0
    assert capsys.readouterr().out == (Path(__file__).parents[2] / "deploy" / "rbac.yaml").read_text()
    assert main(["rbac", "--namespaces", "team-a,team-b"]) == 0
    assert capsys.readouterr().out == (Path(__file__).parents[2] / "deploy" / "rbac-namespaced.yaml").read_text()
    assert main(["rbac", "--namespaces", "a_b"]) == 2
    assert capsys.readouterr().err.startswith("error: --namespaces: 'a_b' isn't the name of a namespace")
