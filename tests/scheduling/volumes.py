"""Volumes for these tests: claims, the volumes behind them, classes, and what CSI drivers say of nodes."""

from __future__ import annotations

from typing import Any

from ..diagnosis.clusters import Item


def volume_claim(name: str = "data", volume: str = "", storage_class: str = "", size: str = "10Gi", **spec: Any) -> Item:
    """A PersistentVolumeClaim; bound if it has a volume."""
    metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}", **spec.pop("metadata", {})}
    if volume:
        metadata["annotations"] = {"pv.kubernetes.io/bind-completed": "yes", **metadata.get("annotations", {})}
    own = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}, "volumeName": volume}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": metadata,
        "spec": {**own, **({"storageClassName": storage_class} if storage_class else {}), **spec},
        "status": {"phase": "Bound" if volume else "Pending"},
    }


def volume(name: str = "pv", size: str = "10Gi", labels: dict[str, str] | None = None, zones: tuple[str, ...] = (), **spec: Any) -> Item:
    """A PersistentVolume; with `zones` only nodes there reach it."""
    term = {"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": list(zones)}]}
    affinity = {"nodeAffinity": {"required": {"nodeSelectorTerms": [term]}}} if zones else {}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "labels": labels or {}},
        "spec": {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], **affinity, **spec},
        "status": {"phase": "Available"},
    }


def storage_class(name: str = "late", provisioner: str = "csi.example.com", mode: str = "WaitForFirstConsumer", **more: Any) -> Item:
    head = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name}}
    return {**head, "provisioner": provisioner, "volumeBindingMode": mode, **more}


def csi_node(name: str = "n1", limit: int | None = None, driver: str = "csi.example.com") -> Item:
    allocatable = {"allocatable": {"count": limit}} if limit is not None else {}
    drivers = [{"name": driver, "nodeID": name, "topologyKeys": [], **allocatable}]
    return {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": name}, "spec": {"drivers": drivers}}


def csi(handle: str, driver: str = "csi.example.com") -> Item:
    return {"csi": {"driver": driver, "volumeHandle": handle}}


def uses(*claims: str) -> list[Item]:
    """spec.volumes over these claims."""
    return [{"name": f"v-{name}", "persistentVolumeClaim": {"claimName": name}} for name in claims]
