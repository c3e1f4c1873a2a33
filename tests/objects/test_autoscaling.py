"""ProvisioningRequest and CapacityBuffer: what a workload asks of a node autoscaler, and what it was told."""

from __future__ import annotations

from typing import Any

import pytest

from k8s_topo_mcp.objects import CapacityBuffer, DecodeError, ObjectRef, ProvisioningRequest, decode
from k8s_topo_mcp.objects.autoscaling import ACTIVE_CAPACITY, CHECK_CAPACITY


def item(kind: str, version: str = "v1", **fields: Any) -> dict[str, Any]:
    return {"apiVersion": f"autoscaling.x-k8s.io/{version}", "kind": kind, "metadata": {"name": "x", "namespace": "n"}, **fields}


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_a_provisioning_request_tells_for_how_many_pods_it_is_and_what_came_of_it(version: str) -> None:
    found = decode(
        item(
            "ProvisioningRequest",
            version,
            spec={
                "provisioningClassName": CHECK_CAPACITY,
                "podSets": [{"podTemplateRef": {"name": "leader"}, "count": 1}, {"podTemplateRef": {"name": "worker"}, "count": 15}],
                "parameters": {"ValidUntilSeconds": "600", "cloud.example.com/reservation": "secret-17"},
            },
            status={
                "conditions": [
                    {"type": "Accepted", "status": "True"},
                    {"type": "Provisioned", "status": "False", "reason": "CapacityIsNotFound", "message": "Capacity is not found"},
                ],
                "provisioningClassDetails": {"x": "y"},
            },
        )
    )
    assert isinstance(found, ProvisioningRequest)
    assert (found.class_name, found.pods) == (CHECK_CAPACITY, 16)
    assert [(entry.template, entry.count) for entry in found.pod_sets] == [("leader", 1), ("worker", 15)]
    assert found.parameters == {"ValidUntilSeconds": "600"}
    assert (found.holds("Accepted"), found.holds("Provisioned"), found.holds("Failed")) == (True, False, False)
    assert (found.condition("Provisioned") or found.conditions[0]).reason == "CapacityIsNotFound"


@pytest.mark.parametrize("version", ["v1", "v1beta1", "v1alpha1"])
def test_a_capacity_buffer_tells_how_much_room_it_wants_and_has(version: str) -> None:
    found = decode(
        item(
            "CapacityBuffer",
            version,
            spec={
                "scalableRef": {"apiGroup": "apps", "kind": "Deployment", "name": "web"},
                "percentage": 20,
                "limits": {"cpu": "8"},
            },
            status={"replicas": 2, "conditions": [{"type": "ReadyForProvisioning", "status": "True"}]},
        )
    )
    assert isinstance(found, CapacityBuffer)
    assert (found.strategy, found.template, found.replicas, found.percentage) == (ACTIVE_CAPACITY, "", None, 20)
    assert found.scalable == ObjectRef("Deployment", "n", "web")
    assert (found.provisioned, str(found.limits["cpu"]), found.holds("ReadyForProvisioning")) == (2, "8", True)


@pytest.mark.parametrize(
    ("kind", "fields", "said"),
    [
        ("ProvisioningRequest", {"spec": {"podSets": [{"count": "4"}]}}, r"spec\.podSets\[0\]\.count: must be an integer, is a string"),
        ("ProvisioningRequest", {"spec": {"podSets": {"count": 4}}}, r"spec\.podSets: must be a list, is an object"),
        ("ProvisioningRequest", {"spec": {"parameters": {"noRetry": True}}}, r"spec\.parameters\[noRetry\]: must be a string"),
        ("ProvisioningRequest", {"status": {"conditions": ["x"]}}, r"status\.conditions\[0\]: must be an object"),
        ("CapacityBuffer", {"spec": {"replicas": 2.5}}, r"spec\.replicas: must be an integer, is a number"),
        ("CapacityBuffer", {"spec": {"limits": {"cpu": "many"}}}, r"spec\.limits\[cpu\]"),
        ("CapacityBuffer", {"spec": {"scalableRef": {"kind": 1}}}, r"spec\.scalableRef\.kind: must be a string"),
        ("CapacityBuffer", {"status": {"replicas": "2"}}, r"status\.replicas: must be an integer"),
    ],
)
def test_a_field_of_the_wrong_type_is_named(kind: str, fields: dict[str, Any], said: str) -> None:
    with pytest.raises(DecodeError, match=said):
        decode(item(kind, **fields))
