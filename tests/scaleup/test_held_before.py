"""Pods that no autoscaler sees: Kueue, scheduling gates, quotas of their namespace; and volumes that a new node can't reach."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from k8s_topo_mcp.objects import Metadata, OwnerReference, Pod
from k8s_topo_mcp.scaleup.autoscalers import autoscalers
from k8s_topo_mcp.scaleup.fit import Fit
from k8s_topo_mcp.scaleup.obstacles import obstacles
from tests.diagnosis.clusters import Item, cluster, pod
from tests.diagnosis.layers.objects import cluster_queue, local_queue, queued, quota
from tests.scheduling.volumes import uses, volume, volume_claim

from .scenes import (
    BUSY,
    CA_IMAGE,
    asking,
    cluster_autoscaler,
    codes,
    condition,
    deployment,
    group,
    in_status,
    karpenter,
    met,
    node_pool,
    ready,
    status,
    template,
)
from .test_requests_and_buffers import provisioning

ALIVE = (cluster_autoscaler("--enable-provisioning-requests=true"), status(in_status()))
GATED: dict[str, Any] = {"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}], "reason": "SchedulingGated"}
RESERVED = condition("QuotaReserved")


def in_queue(*conditions: Item, **more: Any) -> tuple[Item, ...]:
    pods = asking(**GATED)
    return (*pods, queued("w", *conditions, owner=pods[1], **more), local_queue(), cluster_queue())


def test_quota_of_a_queue_comes_first_and_then_what_the_autoscaler_itself_would_say() -> None:
    found = met((*BUSY, *ALIVE, *in_queue(condition("QuotaReserved", "False", "Pending", "no quota"))))
    assert codes(found) == ["QUEUE_NOT_ADMITTED", "AUTOSCALER_SKIPS_REASON"]


def test_an_admission_check_leads_to_the_request_behind_it() -> None:
    checks = {"admissionChecks": [{"name": "prov", "state": "Pending", "message": "waiting for nodes"}]}
    owner = {"ownerReferences": [{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "name": "w", "uid": "uid-w"}]}
    failed = provisioning(condition("Failed", "True", "FailedToBookCapacity"), **owner)
    waiting = (*BUSY, *ALIVE, *in_queue(RESERVED, status=checks))
    assert codes(met((*waiting, failed))) == ["QUEUE_CHECK_PENDING", "PROVISIONING_REQUEST_ENDED", "AUTOSCALER_SKIPS_REASON"]
    has_it = provisioning(condition("Provisioned"), **owner)
    assert codes(met((*waiting, has_it))) == ["QUEUE_CHECK_PENDING", "AUTOSCALER_SKIPS_REASON"]


def test_a_request_is_judged_by_the_autoscaler_that_serves_it_and_not_by_that_of_the_group() -> None:
    checks = {"admissionChecks": [{"name": "prov", "state": "Pending", "message": "waiting for nodes"}]}
    owner = {"ownerReferences": [{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "name": "w", "uid": "uid-w"}]}
    items = (*BUSY, *in_queue(RESERVED, status=checks), provisioning(**owner), node_pool(), karpenter())

    def of_the_pool(*more: Item) -> list[str]:
        view = cluster(*items, *more)
        own = next(entry for entry in autoscalers(view) if entry.kind == "Karpenter")
        met = obstacles(view, own, group(view, of="n1", kind="Karpenter NodePool"), view.all(Pod)[-1:])
        return [code for code in codes(met) if code.startswith("PROVISIONING")]

    assert of_the_pool(*ALIVE) == ["PROVISIONING_REQUEST_WAITS"]
    assert of_the_pool(cluster_autoscaler(), status(in_status())) == ["PROVISIONING_REQUESTS_OFF"]
    assert of_the_pool() == ["PROVISIONING_CLASS_UNSERVED"]
    idle = deployment("first", CA_IMAGE)
    assert of_the_pool(idle, *ALIVE) == ["PROVISIONING_REQUEST_WAITS"]


def test_an_admitted_workload_leaves_the_gate_of_its_topology() -> None:
    pods = asking(reason="SchedulingGated", schedulingGates=[{"name": "kueue.x-k8s.io/topology"}])
    admitted = queued("w", RESERVED, condition("Admitted"), owner=pods[1])
    assert codes(met((*BUSY, *ALIVE, *pods, admitted))) == ["SCHEDULING_GATED", "AUTOSCALER_SKIPS_REASON"]


def test_pods_without_gates_do_not_ask_kueue() -> None:
    pods = asking()
    waiting = queued("w", condition("QuotaReserved", "False", "Pending"), owner=pods[1])
    assert codes(met((*BUSY, *ALIVE, *pods, waiting))) == []


def test_a_quota_without_room_holds_only_pods_that_are_not_there_yet() -> None:
    full = quota("team", {"pods": "3", "requests.nvidia.com/gpu": "8"}, {"pods": "2", "requests.nvidia.com/gpu": "8"})
    items = (*BUSY, *ALIVE, full, pod("there", requests={"nvidia.com/gpu": "1"}))
    view = cluster(*items)
    there = view.get(Pod, "there", "default")
    assert there is not None
    coming = replace(there, metadata=Metadata("coming", "default"))
    found = obstacles(view, autoscalers(view)[0], group(view), [coming], (Fit("t", 1),))
    assert codes(found) == ["QUOTA_EXCEEDED"]
    assert found[0].finding.values["resources"] == ("requests.nvidia.com/gpu",)
    assert codes(obstacles(view, autoscalers(view)[0], group(view), [there], (Fit("t", 1),))) == []


@pytest.mark.parametrize(
    ("made_by", "order"), [("Job", ["QUEUE_NOT_ADMITTED", "QUOTA_EXCEEDED"]), ("Pod", ["QUOTA_EXCEEDED", "QUEUE_NOT_ADMITTED"])]
)
def test_pods_of_a_suspended_workload_come_to_their_quota_after_its_queue(made_by: str, order: list[str]) -> None:
    job: Item = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "namespace": "default", "uid": "uid-j"}}
    full = quota("team", {"requests.nvidia.com/gpu": "8"}, {"requests.nvidia.com/gpu": "8"})
    there = pod("there", requests={"nvidia.com/gpu": "1"})
    owner = job if made_by == "Job" else there
    waits = queued("w", condition("QuotaReserved", "False", "Pending", "no quota"), owner=owner)
    view = cluster(*BUSY, *ALIVE, full, there, waits, local_queue(), cluster_queue())
    known = view.get(Pod, "there", "default")
    assert known is not None
    own = (OwnerReference("batch/v1", "Job", "j", "uid-j", True),) if made_by == "Job" else ()
    coming = replace(known, metadata=Metadata("coming", "default", labels={"kueue.x-k8s.io/pod-group-name": "w"}, owners=own))
    assert codes(obstacles(view, autoscalers(view)[0], group(view), [coming], (Fit("t", 1),))) == order


# --- labels and volumes of new nodes ----------------------------------------------------------------------------------------------

ZONE = "topology.kubernetes.io/zone"


def zoned(zone: str, *more: Item) -> tuple[Item, ...]:
    in_zone = {"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["b"]}]}]}}
    bound = volume_claim("data", volume="pv")
    pods = asking(volumes=uses("data"))
    return (ready("n1", labels={ZONE: zone}), *BUSY[1:], *pods, bound, volume("pv", nodeAffinity=in_zone), *ALIVE, *more)


def test_a_volume_in_another_zone_than_new_nodes() -> None:
    found = met(zoned("a"))
    assert codes(found) == ["VOLUME_ELSEWHERE"]
    assert [found[0].finding.text(name) for name in ("claim", "key", "wanted", "found")] == ["default/data", ZONE, "b", "a"]
    assert codes(met(zoned("b"))) == []


def test_a_zone_that_is_known_only_once_the_node_is_there_decides_nothing() -> None:
    view = cluster(*zoned("a"))
    vague = replace(template(view, "n1"), unpredictable=frozenset({ZONE}))
    waiting = [entry for entry in view.all(Pod) if entry.is_pending]
    assert codes(obstacles(view, autoscalers(view)[0], group(view, templates=(vague,)), waiting, (Fit("t", 1),))) == []
