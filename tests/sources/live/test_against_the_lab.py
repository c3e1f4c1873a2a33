"""A real API server: what a live source has is what the server lists, and answers equal those from a snapshot of the same moment."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fault_injection.lab import Lab, recording
from fault_injection.lab.demo import SEED
from fault_injection.scenes import Scene
from fault_injection.scenes.demo import demo
from k8s_topo_mcp.objects import DaemonSet, Deployment, Job, Node, Pod, ResourceClaim
from k8s_topo_mcp.sources.live import access
from k8s_topo_mcp.sources.live.kinds import METADATA
from k8s_topo_mcp.sources.live.pace import Pace
from k8s_topo_mcp.sources.live.source import LiveSource
from k8s_topo_mcp.sources.snapshot import load_text
from k8s_topo_mcp.tools.asking import ask
from k8s_topo_mcp.tools.catalogue import TOOLS, find
from k8s_topo_mcp.tools.errors import NotReadable
from k8s_topo_mcp.view import ClusterView
from k8s_topo_mcp.view.past import MetadataChange

from .conftest import until, versions


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    if os.environ.get("TOPO_LAB") != "1":
        pytest.skip("a real control plane, about a minute: TOPO_LAB=1 make test ARGS=tests/sources/live")
    with Lab("1.37") as made:
        scene = Scene(SEED)
        demo(scene)
        scene.apply(made.client)
        yield made


def listed(lab: Lab, now: float) -> ClusterView:
    """A snapshot as of now, without what a live source leaves alone: the leases that nodes renew every ten seconds."""
    items = [item for item in recording.objects(lab.client) if item["metadata"].get("namespace") != "kube-node-lease"]
    return load_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), as_of=now)


CLAIM = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: pair}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com, count: %d}}]}}
"""
WORKLOAD = """
apiVersion: batch/v1
kind: Job
metadata: {name: sweep, namespace: default}
spec:
  parallelism: 3
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: app, resources: {requests: {cpu: "4"}}}]}}
"""


def questions(view: ClusterView) -> Iterator[tuple[str, dict[str, Any]]]:
    """What every tool can be asked of a cluster: of all of it, and of each object of it that it can be asked of."""
    nodes, claims = [node.name for node in view.all(Node)], [claim.full_name for claim in view.all(ResourceClaim)]
    pods = [pod.full_name for pod in view.all(Pod)]
    for arguments in ({}, {"detail": "full"}, *({"pod": pod} for pod in pods)):
        yield "explain_pending", arguments
    for owner in (*view.all(Job), *view.all(Deployment), *view.all(DaemonSet)):
        yield "explain_pending", {"workload": f"{owner.KIND}/{owner.full_name}"}
    scopes = [*(f"node/{name}" for name in nodes), *(f"pod/{name}" for name in pods), *(f"claim/{name}" for name in claims)]
    for scope in ("cluster", "zombies", *scopes):
        yield "topology_graph", {"scope": scope}
    for form in ("mermaid", "json"):
        yield "topology_graph", {"format": form}
    for count in (1, 2, 5, 9):
        for released in (False, True):
            yield "claim_feasibility", {"manifest": CLAIM % count, "ignore_holders": released}
    yield "claim_feasibility", {"manifest": WORKLOAD, "detail": "full"}
    yield "claim_feasibility", {"manifest": CLAIM % 1, "nodes": nodes[:2]}
    for arguments in (*({"pod": pod} for pod in pods), *({"claim": claim} for claim in claims)):
        yield "claim_feasibility", arguments
    shapes = ({}, {"add": [{"shape": "p5.48xlarge", "count": 2}]}, {"add": [{"shape": "g5.48xlarge", "count": 1}], "detail": "full"})
    for arguments in (*shapes, {"manifest": WORKLOAD}, *({"pods": [pod.full_name]} for pod in view.all(Pod) if pod.is_pending)):
        yield "simulate_scaleup", arguments
    for since in ("10m", "1h", "30d"):
        yield "recent_changes", {"since": since}
    objects = [*(f"Node/{name}" for name in nodes), *(f"ResourceClaim/{name}" for name in claims)]
    for arguments in (*({"pod": pod} for pod in pods), *({"object": name} for name in objects)):
        yield "recent_changes", arguments


def split_at_known(lines: list[str]) -> tuple[list[str], list[str]]:
    """The rows of changes, and what is said of them all."""
    at = next(place for place, line in enumerate(lines) if line.startswith("known"))
    return lines[:at], lines[at:]


@pytest.mark.parametrize("pace", [Pace(), replace(Pace(), watch_list=False, page=5)], ids=["by watch", "by pages"])
def test_it_has_what_the_server_lists_and_answers_alike(lab: Lab, pace: Pace) -> None:
    source = LiveSource(str(lab.kubeconfig), pace=pace)
    source.start()
    try:

        def both() -> tuple[ClusterView, ClusterView] | None:
            """A moment at which nothing changed between the two."""
            live = source.view()
            known = listed(lab, live.now)
            return (live, known.under(live.release)) if versions(live) == versions(known) else None

        live, known = until("the same objects", both)
        assert live.unreadable == ()
        assert live.notes == ()
        assert (live.release.version, live.release.basis) == ("1.37.2", "observed")
        asked = list(questions(live))
        assert {tool for tool, _ in asked} == {tool.name for tool in TOOLS}
        for tool, arguments in asked:
            ours, theirs = (without_source(ask(find(tool), view, arguments).report) for view in (live, known))
            if tool == "recent_changes" and len(ours) != len(theirs):
                # The line that names the source takes its part of the budget, so one of the two may show fewer rows.
                (ours, tail), (theirs, other_tail) = split_at_known(ours), split_at_known(theirs)
                assert tail == other_tail, arguments
                shown = min(len(ours), len(theirs))
                assert shown > 4
                ours, theirs = ours[:shown], theirs[:shown]
            assert ours == theirs, (tool, arguments)
        # Nobody watched before, so both know what the objects say themselves; and they say something.
        assert ask(find("recent_changes"), live, {"since": "30d"}).structured()["total"] > live.count(Node)
        spec = {"containers": [{"name": "main", "image": "app"}]}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "late-", "namespace": "default"}, "spec": spec}
        late = lab.client.create(pod)
        until("a new pod is seen", lambda: source.view().get(Pod, late["metadata"]["name"], "default"))
    finally:
        source.close()


def test_what_may_be_listed_but_not_watched_is_listed_again(lab: Lab, tmp_path: Path) -> None:
    client = lab.client
    status = {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["cluster-autoscaler-status"], "verbs": ["get"]}
    kubeconfig = account(lab, "lister", [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["list"]}, status], tmp_path)
    source = LiveSource(str(kubeconfig), pace=replace(Pace(), refused=0.5, stale=0.0))
    source.start()
    try:
        view = source.view()
        assert view.unreadable == ()
        assert view.release.gate("DRADeviceTaints").basis != "observed"  # /metrics isn't permitted
        until("it is said", lambda: any("it may be listed, but not watched" in note for note in source.view().notes))
        spec = {"containers": [{"name": "main", "image": "app"}]}
        client.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "listed", "namespace": "default"}, "spec": spec})
        until("a new pod is seen", lambda: source.view().get(Pod, "listed", "default"))
    finally:
        source.close()


def account(lab: Lab, name: str, rules: list[dict[str, Any]], folder: Path) -> Path:
    """A kubeconfig of a ServiceAccount of its own with these rules."""
    client, rbac = lab.client, "rbac.authorization.k8s.io"
    subject = {"kind": "ServiceAccount", "name": name, "namespace": "default"}
    client.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": "default"}})
    client.create({"apiVersion": f"{rbac}/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": rules})
    client.create({"apiVersion": f"{rbac}/v1", "kind": "ClusterRoleBinding", "metadata": {"name": name},
                   "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": name}, "subjects": [subject]})  # fmt: skip
    asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    token = client.call("POST", f"/api/v1/namespaces/default/serviceaccounts/{name}/token", json=asked)["status"]["token"]
    config = json.loads(lab.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": token}
    kubeconfig = folder / "kubeconfig"
    kubeconfig.write_text(json.dumps(config))
    return kubeconfig


NOTED = {"ConfigMap", "NetworkPolicy", "Role"}


def test_our_own_permissions_are_enough_and_discovery_may_be_forbidden(lab: Lab, tmp_path: Path) -> None:
    """With the rules that we print a live source sees all, by its metadata what it is asked to, and finds the kinds by trying where even
    what is open to every account is closed."""
    role = next(manifest for manifest in access.cluster_wide(also=list(METADATA)) if manifest["kind"] == "ClusterRole")
    rules = [rule for rule in role["rules"] if "nonResourceURLs" not in rule]
    kubeconfig = account(lab, "reader", rules, tmp_path)
    client = lab.client
    discovery = client.get("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "system:discovery")
    heard: list[MetadataChange] = []
    source = LiveSource(str(kubeconfig), pace=Pace(), also=list(METADATA))
    source.notice(heard.append)
    try:
        client.delete(discovery)
        source.start()
        view = source.view()
        assert view.unreadable == ()
        (note,) = view.notes
        assert note.startswith("what the API server serves may not be asked (/api, /apis: 403)")
        assert versions(view).keys() == versions(listed(lab, view.now)).keys()
        until("all are watched", lambda: all(entry.watching for entry in source._reflectors.values() if not entry.absent))
        for value in (
            {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"}},
            {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "spec": {"podSelector": {}}},
            {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "rules": []},
        ):
            client.create({**value, "metadata": {"name": "noted", "namespace": "default"}})
        until("all three are noted", lambda: {change.object.kind for change in heard if change.object.name == "noted"} >= NOTED)
    finally:
        source.close()
        fresh = {key: value for key, value in discovery["metadata"].items() if key in ("name", "labels", "annotations")}
        client.create({**discovery, "metadata": fresh})


def test_what_may_not_be_listed_is_told_with_the_account_and_the_rule(lab: Lab, tmp_path: Path) -> None:
    kubeconfig = account(lab, "blind", [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list", "watch"]}], tmp_path)
    source = LiveSource(str(kubeconfig), pace=Pace())
    source.start()
    try:
        with pytest.raises(NotReadable) as caught:
            ask(find("explain_pending"), source.view(), {"pod": "default/none"})
    finally:
        source.close()
    refused = "pods can't be listed in all namespaces (403, system:serviceaccount:default:blind). Missing rule: pods: get, list, watch."
    assert str(caught.value).startswith(f'pod "default/none": {refused}')


def without_source(report: str) -> list[str]:
    """Without where it comes from and the cursor, which is of one view."""
    return [line for line in report.splitlines() if not line.startswith(("basis ", "more ", "%% basis")) and '"basis"' not in line]
