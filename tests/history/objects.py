"""Objects for these tests, written as the API has them and decoded as any other."""

from __future__ import annotations

import copy
from typing import Any

from k8s_topo_mcp.history.comparing import changes, differences
from k8s_topo_mcp.objects import ApiObject, decode
from k8s_topo_mcp.view import ClusterView, Effect, FieldChange

Item = dict[str, Any]
CREATED = "2026-11-29T10:00:00Z"
NOON = 1_795_953_600.0
"""2026-11-29T12:00:00Z"""
API = {
    "ResourceClaim": "resource.k8s.io/v1", "ResourceClaimTemplate": "resource.k8s.io/v1", "ResourceSlice": "resource.k8s.io/v1",
    "DeviceClass": "resource.k8s.io/v1", "DeviceTaintRule": "resource.k8s.io/v1beta2", "DaemonSet": "apps/v1", "Deployment": "apps/v1",
    "Job": "batch/v1", "PriorityClass": "scheduling.k8s.io/v1", "PodGroup": "scheduling.k8s.io/v1alpha2",
    "LocalQueue": "kueue.x-k8s.io/v1beta1", "ClusterQueue": "kueue.x-k8s.io/v1beta1", "KueueWorkload": "kueue.x-k8s.io/v1beta1",
    "ComputeDomain": "resource.nvidia.com/v1beta1", "Lease": "coordination.k8s.io/v1",
    "NodePool": "karpenter.sh/v1", "MachineDeployment": "cluster.x-k8s.io/v1beta1", "ProvisioningRequest": "autoscaling.x-k8s.io/v1",
}  # fmt: skip


def item(kind: str, name: str, namespace: str = "", **more: Any) -> Item:
    metadata: Item = {"name": name, "uid": f"uid-{kind}-{name}", "creationTimestamp": CREATED, **more.pop("metadata", {})}
    if namespace:
        metadata["namespace"] = namespace
    served = "Workload" if kind == "KueueWorkload" else kind
    return {"apiVersion": API.get(kind, "v1"), "kind": served, "metadata": metadata, **more}


def made(source: Item) -> ApiObject:
    found = decode(source)
    assert found is not None
    return found


def edited(source: Item, path: str, value: Any) -> Item:
    """A copy with `value` at a dotted path; None takes the field out."""
    result = copy.deepcopy(source)
    *way, last = path.split(".")
    place: Any = result
    for step in way:
        place = place[int(step)] if step.isdecimal() else place.setdefault(step, {})
    if isinstance(place, list):
        place[int(last)] = value
    elif value is None:
        place.pop(last, None)
    else:
        place[last] = value
    return result


def different(before: Item | None, after: Item | None) -> set[tuple[str, str | None, str | None, str]]:
    """field, old, new, effect of each difference."""
    found = differences(None if before is None else made(before), None if after is None else made(after))
    return {(entry.field, entry.old, entry.new, entry.effect.name) for entry in found}


def watched(before: Item | None, after: Item | None, at: float = NOON) -> tuple[FieldChange, ...]:
    return changes(None if before is None else made(before), None if after is None else made(after), at)


def view(*items: Item, now: float = NOON) -> ClusterView:
    return ClusterView([made(entry) for entry in items], now=now)


def device(name: str, **more: Any) -> Item:
    return {"name": name, "attributes": {"type": {"string": "gpu"}, "index": {"int": 1}}, "capacity": {"memory": {"value": "80Gi"}}, **more}


def piece(name: str = "n1-gpu", node: str = "n1", *devices: Item, pool: str | None = None, generation: int = 1, **more: Any) -> Item:
    spec = {
        "driver": "gpu.example.com",
        "nodeName": node,
        "pool": {"name": pool or node, "generation": generation, "resourceSliceCount": 1},
        "devices": list(devices) or [device("gpu-0"), device("gpu-1")],
    }
    return item("ResourceSlice", name, spec=spec, **more)


def node(name: str = "n1", **more: Any) -> Item:
    status = {"allocatable": {"cpu": "8", "example.com/gpu": "2"}, "conditions": [condition("Ready", "True", "KubeletReady")]}
    return item("Node", name, **{"spec": {}, "status": status, **more})


def condition(kind: str, status: str, reason: str = "", at: str = CREATED) -> Item:
    return {"type": kind, "status": status, "reason": reason, "message": "words that change", "lastTransitionTime": at}


def claim(name: str = "c", *devices: str, asks: int = 1, **more: Any) -> Item:
    """A claim for `asks` devices, which holds `devices` of pool n1."""
    spec = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu", "count": asks}}]}}
    results = [{"request": "r", "driver": "gpu.example.com", "pool": "n1", "device": name} for name in devices]
    status = {"allocation": {"devices": {"results": results}}} if devices else {}
    return item("ResourceClaim", name, "default", **{"spec": spec, "status": status, **more})


def pod(name: str = "p", claim_name: str | None = None, **more: Any) -> Item:
    spec: Item = {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]}
    if claim_name is not None:
        spec["resourceClaims"] = [{"name": "gpu", "resourceClaimName": claim_name}]
    return item("Pod", name, "default", **{"spec": spec, "status": {"phase": "Pending"}, **more})


__all__ = ["CREATED", "NOON", "Effect", "Item"]
