"""NodePool, NodeClaim, NodeOverlay."""

from __future__ import annotations

from typing import Any

import pytest

from k8s_topo_mcp.objects import DecodeError, NodeClaim, NodeOverlay, NodePool, ObjectRef, Requirement, decode

CLAIM_SPEC = {
    "requirements": [
        {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["p5.48xlarge", "p5en.48xlarge"], "minValues": 2},
        {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["reserved"]},
    ],
    "taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}],
    "startupTaints": [{"key": "node.cilium.io/agent-not-ready", "value": "true", "effect": "NoExecute"}],
    "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "gpu"},
    "expireAfter": "720h",
}


def item(kind: str, version: str = "v1", metadata: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": f"karpenter.sh/{version}", "kind": kind, "metadata": {"name": "gpu", **(metadata or {})}, **fields}


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_a_node_pool_tells_what_it_can_make_and_how_much(version: str) -> None:
    pool = decode(
        item(
            "NodePool",
            version,
            spec={
                "template": {"metadata": {"labels": {"team": "red"}}, "spec": CLAIM_SPEC},
                "limits": {"cpu": "1000", "nodes": "10"},
                "weight": 50,
                "disruption": {"consolidateAfter": "1m"},
            },
            status={
                "resources": {"cpu": "192", "nodes": "1"},
                "nodes": 1,
                "conditions": [{"type": "NodeClassReady", "status": "False", "reason": "NodeClassNotFound"}],
            },
        )
    )
    assert isinstance(pool, NodePool)
    assert pool.namespace == ""
    assert pool.spec.labels == {"team": "red"}
    assert pool.spec.requirements[0] == Requirement("node.kubernetes.io/instance-type", "In", ("p5.48xlarge", "p5en.48xlarge"))
    assert pool.spec.min_values == {"node.kubernetes.io/instance-type": 2}
    assert [str(taint) for taint in pool.spec.taints] == ["nvidia.com/gpu:NoSchedule"]
    assert [taint.key for taint in pool.spec.startup_taints] == ["node.cilium.io/agent-not-ready"]
    assert pool.spec.node_class == ObjectRef("EC2NodeClass", "", "gpu")
    assert (str(pool.limits["nodes"]), pool.weight, pool.replicas, pool.nodes) == ("10", 50, None, 1)
    condition = pool.condition("NodeClassReady")
    assert condition is not None
    assert (condition.holds, condition.reason) == (False, "NodeClassNotFound")


def test_a_node_claim_tells_its_pool_its_node_and_what_it_waits_for() -> None:
    claim = decode(
        item(
            "NodeClaim",
            metadata={
                "labels": {"karpenter.sh/nodepool": "gpu"},
                "annotations": {"karpenter.sh/requested-dra-drivers": "gpu.nvidia.com, dra.net"},
            },
            spec={**CLAIM_SPEC, "resources": {"requests": {"cpu": "8"}}},
            status={
                "nodeName": "ip-10-0-1-2",
                "providerID": "aws:///a/i-1",
                "capacity": {"cpu": "192"},
                "conditions": [{"type": "Initialized", "status": "Unknown", "reason": "DRADriverPoolsNotPublished"}],
            },
        )
    )
    assert isinstance(claim, NodeClaim)
    assert (claim.node_pool, claim.node, claim.dra_drivers) == ("gpu", "ip-10-0-1-2", ("gpu.nvidia.com", "dra.net"))
    assert str(claim.requests["cpu"]) == "8"
    assert claim.spec.labels == {"karpenter.sh/nodepool": "gpu"}
    assert (claim.condition("Initialized") or claim.conditions[0]).reason == "DRADriverPoolsNotPublished"


def test_a_node_overlay_adds_capacity_to_what_meets_its_requirements() -> None:
    overlay = decode(
        item(
            "NodeOverlay",
            "v1alpha1",
            spec={
                "requirements": [{"key": "karpenter.k8s.aws/instance-family", "operator": "In", "values": ["p5"]}],
                "capacity": {"smarter-devices/fuse": "8"},
                "weight": 10,
                "priceAdjustment": "-10%",
            },
        )
    )
    assert isinstance(overlay, NodeOverlay)
    assert (str(overlay.capacity["smarter-devices/fuse"]), overlay.weight, overlay.requirements[0].values) == ("8", 10, ("p5",))


@pytest.mark.parametrize(
    ("kind", "fields", "said"),
    [
        ("NodePool", {"spec": {"template": {"spec": {"requirements": {}}}}}, r"spec\.template\.spec\.requirements: must be a list"),
        ("NodePool", {"spec": {"template": {"metadata": {"labels": {"a": 1}}}}}, r"spec\.template\.metadata\.labels\[a\]"),
        ("NodePool", {"spec": {"limits": {"cpu": []}}}, r"spec\.limits\[cpu\]: must be a quantity"),
        ("NodePool", {"spec": {"weight": "heavy"}}, r"spec\.weight: must be an integer"),
        ("NodeClaim", {"status": {"nodeName": 3}}, r"status\.nodeName: must be a string"),
        (
            "NodeClaim",
            {"spec": {"requirements": [{"key": "a", "minValues": "2"}]}},
            r"spec\.requirements\[0\]\.minValues: must be an integer",
        ),
        ("NodeOverlay", {"spec": {"capacity": {"x": "1Zi"}}}, r"spec\.capacity\[x\]"),
    ],
)
def test_a_field_of_the_wrong_type_is_named(kind: str, fields: dict[str, Any], said: str) -> None:
    with pytest.raises(DecodeError, match=said):
        decode(item(kind, **fields))
