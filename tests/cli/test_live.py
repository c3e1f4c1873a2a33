"""Commands on a live cluster: which one is read, and how."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fault_injection.replay import Faults, Server, serve
from k8s_topo_mcp.cli import main
from k8s_topo_mcp.cli.source import VARIABLE

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
