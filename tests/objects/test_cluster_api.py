"""MachineDeployment, MachineSet, MachinePool: sizes, and what a node would have, from their annotations."""

from __future__ import annotations

from typing import Any

import pytest

from k8s_topo_mcp.objects import DecodeError, MachineDeployment, MachineGroup, MachinePool, MachineSet, decode
from k8s_topo_mcp.objects.cluster_api import CAPACITY, MAX_SIZE, MIN_SIZE

ANNOTATIONS = {
    MIN_SIZE: "0",
    MAX_SIZE: "5",
    f"{CAPACITY}cpu": "16",
    f"{CAPACITY}memory": "128G",
    f"{CAPACITY}dra-driver": "gpu.nvidia.com",
    f"{CAPACITY}gpu-count": "2",
    f"{CAPACITY}labels": "a=b",
    "example.com/other": "x",
}


def item(kind: str, version: str = "v1beta1", **fields: Any) -> dict[str, Any]:
    metadata = {"name": "gpu", "namespace": "infra", "annotations": ANNOTATIONS}
    return {"apiVersion": f"cluster.x-k8s.io/{version}", "kind": kind, "metadata": metadata, **fields}


@pytest.mark.parametrize("version", ["v1beta1", "v1beta2"])
@pytest.mark.parametrize("kind", [MachineDeployment, MachineSet, MachinePool])
def test_a_group_tells_its_sizes_and_what_a_node_of_it_would_have(kind: type[MachineGroup], version: str) -> None:
    found = decode(
        item(
            kind.KIND,
            version,
            spec={
                "clusterName": "prod",
                "replicas": 3,
                "template": {
                    "metadata": {"labels": {"node.cluster.x-k8s.io/pool": "gpu"}},
                    "spec": {"failureDomain": "zone-a", "taints": [{"key": "gpu", "effect": "NoSchedule", "propagation": "Always"}]},
                },
            },
            status={"readyReplicas": 2},
        )
    )
    assert isinstance(found, kind)
    assert (found.size(MIN_SIZE), found.size(MAX_SIZE), found.replicas, found.ready) == (0, 5, 3, 2)
    assert found.capacity == {"cpu": "16", "memory": "128G", "dra-driver": "gpu.nvidia.com", "gpu-count": "2", "labels": "a=b"}
    assert found.group_id == f"{kind.KIND}/infra/gpu"
    assert (found.cluster, found.failure_domain, [taint.key for taint in found.taints]) == ("prod", "zone-a", ["gpu"])


@pytest.mark.parametrize("text", ["", "many", "-1", "1.5", "٣", "9" * 20])
def test_a_size_that_is_no_number_is_none(text: str) -> None:
    source = item("MachineDeployment")
    source["metadata"]["annotations"] = {MAX_SIZE: text}
    found = decode(source)
    assert isinstance(found, MachineDeployment)
    assert found.size(MAX_SIZE) is None


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"spec": {"replicas": "3"}}, r"spec\.replicas: must be an integer"),
        ({"spec": {"template": {"spec": {"taints": "x"}}}}, r"spec\.template\.spec\.taints: must be a list"),
        ({"spec": {"template": {"metadata": {"labels": ["a"]}}}}, r"spec\.template\.metadata\.labels: must be an object"),
        ({"status": {"readyReplicas": True}}, r"status\.readyReplicas: must be an integer"),
    ],
)
def test_a_field_of_the_wrong_type_is_named(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(DecodeError, match=said):
        decode(item("MachineDeployment", **fields))
