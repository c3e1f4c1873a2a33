"""ProvisioningRequests and CapacityBuffers: what keeps them from what they ask for."""

from __future__ import annotations

from typing import Any

import pytest

from k8s_topo_mcp.scaleup.autoscalers import autoscalers
from k8s_topo_mcp.scaleup.capacity_buffers import standings as buffers
from k8s_topo_mcp.scaleup.provisioning_requests import standings as requests
from tests.diagnosis.clusters import Item, cluster

from .scenes import BUSY, asking, cluster_autoscaler, codes, condition, in_status, karpenter, met, status

SERVING = (cluster_autoscaler("--enable-provisioning-requests=true"), status(in_status()))
CHECK = "check-capacity.autoscaling.x-k8s.io"
ATOMIC = "best-effort-atomic-scale-up.autoscaling.x-k8s.io"


def provisioning(*conditions: Item, of: str = CHECK, name: str = "room", **metadata: Any) -> Item:
    return {
        "apiVersion": "autoscaling.x-k8s.io/v1",
        "kind": "ProvisioningRequest",
        "metadata": {"name": name, "namespace": "default", **metadata},
        "spec": {"provisioningClassName": of, "podSets": [{"podTemplateRef": {"name": "t"}, "count": 4}]},
        "status": {"conditions": list(conditions)},
    }


def consuming(name: str = "room", key: str = "autoscaling.x-k8s.io/consume-provisioning-request") -> tuple[Item, Item]:
    return asking(metadata={"annotations": {key: name}})


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ((), "PROVISIONING_REQUEST_MISSING"),
        ((provisioning(),), "PROVISIONING_REQUEST_WAITS"),
        ((provisioning(of="queued.gke.example.com"),), "PROVISIONING_CLASS_UNSERVED"),
        ((provisioning(condition("Accepted"), condition("Provisioned", "False", "CapacityIsNotFound")),), "PROVISIONING_REQUEST_WAITS"),
        ((provisioning(condition("Accepted"), condition("Failed", "True", "FailedToCheckCapacity", "no")),), "PROVISIONING_REQUEST_ENDED"),
        ((provisioning(condition("Provisioned"), condition("BookingExpired", "True")),), "PROVISIONING_REQUEST_ENDED"),
        ((provisioning(condition("Accepted"), condition("Provisioned")),), "PROVISIONING_REQUEST_HOLDS"),
    ],
)
def test_a_pod_that_names_a_request_gets_no_node_of_its_own(items: tuple[Item, ...], expected: str) -> None:
    assert codes(met((*BUSY, *SERVING, *items, *consuming()))) == [expected]


def test_the_older_annotation_is_read_too_and_without_any_a_node_is_made() -> None:
    old = consuming(key="cluster-autoscaler.kubernetes.io/consume-provisioning-request")
    assert codes(met((*BUSY, *SERVING, provisioning(), *old))) == ["PROVISIONING_REQUEST_WAITS"]
    assert codes(met((*BUSY, *SERVING, provisioning(), *asking()))) == []


def test_requests_are_off_unless_the_flag_says_otherwise() -> None:
    found = met((*BUSY, cluster_autoscaler(), status(in_status()), provisioning(), *consuming()))
    assert (codes(found), found[0].certainty) == (["PROVISIONING_REQUESTS_OFF"], "certain")
    assert found[0].removed_by == "--enable-provisioning-requests=true"


def test_a_failed_request_keeps_its_reason_and_message() -> None:
    ended = provisioning(condition("Failed", "True", "FailedToBookCapacity", "no room"))
    found = met((*BUSY, *SERVING, ended, *consuming()))[0].finding
    assert [found.text(name) for name in ("request", "state", "reason", "message")] == [
        "default/room",
        "Failed",
        "FailedToBookCapacity",
        "no room",
    ]


@pytest.mark.parametrize(("of", "word"), [(CHECK, "makes no nodes"), (ATOMIC, "all or none")])
def test_each_class_says_what_would_meet_it(of: str, word: str) -> None:
    found = met((*BUSY, *SERVING, provisioning(condition("Accepted"), of=of), *consuming()))
    assert word in found[0].removed_by


def test_every_request_has_a_standing() -> None:
    view = cluster(*SERVING, provisioning(condition("Provisioned"), name="met"), provisioning(name="waits"))
    found = {entry.request.name: entry.unmet for entry in requests(view, autoscalers(view)[0].settings)}
    assert found["met"] is None
    waits = found["waits"]
    assert waits is not None
    assert waits.finding.text("state") == "not looked at yet"


# --- buffers ----------------------------------------------------------------------------------------------------------------------

BUFFERING = ("--capacity-buffer-controller-enabled=true", "--capacity-buffer-pod-injection-enabled=true")
IS_READY = condition("ReadyForProvisioning")


def buffer(*conditions: Item, **spec: Any) -> Item:
    return {
        "apiVersion": "autoscaling.x-k8s.io/v1beta1",
        "kind": "CapacityBuffer",
        "metadata": {"name": "spare", "namespace": "default"},
        "spec": {"podTemplateRef": {"name": "t"}, "replicas": 2, **spec},
        "status": {"conditions": list(conditions)},
    }


def held_back(*items: Item) -> str:
    view = cluster(*items)
    (found,) = buffers(view, autoscalers(view))
    return "" if found.unmet is None else found.unmet.finding.code


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ((buffer(),), "BUFFER_UNSERVED"),
        ((cluster_autoscaler(), buffer()), "BUFFERS_OFF"),
        ((cluster_autoscaler(BUFFERING[0]), buffer(IS_READY)), "BUFFERS_OFF"),
        ((cluster_autoscaler(*BUFFERING), buffer()), "BUFFER_NOT_READY"),
        ((cluster_autoscaler(*BUFFERING), buffer(condition("ReadyForProvisioning", "False", "PodTemplateNotFound"))), "BUFFER_NOT_READY"),
        ((cluster_autoscaler(*BUFFERING), buffer(IS_READY, condition("LimitedByQuotas", "True", "QuotaReached"))), "BUFFER_LIMITED"),
        ((cluster_autoscaler(*BUFFERING), buffer(IS_READY)), ""),
        ((cluster_autoscaler(*BUFFERING), buffer(IS_READY, provisioningStrategy="buffer.gke.io/standby")), "BUFFER_UNSERVED"),
        ((karpenter(), buffer()), "BUFFERS_OFF"),
        ((karpenter(env={"FEATURE_GATES": "CapacityBuffer=true"}), buffer(IS_READY)), ""),
        ((cluster_autoscaler(), karpenter("--feature-gates=CapacityBuffer=true"), buffer(IS_READY)), ""),
    ],
)
def test_the_first_thing_that_keeps_a_buffer_from_being_held(items: tuple[Item, ...], expected: str) -> None:
    assert held_back(*items) == expected


def test_a_buffer_that_is_not_ready_names_what_it_lacks() -> None:
    view = cluster(cluster_autoscaler(*BUFFERING), buffer(condition("ReadyForProvisioning", "False", "PodTemplateNotFound", "not found")))
    (found,) = buffers(view, autoscalers(view))
    assert found.unmet is not None
    assert (found.unmet.finding.text("reason"), found.unmet.removed_by) == ("PodTemplateNotFound", "PodTemplate t as the buffer names it")


def test_a_buffer_never_keeps_a_pod_from_its_node() -> None:
    assert codes(met((*BUSY, *SERVING, buffer(), *asking()))) == []
