"""kubectl works against the server, where there is one: on PATH, or named by KUBECTL."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fault_injection.replay import Server, serve

from .cluster import PATIENCE, cluster, eventually, pod

Kubectl = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def server() -> Iterator[Server]:
    about = {"kind": "Pod", "name": "q0", "namespace": "b", "apiVersion": "v1", "uid": "uid-of-q0"}
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "q0.1", "namespace": "b"},
        "involvedObject": about,
        "reason": "FailedScheduling",
        "message": "no room",
        "type": "Warning",
        "count": 3,
    }
    waiting = pod("q0", "b", 25, phase="Pending")
    waiting["metadata"]["uid"] = "uid-of-q0"
    with serve([*cluster(), waiting, event], token="t", tls=True) as running:
        yield running


@pytest.fixture
def environment(server: Server, tmp_path: Path) -> dict[str, str]:
    program = os.environ.get("KUBECTL") or shutil.which("kubectl")
    if program is None:
        pytest.skip("no kubectl on PATH; KUBECTL=/path/to/kubectl names one")
    kubeconfig = server.kubeconfig(tmp_path / "kubeconfig")
    return {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "KUBECONFIG": str(kubeconfig), "KUBECTL": program}


@pytest.fixture
def kubectl(environment: dict[str, str]) -> Kubectl:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [environment["KUBECTL"], *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE)

    return run


def test_get(kubectl: Kubectl) -> None:
    table = kubectl("get", "pods", "-A").stdout.splitlines()
    assert table[0].split() == ["NAMESPACE", "NAME", "READY", "STATUS", "RESTARTS", "AGE"]
    assert [line.split()[:2] for line in table[1:]] == [["a", "p0"], ["a", "p1"], ["a", "p2"], ["b", "q0"], ["b", "q1"]]
    wide = kubectl("get", "pods", "-A", "-o", "wide").stdout.splitlines()
    assert wide[0].split()[-6:] == ["IP", "NODE", "NOMINATED", "NODE", "READINESS", "GATES"]
    found = json.loads(kubectl("get", "pods", "-n", "a", "-l", "app=db", "-o", "json").stdout)
    assert [item["metadata"]["name"] for item in found["items"]] == ["p0", "p2"]
    assert {item["kind"] for item in found["items"]} == {"Pod"}
    assert kubectl("get", "policies", "-n", "a", "-o", "name").stdout == "policy.stable.example.com/one\n"
    assert kubectl("get", "pods", "-A", "--chunk-size=2", "--no-headers").stdout.count("\n") == 5
    assert "n0" in kubectl("get", "po", "p0", "-n", "a", "-o", "yaml").stdout


def test_discovery_and_version(kubectl: Kubectl) -> None:
    resources = kubectl("api-resources", "--no-headers").stdout
    assert "resourceslices" in resources
    assert "stable.example.com/v1" in kubectl("api-versions").stdout
    assert json.loads(kubectl("version", "-o", "json").stdout)["serverVersion"]["minor"] == "37"


def test_describe_shows_the_events(kubectl: Kubectl) -> None:
    told = kubectl("describe", "pod", "q0", "-n", "b").stdout
    assert "FailedScheduling" in told
    assert "no room" in told


def test_writes_are_refused(kubectl: Kubectl, server: Server) -> None:
    for command in (("delete", "pod", "p0", "-n", "a"), ("label", "node", "n0", "a=b")):
        refused = kubectl(*command)
        assert refused.returncode != 0
        assert "the server does not allow this method on the requested resource" in refused.stderr
    assert {request.method for request in server.writes} == {"DELETE", "PATCH"}


def test_watch(environment: dict[str, str], server: Server) -> None:
    process = subprocess.Popen([environment["KUBECTL"], "get", "pods", "-n", "b", "-w"], env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert [process.stdout.readline().split()[0] for _ in range(3)] == ["NAME", "q0", "q1"]
        eventually(lambda: server.watching == 1)
        server.apply(pod("q1", "b", phase="Failed"))
        assert process.stdout.readline().split()[:3] == ["q1", "0/1", "Failed"]
    finally:
        process.kill()
        process.wait()
