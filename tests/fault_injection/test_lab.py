"""Parts of the lab that need no control plane: gates, flags, kubeconfigs, the fence around somebody else's cluster."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from fault_injection.lab import Lab, LabError, credentials
from fault_injection.lab.build import PINS, stamp
from fault_injection.lab.client import Client
from fault_injection.lab.command import main, parse_gates
from fault_injection.lab.control_plane import free_ports
from fault_injection.lab.existing import ExistingCluster, read_kubeconfig
from fault_injection.lab.kubelets import running
from fault_injection.lab.recording import gate_lines, read_gates, record, write
from fault_injection.lab.releases import VERSIONS, apis_for
from k8s_topo_mcp.objects import Node, Pod
from k8s_topo_mcp.sources.snapshot import load, load_text
from tests.sources.canaries import planted


def test_gates_are_of_all_components_or_of_one() -> None:
    everywhere, single = parse_gates("A=true, kube-scheduler:B=False,kube-scheduler:A=false")
    assert everywhere == {"A": True}
    assert single == {"kube-scheduler": {"B": False, "A": False}}


@pytest.mark.parametrize("wrong", ["A", "A=1", "scheduler:A=true"])
def test_gates_written_otherwise_are_refused(wrong: str) -> None:
    with pytest.raises(LabError, match=r"gates are written as|no component"):
        parse_gates(wrong)


def test_a_gate_serves_the_api_that_it_needs() -> None:
    assert apis_for("1.36", ["GenericWorkload"]) == ("scheduling.k8s.io/v1alpha2",)
    assert apis_for("1.37", ["DRAConsumableCapacity"]) == ()


def test_the_version_is_stamped_for_clients_to_parse() -> None:
    flags = stamp("v1.37.2")
    for part in ("gitVersion=v1.37.2", "gitMajor=1", "gitMinor=37"):
        assert f"-X k8s.io/component-base/version.{part}" in flags


@pytest.mark.parametrize("release", VERSIONS)
def test_every_release_is_pinned_and_its_staging_modules_go_with_it(release: str) -> None:
    text = (PINS / f"{release}.mod").read_text()
    assert f"k8s.io/kubernetes {VERSIONS[release]}" in text
    assert f"k8s.io/api => k8s.io/api {VERSIONS[release].replace('v1.', 'v0.', 1)}" in text
    assert "GOPROXY" not in text
    assert "=> ." not in text
    assert "=> /" not in text
    assert f"k8s.io/kubernetes {VERSIONS[release]} h1:" in (PINS / f"{release}.sum").read_text()


def test_ports_are_all_different() -> None:
    ports = free_ports()
    assert len({ports.etcd, ports.peer, ports.apiserver, ports.scheduler, ports.controllers}) == 5


def test_an_unknown_release_is_answered_with_those_that_there_are() -> None:
    with pytest.raises(LabError, match=r"no lab for 1\.12; there is one for 1\.34, 1\.35, 1\.36, 1\.37"):
        Lab("1.12")


def test_gates_are_read_from_metrics() -> None:
    text = '# HELP x\nkubernetes_feature_enabled{name="B",stage="BETA"} 1\nkubernetes_feature_enabled{name="A",stage=""} 0\nother 3\n'
    assert read_gates(text) == {"A": False, "B": True}
    assert gate_lines(text).splitlines()[0] == 'kubernetes_feature_enabled{name="A",stage=""} 0'


def test_the_stand_in_runs_containers_and_ends_init_containers() -> None:
    first = [{"name": "once"}, {"name": "beside", "restartPolicy": "Always"}]
    status = running({"spec": {"containers": [{"name": "a"}], "initContainers": first}})
    assert status["phase"] == "Running"
    states = {entry["name"]: list(entry["state"]) for entry in status["initContainerStatuses"]}
    assert states == {"once": ["terminated"], "beside": ["running"]}


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Path:
    own = credentials.make(tmp_path)
    target = tmp_path / "kubeconfig"
    credentials.write_kubeconfig(target, "https://127.0.0.1:1", own.certificate, "secret", "throwaway")
    return target


def test_the_kubeconfig_of_a_lab_can_be_read_back(kubeconfig: Path) -> None:
    server, token, _ = read_kubeconfig(kubeconfig, "throwaway")
    assert (server, token) == ("https://127.0.0.1:1", "secret")
    assert kubeconfig.stat().st_mode & 0o077 == 0


def test_an_existing_cluster_is_used_only_by_a_context_that_is_named(kubeconfig: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--kubeconfig", str(kubeconfig), "--", "true"]) == 1
    assert "the context is never guessed" in capsys.readouterr().err
    with pytest.raises(LabError, match="no context 'production'; it has throwaway"):
        ExistingCluster(kubeconfig, "production")


def test_a_kubeconfig_that_logs_in_by_a_command_is_refused(kubeconfig: Path) -> None:
    config = yaml.safe_load(kubeconfig.read_text())
    config["users"][0]["user"] = {"exec": {"command": "login"}}
    kubeconfig.write_text(json.dumps(config))
    with pytest.raises(LabError, match="logs in by a command"):
        read_kubeconfig(kubeconfig, "throwaway")


class Unreachable(Client):
    """Knows what is namespaced; any request fails the test."""

    def _served(self, api_version: str) -> dict[str, tuple[str, bool]]:
        return {"Pod": ("pods", True), "Node": ("nodes", False)}

    def call(self, method: str, path: str, *_: object, **__: object) -> dict:
        raise AssertionError(f"{method} {path}")


@pytest.mark.parametrize(("kind", "namespace"), [("Node", None), ("Pod", "default"), ("Pod", None)])
def test_nothing_is_written_outside_the_namespaces_of_the_lab(kind: str, namespace: str | None) -> None:
    client = Unreachable("https://127.0.0.1:1", None, True, {"lab-1"})
    metadata = {"name": "x", **({"namespace": namespace} if namespace else {})}
    item = {"apiVersion": "v1", "kind": kind, "metadata": metadata}
    for change in (client.create, client.delete, client.replace, lambda item: client.patch(item, {}), lambda item: client.status(item, {})):
        with pytest.raises(LabError, match="isn't in a namespace of this lab"):
            change(item)
    with pytest.raises(AssertionError):
        client.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x", "namespace": "lab-1"}})


class Pretended:
    """What recording asks of an API server."""

    def call(self, _method: str, _path: str) -> dict[str, str]:
        return {"major": "1", "minor": "37", "gitVersion": "v1.37.2", "buildDate": "2026-01-01T00:00:00Z"}

    def text(self, _path: str) -> str:
        return 'kubernetes_feature_enabled{name="DRADeviceTaints",stage="BETA"} 1\n'

    def versions(self) -> dict[str, list[str]]:
        return {"": ["v1"]}

    def serves(self, _version: str, kind: str) -> bool:
        return kind in ("Pod", "Node")

    def list(self, version: str, kind: str, namespace: str | None = None, **parameters: str) -> list[dict[str, Any]]:
        if kind == "ConfigMap":
            assert (namespace, parameters) == ("kube-system", {"fieldSelector": "metadata.name=cluster-autoscaler-status"})
            data = {"status": "autoscalerStatus: Running\n"}
            metadata = {"name": "cluster-autoscaler-status", "namespace": namespace}
            return [{"apiVersion": version, "kind": kind, "metadata": metadata, "data": data}]
        return [planted({"apiVersion": version, "kind": kind, "metadata": {"name": "a"}, "spec": {"containers": [{"name": "c"}]}})]


def test_a_recording_is_a_snapshot_of_ours(tmp_path: Path) -> None:
    found = json.dumps(record(cast(Client, Pretended()), "", "lab"))
    view = load_text(found)
    assert (view.source.cluster, view.release.version, view.release.gates["DRADeviceTaints"].basis) == ("lab", "1.37.2", "observed")
    assert {item.name for kind in (Pod, Node) for item in view.all(kind)} == {"a"}
    assert '"cluster-autoscaler-status"' in found, "the one ConfigMap that the product reads"
    write(cast(Client, Pretended()), "", tmp_path)
    assert load([str(tmp_path)]).count(Pod) == 1
    assert "CANARY" not in found + (tmp_path / "objects.json").read_text()
