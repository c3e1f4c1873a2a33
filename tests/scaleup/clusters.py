"""Clusters for these tests, of ordinary API objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from k8s_topo_mcp.objects import decode
from k8s_topo_mcp.view import ClusterView

Item = dict[str, Any]
GPU = "gpu.nvidia.com"
ROOT, NUMA = "resource.kubernetes.io/pcieRoot", "resource.kubernetes.io/numaNode"
READY = {"type": "Ready", "status": "True"}


def view(*items: Item | Iterable[Item]) -> ClusterView:
    flat = [entry for item in items for entry in ([item] if isinstance(item, dict) else item)]
    return ClusterView([found for entry in flat if (found := decode(entry)) is not None])


def item(api_version: str, kind: str, name: str, namespace: str = "", **fields: Any) -> Item:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {}), **fields.pop("metadata", {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


def node(
    name: str,
    labels: Mapping[str, str] | None = None,
    taints: Sequence[str] = (),
    *,
    ready: bool = True,
    cpu: str = "64",
    annotations: Mapping[str, str] | None = None,
    created: str = "2026-11-01T00:00:00Z",
    **spec: Any,
) -> Item:
    """A node; taints as "key:effect"."""
    given = [{"key": key, "effect": effect} for key, effect in (text.rsplit(":", 1) for text in taints)]
    return item(
        "v1",
        "Node",
        name,
        metadata={
            "labels": {"kubernetes.io/hostname": name, **(labels or {})},
            "annotations": dict(annotations or {}),
            "creationTimestamp": created,
        },
        spec={"taints": given, "providerID": f"cloud:///{name}", **spec},
        status={
            "allocatable": {"cpu": cpu, "memory": "512Gi", "pods": "110"},
            "conditions": [{**READY, "status": "True" if ready else "False"}],
        },
    )


def slices(on: str, devices: Sequence[Mapping[str, Any]], *, driver: str = GPU, count: int = 1, taints: Sequence[str] = ()) -> Item:
    """One slice of a pool; of each device its attributes, the device is named by its place."""

    def value(given: Any) -> Any:
        return {"bool" if isinstance(given, bool) else "int" if isinstance(given, int) else "string": given}

    return item(
        "resource.k8s.io/v1",
        "ResourceSlice",
        f"{on}-{driver}",
        spec={
            "driver": driver,
            "nodeName": on,
            "pool": {"name": on, "generation": 1, "resourceSliceCount": count},
            "devices": [
                {
                    "name": f"dev-{number}",
                    "attributes": {key: value(given) for key, given in device.items()},
                    **({"taints": [{"key": key, "effect": "NoSchedule"} for key in taints]} if taints and number == 0 else {}),
                }
                for number, device in enumerate(devices)
            ],
        },
    )


def pair(on: str, roots: Sequence[str] = ("pci0", "pci1"), **more: Any) -> Item:
    """Two GPUs with identities of their own."""
    return slices(on, [{"type": "gpu", "uuid": f"GPU-{on}-{number}", ROOT: root} for number, root in enumerate(roots)], **more)


def daemon_set(name: str, cpu: str, selector: Mapping[str, str] | None = None, tolerates: bool = False) -> Item:
    pod = {
        "containers": [{"name": "main", "resources": {"requests": {"cpu": cpu}}}],
        "nodeSelector": dict(selector or {}),
        "tolerations": [{"operator": "Exists"}] if tolerates else [],
        "resourceClaims": [{"name": "admin", "resourceClaimTemplateName": "admin"}],
    }
    return item("apps/v1", "DaemonSet", name, "kube-system", spec={"template": {"metadata": {"labels": {"app": name}}, "spec": pod}})


def status(*groups: tuple[str, int, int]) -> Item:
    """Cluster Autoscaler's status: (name, target, most) of each group."""
    listed = "".join(
        f"- name: {name}\n  health: {{status: Healthy, cloudProviderTarget: {target}, minSize: 0, maxSize: {most}}}\n"
        for name, target, most in groups
    )
    text = f'time: "2026-11-29T12:00:00Z"\nautoscalerStatus: Running\nnodeGroups:\n{listed}'
    return item("v1", "ConfigMap", "cluster-autoscaler-status", "kube-system", data={"status": text})


def node_pool(name: str, *requirements: tuple[str, str, Sequence[str]], limits: Mapping[str, str] | None = None, **template: Any) -> Item:
    wanted = [{"key": key, "operator": operator, "values": list(values)} for key, operator, values in requirements]
    return item(
        "karpenter.sh/v1",
        "NodePool",
        name,
        spec={
            "template": {"metadata": {"labels": template.pop("labels", {})}, "spec": {"requirements": wanted, **template}},
            "limits": dict(limits or {}),
        },
    )
