"""What the pod asks that no module here checks yet, which can only keep it from more nodes, never open one; and what it needs that could
not be read, which makes every verdict unknown."""

from __future__ import annotations

from ..objects import PersistentVolume, PersistentVolumeClaim, Pod, StorageClass
from ..view import ClusterView

MIGRATED = frozenset({"gcePersistentDisk", "awsElasticBlockStore", "azureDisk", "azureFile", "cinder", "vsphereVolume", "portworxVolume"})
"""Volumes of old for which a CSI driver stands in on nodes that say so (csi-translation-lib)."""


def unchecked(view: ClusterView, pod: Pod) -> tuple[str, ...]:
    """Rules that concern this pod and aren't checked, named as a user knows them."""
    if not pod.volumes:
        return ()
    found: list[str] = []
    if any(_kind(view, pod, volume.kind, volume.claim_name) in MIGRATED for volume in pod.volumes):
        found.append("in-tree volumes under CSI migration")
    if view.unread("CSIStorageCapacity") is not None and any(_is_made(view, pod, volume.claim_name) for volume in pod.volumes):
        found.append("room for new volumes (CSIStorageCapacity could not be read)")
    return tuple(found)


def unread(view: ClusterView, pod: Pod) -> str:
    """Which object that the pod's volumes need could not be read, "" if none: its absence says nothing then."""
    for volume in pod.volumes:
        if volume.claim_name is None:
            continue
        claim = view.get(PersistentVolumeClaim, volume.claim_name, pod.namespace)
        if claim is None:
            if view.unread("PersistentVolumeClaim", pod.namespace) is not None:
                return f"PersistentVolumeClaim {pod.namespace}/{volume.claim_name} could not be read"
        elif claim.volume_name:
            if view.get(PersistentVolume, claim.volume_name) is None and view.unread("PersistentVolume") is not None:
                return f"PersistentVolume {claim.volume_name} could not be read"
        elif claim.storage_class and view.get(StorageClass, claim.storage_class) is None and view.unread("StorageClass") is not None:
            return f"StorageClass {claim.storage_class} could not be read"
    return ""


def _is_made(view: ClusterView, pod: Pod, claim_name: str | None) -> bool:
    """Whether a volume would have to be made for a claim, or found."""
    claim = view.get(PersistentVolumeClaim, claim_name, pod.namespace) if claim_name is not None else None
    return claim is not None and not claim.volume_name


def _kind(view: ClusterView, pod: Pod, kind: str, claim_name: str | None) -> str:
    if claim_name is None:
        return kind
    claim = view.get(PersistentVolumeClaim, claim_name, pod.namespace)
    volume = view.get(PersistentVolume, claim.volume_name) if claim is not None and claim.volume_name else None
    return kind if volume is None else volume.kind
