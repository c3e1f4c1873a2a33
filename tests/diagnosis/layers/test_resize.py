"""A running pod whose resize waits: who makes room, and that it isn't called a scheduling problem."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from k8s_topo_mcp.diagnosis.pending import explain_pending
from k8s_topo_mcp.objects import Node, Pod, decode
from k8s_topo_mcp.releases import release
from k8s_topo_mcp.tools.asking import ask
from k8s_topo_mcp.tools.catalogue import find
from k8s_topo_mcp.view import ClusterView


def view(reason: str, preemption: bool = False, disabled: bool = False) -> ClusterView:
    status = {
        "phase": "Running",
        "conditions": [
            {"type": "Ready", "status": "True"},
            {"type": "PodResizePending", "status": "True", "reason": reason, "message": "Node didn't have enough resource: cpu"},
        ],
    }
    pod: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "namespace": "shop", "uid": "u"},
        "spec": {"nodeName": "n1", "containers": [{"name": "main", "image": "x"}]},
        "status": status,
    }
    spec = {"podPreemptionPolicy": {"disableResizePreemption": ["ops"]}} if disabled else {}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "spec": spec, "status": {}}
    gates = {"InPlacePodVerticalScalingSchedulerPreemption": preemption}
    return ClusterView([item for raw in (pod, node) if (item := decode(raw)) is not None], release=release(37, gates), now=1.0)


def explained(cluster: ClusterView) -> tuple[str, str, str]:
    pod = cluster.get(Pod, "web", "shop")
    assert pod is not None
    assert cluster.get(Node, "n1") is not None
    report = explain_pending(cluster, pod)
    assert report.cause is not None
    text = ask(find("explain_pending"), cluster, {"pod": "shop/web"}).report
    return report.verdict, report.cause.finding.code, text


@pytest.mark.parametrize(
    ("preemption", "disabled", "who"),
    [
        (False, False, "the kubelet waits for room"),
        (False, True, "the kubelet waits for room"),
        (True, False, "room is made by scheduler, by preemption on that node"),
        (True, True, "room is made by nobody: node had resize preemption disabled (ops)"),
    ],
)
def test_a_deferred_resize_says_who_makes_room(preemption: bool, disabled: bool, who: str) -> None:
    verdict, code, text = explained(view("Deferred", preemption, disabled))
    assert (verdict, code) == ("not pending", "RESIZE_DEFERRED")
    assert who in text
    assert "That is final" not in text


def test_an_infeasible_resize_is_never_done() -> None:
    verdict, code, text = explained(view("Infeasible", preemption=True))
    assert (verdict, code) == ("not pending", "RESIZE_INFEASIBLE")
    assert "can't be done there" in text


def test_a_pod_without_a_resize_has_no_problem() -> None:
    cluster = view("Deferred")
    pod = cluster.get(Pod, "web", "shop")
    assert pod is not None
    assert explain_pending(cluster, replace(pod, conditions=pod.conditions[:1])).cause is None
