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
from k8s_topo_mcp.objects import Pod
from k8s_topo_mcp.sources.live.pace import Pace
from k8s_topo_mcp.sources.live.source import LiveSource
from k8s_topo_mcp.sources.snapshot import load_text
from k8s_topo_mcp.tools.asking import ask
from k8s_topo_mcp.tools.catalogue import find
from k8s_topo_mcp.view import ClusterView

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
    return load_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": recording.objects(lab.client)}), as_of=now)


@pytest.mark.parametrize("pace", [Pace(), replace(Pace(), watch_list=False, page=5)], ids=["by watch", "by pages"])
def test_it_has_what_the_server_lists_and_answers_alike(lab: Lab, pace: Pace) -> None:
    source = LiveSource(str(lab.kubeconfig), pace=pace)
    source.start()
    try:

        def both() -> tuple[ClusterView, ClusterView] | None:
            """A moment at which nothing changed between the two."""
            live = source.view()
            known = listed(lab, live.now)
            there = {key: version for key, version in versions(known).items() if key[1][0] != "kube-node-lease"}
            return (live, known.under(live.release)) if versions(live) == there else None

        live, known = until("the same objects", both)
        assert live.unreadable == ()
        assert live.notes == ()
        assert (live.release.version, live.release.basis) == ("1.37.2", "observed")
        asked: list[tuple[str, dict[str, Any]]] = [("explain_pending", {}), ("topology_graph", {})]
        asked += [("explain_pending", {"pod": pod.full_name}) for pod in live.all(Pod)]
        for tool, arguments in asked:
            ours, theirs = (without_source(ask(find(tool), view, arguments).report) for view in (live, known))
            assert ours == theirs, (tool, arguments)
        spec = {"containers": [{"name": "main", "image": "app"}]}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "late-", "namespace": "default"}, "spec": spec}
        late = lab.client.create(pod)
        until("a new pod is seen", lambda: source.view().get(Pod, late["metadata"]["name"], "default"))
    finally:
        source.close()


def test_what_may_be_listed_but_not_watched_is_listed_again(lab: Lab, tmp_path: Path) -> None:
    client = lab.client
    rbac = "rbac.authorization.k8s.io"
    subject = {"kind": "ServiceAccount", "name": "lister", "namespace": "default"}
    client.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "lister", "namespace": "default"}})
    client.create({"apiVersion": f"{rbac}/v1", "kind": "ClusterRole", "metadata": {"name": "lister"},
                   "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["list"]}]})  # fmt: skip
    client.create({"apiVersion": f"{rbac}/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "lister"},
                   "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": "lister"}, "subjects": [subject]})  # fmt: skip
    asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    token = client.call("POST", "/api/v1/namespaces/default/serviceaccounts/lister/token", json=asked)["status"]["token"]
    config = json.loads(lab.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": token}
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(json.dumps(config))
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


def without_source(report: str) -> list[str]:
    """Without where it comes from and the cursor, which is of one view."""
    return [line for line in report.splitlines() if not line.startswith(("basis ", "more "))]
