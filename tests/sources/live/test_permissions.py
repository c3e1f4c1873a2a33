"""What may not be read is said as that, by every tool: never as absence, never as a free device, never as a verdict."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from fault_injection.replay import Faults, serve
from k8s_topo_mcp.cli import main
from k8s_topo_mcp.sources.live.errors import Refused
from k8s_topo_mcp.sources.live.kinds import BY_NAME
from k8s_topo_mcp.sources.live.reflector import account
from k8s_topo_mcp.sources.live.reflector import said as in_full
from k8s_topo_mcp.sources.live.targets import Target
from k8s_topo_mcp.sources.snapshot.anonymise import Anonymiser
from k8s_topo_mcp.tools.asking import ask
from k8s_topo_mcp.tools.catalogue import find
from k8s_topo_mcp.tools.errors import NotFound, NotReadable
from k8s_topo_mcp.view import ClusterView

from .conftest import FOUR, Opened, pod

READER = "403, system:serviceaccount:replay:reader"
CLAIM = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: pair}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com, count: 2}}]}}
"""
PLAIN = "{apiVersion: v1, kind: Pod, metadata: {name: plain}, spec: {containers: [{name: main, image: app}]}}"


def said(view: ClusterView, tool: str, **given: Any) -> str:
    return ask(find(tool), view, given).report


def refused(view: ClusterView, tool: str, **given: Any) -> str:
    with pytest.raises(NotReadable) as caught:
        ask(find(tool), view, given)
    return str(caught.value)


LOOKED_UP = [
    ("explain_pending", {}, "pods"),
    ("explain_pending", {"pod": "team/trainer-0"}, "pods"),
    ("explain_pending", {"workload": "Job/team/train"}, "jobs.batch"),
    ("explain_pending", {"workload": "TrainJob/team/train"}, "pods"),
    ("claim_feasibility", {"pod": "trainer-0"}, "pods"),
    ("claim_feasibility", {"claim": "trainer"}, "resourceclaims.resource.k8s.io"),
    ("topology_graph", {"scope": "pod/team/trainer-0"}, "pods"),
    ("topology_graph", {"scope": "claim/team/trainer"}, "resourceclaims.resource.k8s.io"),
    ("recent_changes", {"pod": "trainer-0"}, "pods"),
    ("recent_changes", {"object": "ResourceClaim/team/trainer"}, "resourceclaims.resource.k8s.io"),
]


def test_rights_in_some_namespaces_without_the_option_are_told_with_the_rule_and_the_option(opened: Opened) -> None:
    with serve(FOUR, namespaces=["default"]) as server:
        view = opened(server).view()
        for tool, given, resource in LOOKED_UP:
            message = refused(view, tool, **given)
            expected = f"{resource} can't be listed in all namespaces ({READER}). Missing rule: {resource}: get, list, watch."
            assert expected in message, (tool, given)
            assert message.endswith("If it is granted in some namespaces only, start with --namespaces A,B."), (tool, given)
            assert "\n" not in message


def test_a_namespace_that_may_not_be_read_is_named_and_the_others_answer(opened: Opened) -> None:
    with serve(FOUR, Faults("forbidden=infer@pods", "forbidden=infer@resourceclaims.resource.k8s.io")) as server:
        view = opened(server, namespaces=["default", "infer"]).view()
        assert said(view, "explain_pending", pod="default/trainer-0").startswith("default/trainer-0 is blocked on every node")
        assert said(view, "explain_pending").startswith("3 pods wait to be scheduled")
        rule = f"pods can't be listed in namespace infer ({READER}). Missing rule: pods: get, list, watch."
        assert refused(view, "explain_pending", pod="infer/vllm-0").endswith(rule)
        assert refused(view, "explain_pending", pod="vllm-0").endswith(rule)  # it could be there
        with pytest.raises(NotFound, match=r'pod "default/vllm-0" not found') as caught:
            ask(find("explain_pending"), view, {"pod": "default/vllm-0"})
        assert not isinstance(caught.value, NotReadable)


def test_a_namespace_that_is_not_read_is_no_empty_one(opened: Opened) -> None:
    with serve(FOUR) as server:
        view = opened(server, namespaces=["team"]).view()
        assert said(view, "explain_pending").startswith("No pod waits to be scheduled")
        assert refused(view, "explain_pending", pod="default/trainer-0").endswith("It may be there all the same: only team can be seen.")


@pytest.mark.parametrize(
    ("resource", "unknown"),
    [
        ("nodes", "Nodes could not be read"),
        ("resourceslices.resource.k8s.io", "ResourceSlices could not be read"),
        ("deviceclasses.resource.k8s.io", "DeviceClass gpu.nvidia.com could not be read"),
        ("resourceclaims.resource.k8s.io", "could not be read"),
    ],
)
def test_a_verdict_that_needs_what_cannot_be_read_is_unknown(opened: Opened, resource: str, unknown: str) -> None:
    with serve(FOUR, Faults(f"forbidden@{resource}")) as server:
        view = opened(server).view()
        for report in (said(view, "explain_pending", pod="default/trainer-0"), said(view, "claim_feasibility", pod="trainer-0")):
            assert "unknown" in report.splitlines()[0].lower()
            assert unknown.lower() in report.splitlines()[0].lower()
            assert "UNREADABLE" in report
            assert "NOT_MODELLED" not in report
            assert "fits if" not in report
            assert "differs" not in report or resource == "nodes"
        assert (
            said(view, "claim_feasibility", manifest=CLAIM)
            .lower()
            .startswith(
                f"unknown: {unknown.lower()}"
                if resource != "resourceclaims.resource.k8s.io"
                else "unknown: resourceclaims could not be read"
            )
        )
        overview = said(view, "explain_pending")
        assert "UNREADABLE" in overview
        assert "misfit" not in overview


def test_without_pods_a_claim_is_judged_and_a_pod_is_not(opened: Opened) -> None:
    with serve(FOUR, Faults("forbidden@pods")) as server:
        view = opened(server).view()
        assert said(view, "claim_feasibility", manifest=CLAIM).startswith("Yes: the claim fits on 4 nodes of 4")
        assert said(view, "claim_feasibility", manifest=PLAIN).startswith(
            "Unknown: Pods could not be read, so what nodes have left isn't known"
        )


def test_a_picture_says_what_it_lacks(opened: Opened) -> None:
    with serve(FOUR, Faults("forbidden@resourceclaims.resource.k8s.io")) as server:
        assert "what is held looks free: resourceclaims.resource.k8s.io can't be listed" in said(opened(server).view(), "topology_graph")
    with serve(FOUR, Faults("forbidden@resourceslices.resource.k8s.io")) as server:
        view = opened(server).view()
        report = said(view, "topology_graph")
        assert report.splitlines()[0] == "4 nodes, 2 zones, 1 shape; its devices could not be read"
        for scope in ("cluster", "node/gpu-0", "nodes/unread"):
            for form in ("text", "json", "mermaid"):
                shown = said(view, "topology_graph", scope=scope, format=form)
                assert "no accelerators" not in shown
                assert "no-accelerators" not in shown
            assert "devices not read" in said(view, "topology_graph", scope=scope)
    with serve(FOUR, Faults("forbidden@nodes")) as server:
        view = opened(server).view()
        assert "places, taints and readiness aren't known: nodes can't be listed" in said(view, "topology_graph")
        missing = "nodes can't be listed (403, system:serviceaccount:replay:reader). Missing rule: nodes: get, list, watch."
        assert refused(view, "claim_feasibility", claim="trainer", nodes=["gpu-9"]).endswith(missing)
        assert refused(view, "recent_changes", object="Node/gpu-9").endswith(missing)


def test_who_was_refused_is_no_more_than_a_name() -> None:
    """The account comes from the API server's words: bounded, one line."""
    pods = Target(BY_NAME["", "Pod"], "v1", "pods", "infer")
    refusal = Refused(403, 'pods is forbidden: User "jane" cannot list resource "pods"')
    assert (account(refusal), account(Refused(403, "no words for it")), account(Refused(500, 'User "x" cannot'))) == ("jane", "", "")
    assert account(Refused(403, f'User "{"x" * 500}" cannot')) == ""
    assert in_full(refusal, pods) == "pods can't be listed in namespace infer (403). Missing rule: pods: get, list, watch."
    assert in_full(Refused(500, 'User "x" cannot'), pods) == ""


def test_under_aliases_the_account_has_one_too(opened: Opened) -> None:
    with serve(FOUR, Faults("forbidden=default@pods")) as server:
        source = opened(server, namespaces=["default"], screen=Anonymiser())
        message = refused(source.view(), "explain_pending")
        expected = r"pods can't be listed in namespace \S+ \(403, user-1\)\. Missing rule: pods: get, list, watch\."
        assert re.fullmatch(expected, message)
        assert "replay" not in message


@pytest.mark.parametrize("anonymous", [False, True])
def test_a_snapshot_says_the_same_of_what_could_not_be_read(anonymous: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serve(FOUR, Faults("forbidden=secret-team@pods")) as server:
        options = ["--kubeconfig", str(server.kubeconfig(tmp_path / "config")), "--namespaces", "default,secret-team,empty"]
        asked = [["explain", "secret-team/x"], ["explain", "empty/x"], ["explain", "elsewhere/x"]]
        live = [(main([*command, *options]), capsys.readouterr().err) for command in asked]
        out = tmp_path / "out.json"
        assert main(["snapshot", str(out), *options, *(["--anonymize"] if anonymous else [])]) == 5
        capsys.readouterr()
    assert [status for status, _ in live] == [4, 2, 4]
    if anonymous:
        assert "secret-team" not in out.read_text()
        assert "replay:reader" not in out.read_text()
        assert '"account": "user-' in out.read_text() or '"account":"user-' in out.read_text()
        return
    for command, (status, error) in zip(asked, live, strict=True):
        assert main([*command, "--snapshot", str(out)]) == status
        again = capsys.readouterr().err
        assert re.sub(r"\(\w+ \S+\)", "", again) == re.sub(r"\(\w+ \S+\)", "", error)


STORED = [
    {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "bound", "namespace": "default"},
     "spec": {"volumeName": "disk", "accessModes": ["ReadWriteOnce"]}, "status": {"phase": "Bound"}},
    {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "disk"}, "spec": {"csi": {"driver": "d", "volumeHandle": "h"}}},
    {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "waits", "namespace": "default"},
     "spec": {"storageClassName": "fast", "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
     "status": {"phase": "Pending"}},
    {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "fast"}, "provisioner": "d",
     "volumeBindingMode": "WaitForFirstConsumer"},
    {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": "d"}, "spec": {"storageCapacity": True}},
]  # fmt: skip


@pytest.mark.parametrize(
    ("resource", "claim", "headline"),
    [
        ("persistentvolumeclaims", "bound", "unknown. PersistentVolumeClaim default/bound could not be read."),
        ("persistentvolumes", "bound", "unknown. PersistentVolume disk could not be read."),
        ("storageclasses.storage.k8s.io", "waits", "unknown. StorageClass fast could not be read."),
        ("", "waits", "is blocked on every node"),
        ("csistoragecapacities.storage.k8s.io", "waits", ""),
    ],
)
def test_a_volume_that_cannot_be_looked_up_is_not_taken_for_missing(opened: Opened, resource: str, claim: str, headline: str) -> None:
    with serve(FOUR, Faults(*([f"forbidden@{resource}"] if resource else []))) as server:
        for item in STORED:
            server.apply(item)
        server.apply(pod("stored", volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]))
        report = said(opened(server).view(), "explain_pending", pod="default/stored")
        assert headline in report.splitlines()[0]
        if not headline:
            assert "not checked yet: room for new volumes (CSIStorageCapacity could not be read)" in report
            assert "blocked" not in report.splitlines()[0]
