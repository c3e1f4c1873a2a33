"""`doctor`: what it says of a cluster, and its exit status."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from fault_injection.replay import Server, serve
from k8s_topo_mcp.cli import main
from k8s_topo_mcp.sources.live.noticing import LIST

FOUR = str(Path(__file__).parents[1] / "scenes" / "four-h100-nodes")
Captured = pytest.CaptureFixture[str]


@pytest.fixture
def server() -> Iterator[Server]:
    with serve(FOUR, token="canary-4be1d0c8f2") as made:
        yield made


@pytest.fixture
def kubeconfig(server: Server, tmp_path: Path) -> str:
    return str(server.kubeconfig(tmp_path / "config"))


def lines(capsys: Captured) -> list[tuple[str, str]]:
    """(label, text), with broken lines joined."""
    found: list[tuple[str, str]] = []
    out, err = capsys.readouterr()
    assert err == ""
    assert "canary" not in out
    for line in out.splitlines():
        label, text = line[:11].strip(), line[11:]
        if label:
            found.append((label, text))
        else:
            found[-1] = (found[-1][0], f"{found[-1][1]} {text}")
    return found


def test_a_cluster_that_can_be_read_is_well(server: Server, kubeconfig: str, capsys: Captured) -> None:
    assert main(["doctor", "--kubeconfig", kubeconfig]) == 0
    said = lines(capsys)
    found = dict(said)
    assert found["cluster"] == f"replay at {server.url}: answers and is ready"
    assert found["release"].startswith("Kubernetes 1.37")
    assert "known from the API server's /metrics" in found["gates"]
    assert found["drivers"].startswith("gpu.nvidia.com: 32 devices in 4 pools on 4 nodes")
    assert not {"missing", "lacks", "hidden", "next", "clock"} & set(found)
    assert server.writes == []
    # One object of each kind is enough to learn whether it may be read; only slices are read whole, for their drivers.
    listed = [request for request in server.requests if request.path.endswith("/pods")]
    assert [request.query.get("limit") for request in listed] == ["1"]


def test_what_may_not_be_read_is_named_with_what_that_means(server: Server, kubeconfig: str, capsys: Captured) -> None:
    server.faults.on("forbidden", None, "resourcequotas")
    assert main(["doctor", "--kubeconfig", kubeconfig]) == 5
    found = dict(lines(capsys))
    assert found["lacks"] == "ResourceQuota: not permitted in all namespaces; a workload that a quota holds back isn't explained"
    assert "k8s-topo-mcp rbac" in found["next"]
    assert "missing" not in found
    server.faults.on("forbidden", None, "resourceslices.resource.k8s.io")
    assert main(["doctor", "--kubeconfig", kubeconfig]) == 4
    found = dict(lines(capsys))
    assert found["missing"] == "ResourceSlice: not permitted; no device is known, so no claim can be judged"
    assert found["drivers"] == "unknown, as ResourceSlices can't be read"


def test_kinds_that_are_to_be_noted_are_tried_by_their_metadata(server: Server, kubeconfig: str, capsys: Captured) -> None:
    command = ["doctor", "--kubeconfig", kubeconfig, "--also-watch", "configmaps,networkpolicies"]
    assert main(command) == 0
    assert dict(lines(capsys))["notes"].startswith("ConfigMap, NetworkPolicy: ")
    tried = [request for request in server.requests if request.path.endswith(("/configmaps", "/networkpolicies"))]
    assert [(request.headers["accept"], request.query.get("limit")) for request in tried] == [(LIST, "1")] * 2
    server.faults.on("forbidden", None, "configmaps")
    assert main(command) == 5
    said = lines(capsys)
    found = dict(said)
    assert ("lacks", "ConfigMap: not permitted in all namespaces; when one was written isn't noted") in said
    assert found["notes"].startswith("NetworkPolicy: ")
    assert "k8s-topo-mcp rbac --also-watch configmaps,networkpolicies | kubectl" in found["next"]
    server.faults.off()
    before = len(tried)
    assert main(["doctor", "--kubeconfig", kubeconfig]) == 0
    assert "notes" not in dict(lines(capsys))
    assert len([request for request in server.requests if request.path.endswith("/configmaps")]) == before
    assert main([*command[:-1], "secrets"]) == 2


def test_some_namespaces_alone_are_some_of_the_truth(server: Server, kubeconfig: str, capsys: Captured) -> None:
    server.faults.on("forbidden", "secret-team", "pods")
    assert main(["doctor", "--kubeconfig", kubeconfig, "--namespaces", "default"]) == 5
    found = dict(lines(capsys))
    assert found["hidden"].startswith("Pod, ResourceClaim, Lease")
    assert "outside of default" in found["hidden"]


@pytest.mark.parametrize(
    ("fault", "status", "label", "said"),
    [
        ("etcd", 4, "cluster", "it isn't ready (500)"),
        ("no-discovery", 0, "discovery", "may not be asked (/api, /apis: 403)"),
        ("clock=-3600", 0, "clock", "behind this machine's"),
        ("not-served@devicetaintrules.resource.k8s.io", 0, "not there", "DeviceTaintRule"),
        ("not-served@pods", 4, "missing", "Pod: the API server doesn't serve it; no pod can be explained"),
    ],
)
def test_faults_are_told(fault: str, status: int, label: str, said: str, server: Server, kubeconfig: str, capsys: Captured) -> None:
    server.faults.specify(fault)
    assert main(["doctor", "--kubeconfig", kubeconfig]) == status
    assert any(name == label and said in text for name, text in lines(capsys))


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("unauthorized", "error: replay: the API server doesn't accept the credentials (401)"),
        ("reset", "error: replay: http://127.0.0.1:"),
        ("truncated", "error: replay: an answer that isn't JSON, or was cut short"),
    ],
)
def test_a_cluster_that_cannot_be_asked_is_one_line(fault: str, said: str, server: Server, kubeconfig: str, capsys: Captured) -> None:
    server.faults.specify(fault)
    assert main(["doctor", "--kubeconfig", kubeconfig]) == 4
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(said)
    assert err.count("\n") == 1


def test_without_a_cluster_the_ways_to_name_one_are_said(capsys: Captured) -> None:
    assert main(["doctor"]) == 2
    assert capsys.readouterr().err.startswith("error: no live cluster to look at: give --kubeconfig FILE")


def test_the_autoscaler_s_status_is_tried(server: Server, kubeconfig: str, capsys: Captured) -> None:
    assert main(["doctor", "--kubeconfig", kubeconfig]) == 0
    status = "ConfigMap kube-system/cluster-autoscaler-status"
    assert dict(lines(capsys))["autoscaler"] == f"{status} may be read and isn't there: no Cluster Autoscaler writes it"
    server.faults.on("forbidden", None, "configmaps")
    assert main(["doctor", "--kubeconfig", kubeconfig]) == 5
    found = dict(lines(capsys))
    rule = "configmaps, resourceNames cluster-autoscaler-status: get in kube-system"
    assert found["lacks"].startswith(f"{status}: not permitted; missing rule: {rule}; ")
    assert "k8s-topo-mcp rbac" in found["next"]
    before = len(server.requests)
    assert main(["doctor", "--kubeconfig", kubeconfig, "--namespaces", "default"]) == 5
    assert "isn't read with --namespaces" in dict(lines(capsys))["autoscaler"]
    assert not [request for request in server.requests[before:] if "configmaps" in request.path]


def test_many_kinds_that_fail_alike_are_one_line(server: Server, kubeconfig: str, capsys: Captured) -> None:
    server.faults.on("etcd")
    assert main(["doctor", "--kubeconfig", kubeconfig]) == 4
    told = [text for label, text in lines(capsys) if label in ("missing", "lacks")]
    assert len(told) == 1
    assert re.match(r"\d\d kinds: the API server answers 500: .*look at etcd first: DeviceClass, Node, Pod, ", told[0])
    assert told[0].endswith(" more")
    server.faults.off()
    for resource in ("pods", "nodes", "jobs.batch", "leases.coordination.k8s.io", "events"):
        server.faults.on("status", "429:0", resource)
    assert main(["doctor", "--kubeconfig", kubeconfig]) == 4
    (told,) = [[text] for label, text in lines(capsys) if label in ("missing", "lacks")]
    assert told[0].startswith("5 kinds: the API server answers 429: ")
    assert told[0].endswith("wait, and look again: Node, Pod, Event, Job, Lease")


def test_a_namespace_that_may_not_be_read_is_told_from_one_that_may(server: Server, kubeconfig: str, capsys: Captured) -> None:
    server.faults.on("forbidden", "kube-system", "pods")
    assert main(["doctor", "--kubeconfig", kubeconfig, "--namespaces", "default,kube-system"]) == 5
    found = dict(lines(capsys))
    assert found["lacks"].startswith("Pod: not permitted in kube-system, though it is in default; in kube-system: no pod can be explained")
    assert "missing" not in found
    assert "namespaces" not in found


def test_a_namespace_that_is_not_there_is_said(kubeconfig: str, capsys: Captured) -> None:
    assert main(["doctor", "--kubeconfig", kubeconfig, "--namespaces", "default,defualt"]) == 5
    assert dict(lines(capsys))["namespaces"] == "defualt: there is no such namespace, so nothing is found in it; is it spelt right?"


def test_a_namespace_of_which_nothing_may_be_read_is_one_line_that_names_it(server: Server, kubeconfig: str, capsys: Captured) -> None:
    for resource in ("pods", "events", "resourcequotas", "limitranges", "persistentvolumeclaims"):
        server.faults.on("forbidden", "kube-system", resource)
    assert main(["doctor", "--kubeconfig", kubeconfig, "--namespaces", "default,kube-system"]) == 5
    (told,) = [text for label, text in lines(capsys) if label in ("missing", "lacks")]
    assert told.startswith("5 kinds: not permitted in kube-system, though it is in default; ")
    assert told.endswith(": Event, LimitRange, PersistentVolumeClaim, Pod, ResourceQuota")
