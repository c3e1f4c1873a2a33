"""What the pod asks that no module here checks yet. It can only keep the pod from more nodes, never open one."""

from __future__ import annotations

from ..objects import PersistentVolume, PersistentVolumeClaim, Pod
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
    return tuple(found)


def _kind(view: ClusterView, pod: Pod, kind: str, claim_name: str | None) -> str:
    if claim_name is None:
        return kind
    claim = view.get(PersistentVolumeClaim, claim_name, pod.namespace)
    volume = view.get(PersistentVolume, claim.volume_name) if claim is not None and claim.volume_name else None
    return kind if volume is None else volume.kind
