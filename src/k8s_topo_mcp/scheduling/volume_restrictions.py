"""VolumeRestrictions: a disk that allows one user is used by no other pod on the node, a ReadWriteOncePod claim by no other pod at all.

Source: k8s.io/kubernetes pkg/scheduler/framework/plugins/volumerestrictions. Its PreFilter is also the first to miss a claim.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..findings import Finding, finding
from ..objects import ObjectRef, PersistentVolumeClaim, Pod
from ..objects.pod import Volume
from ..view import ClusterView
from .node_info import NodeInfo
from .skip import SKIP, Skip

REASON_DISK = "node(s) had no available disk"
REASON_ONE_POD = "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
ONE_POD = "ReadWriteOncePod"
_EXCLUSIVE = frozenset({"gcePersistentDisk", "awsElasticBlockStore", "iscsi", "rbd"})


@dataclass(frozen=True, slots=True, eq=False)
class Restrictions:
    """`disks` are volumes that other pods of a node may not share. `taken` is a claim for one pod that another one has, and which."""

    disks: tuple[Volume, ...]
    taken: tuple[str, str] | None


def prepare(view: ClusterView, pod: Pod) -> Restrictions | Skip | Finding:
    if not pod.volumes:
        return SKIP
    taken: tuple[str, str] | None = None
    for volume in pod.volumes:
        if volume.kind != "persistentVolumeClaim" or volume.claim_name is None:
            continue
        claim = view.get(PersistentVolumeClaim, volume.claim_name, pod.namespace)
        if claim is None:
            return claim_missing(pod, volume.claim_name)
        if taken is None and ONE_POD in claim.request.access_modes:
            users = view.index(Pod, _claims_used).get((pod.namespace, claim.name), ())
            taken = next(((claim.name, user.full_name) for user in users), None)
    disks = tuple(volume for volume in pod.volumes if volume.kind in _EXCLUSIVE)
    return Restrictions(disks, taken) if disks or taken else SKIP


def filter(state: Restrictions, info: NodeInfo) -> tuple[Finding, ...]:
    for disk in state.disks:
        for other in info.pods:
            if any(_conflict(disk, volume) for volume in other.volumes):
                return (finding("DISK_CONFLICT", info.node.ref, "", volume=disk.name, holder=other.full_name),)
    if state.taken is not None:
        claim, holder = state.taken
        return (finding("CLAIM_OF_ONE_POD", info.node.ref, "", claim=claim, holder=holder),)
    return ()


def claim_missing(pod: Pod, name: str) -> Finding:
    """The finding that the pod names a PersistentVolumeClaim that isn't there."""
    return finding("VOLUME_CLAIM_MISSING", ObjectRef("PersistentVolumeClaim", pod.namespace, name), "", claim=name)


def _claims_used(pod: Pod) -> Iterable[tuple[str, str]]:
    if not pod.volumes or not pod.node_name or pod.is_terminal:
        return ()
    return {(pod.namespace, volume.claim_name): None for volume in pod.volumes if volume.claim_name is not None}


def _conflict(one: Volume, other: Volume) -> bool:
    if one.kind != other.kind or one.disk != other.disk:
        return False
    if one.kind == "rbd" and not set(one.monitors) & set(other.monitors):
        return False
    return one.kind == "awsElasticBlockStore" or not (one.read_only and other.read_only)


def reason(found: Finding) -> str:
    match found.code:
        case "VOLUME_CLAIM_MISSING":
            return f'persistentvolumeclaim "{found.text("claim")}" not found'
        case "DISK_CONFLICT":
            return REASON_DISK
        case _:
            return REASON_ONE_POD
