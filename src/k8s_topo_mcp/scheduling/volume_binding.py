"""VolumeBinding: bound volumes can be reached from the node, and for claims that wait for their pod there is a volume or room for one.

Source: k8s.io/kubernetes pkg/scheduler/framework/plugins/volumebinding (volume_binding.go, binder.go) and component-helpers
storage/volume.FindMatchingVolume. In-tree volumes are taken as they are: what CSI migration makes of them isn't modelled.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from ..findings import Finding, finding
from ..objects import (
    CSIDriver,
    CSIStorageCapacity,
    ObjectRef,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    StorageClass,
)
from ..objects.container import Resources
from ..objects.pod import Volume
from ..objects.storage import SELECTED_NODE_ANNOTATION
from ..view import ClusterView
from .node_info import NodeInfo
from .skip import SKIP, Skip
from .volume_restrictions import claim_missing

REASON_NODE_CONFLICT = "node(s) didn't match PersistentVolume's node affinity"
REASON_BIND_CONFLICT = "node(s) didn't find available persistent volumes to bind"
REASON_NO_SPACE = "node(s) did not have enough free storage"
REASON_VOLUME_MISSING = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
REASON_UNBOUND = "pod has unbound immediate PersistentVolumeClaims"
NO_PROVISIONER = "kubernetes.io/no-provisioner"


@dataclass(frozen=True, slots=True, eq=False)
class Binding:
    """`bound` claims with their volumes; `waiting` ones with their classes; and what these could be bound to or made from (`capacities`
    None: could not be read)."""

    bound: tuple[tuple[PersistentVolumeClaim, PersistentVolume | None], ...]
    waiting: tuple[tuple[PersistentVolumeClaim, StorageClass], ...]
    volumes: Mapping[str, tuple[PersistentVolume, ...]]
    drivers: Mapping[str, CSIDriver]
    capacities: Mapping[str, tuple[CSIStorageCapacity, ...]] | None


def prepare(view: ClusterView, pod: Pod) -> Binding | Skip | Finding:
    claims: list[PersistentVolumeClaim] = []
    for volume in pod.volumes:
        if volume.claim_name is None:
            continue
        claim = view.get(PersistentVolumeClaim, volume.claim_name, pod.namespace)
        wrong = _wrong(pod, volume, volume.claim_name, claim)
        if wrong is not None:
            return wrong
        assert claim is not None
        claims.append(claim)
    if not claims:
        return SKIP
    bound: list[tuple[PersistentVolumeClaim, PersistentVolume | None]] = []
    waiting: list[tuple[PersistentVolumeClaim, StorageClass]] = []
    immediate: list[str] = []
    for claim in claims:
        if claim.is_bound:
            bound.append((claim, view.get(PersistentVolume, claim.volume_name)))
            continue
        chosen = view.get(StorageClass, claim.storage_class) if claim.storage_class else None
        if chosen is not None and chosen.binding_mode == "WaitForFirstConsumer" and not claim.volume_name:
            waiting.append((claim, chosen))
        else:
            immediate.append(claim.name)
    if immediate:
        about = ObjectRef("PersistentVolumeClaim", pod.namespace, immediate[0])
        return finding("VOLUME_CLAIMS_UNBOUND", about, "spec.volumeName", claims=tuple(immediate))
    return Binding(
        tuple(bound),
        tuple(waiting),
        view.index(PersistentVolume, _class_of_volume) if waiting else {},
        view.shared(CSIDriver, _by_name) if waiting else {},
        None if view.unread("CSIStorageCapacity") is not None else view.index(CSIStorageCapacity, _class_of_capacity) if waiting else {},
    )


def filter(state: Binding, info: NodeInfo) -> tuple[Finding, ...]:
    node, labels = info.node, info.node.metadata.labels
    missing: Finding | None = None
    found: list[Finding] = []
    for claim, volume in state.bound:
        if volume is None:
            missing = finding("VOLUME_MISSING", node.ref, "", claim=claim.name, volume=claim.volume_name)
            break
        if not _reaches(volume, labels):
            found.append(finding("VOLUME_NODE_AFFINITY", node.ref, "metadata.labels", claim=claim.name, volume=volume.name))
            break
    refused = _unbindable(state, info)
    if refused is not None:
        found.append(refused)
    if missing is not None:
        found.append(missing)
    return tuple(found)


def _unbindable(state: Binding, info: NodeInfo) -> Finding | None:
    """What keeps a waiting claim from being bound here."""
    node, labels = info.node, info.node.metadata.labels
    provision: list[tuple[PersistentVolumeClaim, StorageClass]] = []
    match: list[tuple[PersistentVolumeClaim, StorageClass]] = []
    for claim, chosen in state.waiting:
        selected = claim.metadata.annotations.get(SELECTED_NODE_ANNOTATION)
        if selected is None:
            match.append((claim, chosen))
        elif selected == node.name:
            provision.append((claim, chosen))
        else:
            return finding("NO_VOLUME_TO_BIND", node.ref, "", claim=claim.name, why=f"it was given to node {selected}")
    taken: set[str] = set()
    for claim, chosen in sorted(match, key=_size):
        volume = _matching(claim, state.volumes.get(chosen.name, ()), labels, taken)
        if volume is None:
            provision.append((claim, chosen))
        else:
            taken.add(volume.name)
    for claim, chosen in provision:
        if chosen.provisioner in ("", NO_PROVISIONER):
            return finding(
                "NO_VOLUME_TO_BIND", node.ref, "", claim=claim.name, why=f"StorageClass {chosen.name} makes none, and no present one fits"
            )
        topologies = chosen.allowed_topologies
        if topologies and not any(term and all(entry.holds(labels) for entry in term) for term in topologies):
            return finding(
                "NO_VOLUME_TO_BIND", node.ref, "metadata.labels", claim=claim.name, why=f"StorageClass {chosen.name} makes none here"
            )
        if not _has_room(state, claim, chosen, labels):
            return finding("STORAGE_SHORT", node.ref, "", claim=claim.name, asked=str(claim.request.requests["storage"]))
    return None


def _wrong(pod: Pod, volume: Volume, name: str, claim: PersistentVolumeClaim | None) -> Finding | None:
    about = ObjectRef("PersistentVolumeClaim", pod.namespace, name)
    generated = volume.kind == "ephemeral"
    if claim is None:
        return finding("VOLUME_CLAIM_NOT_CREATED", about, "", claim=name) if generated else claim_missing(pod, name)
    if claim.phase == "Lost":
        return finding("VOLUME_CLAIM_LOST", about, "spec.volumeName", claim=name, volume=claim.volume_name)
    if claim.metadata.deleted is not None:
        return finding("VOLUME_CLAIM_BEING_DELETED", about, "metadata.deletionTimestamp", claim=name)
    owner = claim.metadata.controller
    if generated and (owner is None or owner.uid != pod.metadata.uid):
        return finding("VOLUME_CLAIM_OTHER_OWNER", about, "metadata.ownerReferences", claim=claim.full_name, pod=pod.full_name)
    return None


def _reaches(volume: PersistentVolume, labels: Mapping[str, str]) -> bool:
    return volume.node_affinity is None or volume.node_affinity.matches("", labels)


def _storage(resources: Resources) -> int | Fraction:
    amount = resources.get("storage")
    return 0 if amount is None else amount.value


def _size(entry: tuple[PersistentVolumeClaim, StorageClass]) -> int | Fraction:
    """The smallest claim chooses first, so that it takes the smallest volume."""
    return _storage(entry[0].request.requests)


def _matching(
    claim: PersistentVolumeClaim, volumes: Iterable[PersistentVolume], labels: Mapping[str, str], taken: set[str]
) -> PersistentVolume | None:
    """The volume that the claim would be bound to: the one that is meant for it, else the smallest that does."""
    asked = _storage(claim.request.requests)
    wanted = claim.request
    best: PersistentVolume | None = None
    for volume in volumes:
        mine = _meant_for(volume, claim)
        if volume.name in taken or (volume.claim is not None and not mine):
            continue
        if _storage(volume.capacity) < asked or wanted.volume_mode != volume.volume_mode or volume.metadata.deleted is not None:
            continue
        if (wanted.attributes_class or "") != volume.attributes_class:
            continue
        reaches = _reaches(volume, labels)
        if mine:
            return volume if reaches else None
        if volume.phase != "Available" or (wanted.selector is not None and not wanted.selector.matches(volume.metadata.labels)):
            continue
        if not reaches or not set(wanted.access_modes) <= set(volume.access_modes):
            continue
        if best is None or _storage(volume.capacity) < _storage(best.capacity):
            best = volume
    return best


def _meant_for(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    meant = volume.claim
    return meant is not None and (meant.namespace, meant.name) == claim.key and meant.uid in ("", claim.metadata.uid)


def _has_room(state: Binding, claim: PersistentVolumeClaim, chosen: StorageClass, labels: Mapping[str, str]) -> bool:
    asked = claim.request.requests.get("storage")
    driver = state.drivers.get(chosen.provisioner)
    if asked is None or driver is None or not driver.storage_capacity or state.capacities is None:
        return True
    size = math.ceil(asked.value)
    for entry in state.capacities.get(chosen.name, ()):
        limit = entry.maximum_volume_size if entry.maximum_volume_size is not None else entry.capacity
        if limit is not None and math.ceil(limit.value) >= size and entry.node_topology is not None and entry.node_topology.matches(labels):
            return True
    return False


def _class_of_volume(volume: PersistentVolume) -> Iterable[str]:
    return (volume.storage_class,)


def _class_of_capacity(capacity: CSIStorageCapacity) -> Iterable[str]:
    return (capacity.storage_class,)


def _by_name(drivers: tuple[CSIDriver, ...]) -> Mapping[str, CSIDriver]:
    return {driver.name: driver for driver in drivers}


def reason(found: Finding) -> str:
    match found.code:
        case "VOLUME_CLAIM_MISSING":
            return f'persistentvolumeclaim "{found.text("claim")}" not found'
        case "VOLUME_CLAIM_NOT_CREATED":
            return f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{found.text("claim")}"'
        case "VOLUME_CLAIM_LOST":
            return f'persistentvolumeclaim "{found.text("claim")}" bound to non-existent persistentvolume "{found.text("volume")}"'
        case "VOLUME_CLAIM_BEING_DELETED":
            return f'persistentvolumeclaim "{found.text("claim")}" is being deleted'
        case "VOLUME_CLAIM_OTHER_OWNER":
            return f"PVC {found.text('claim')} was not created for pod {found.text('pod')} (pod is not owner)"
        case "VOLUME_CLAIMS_UNBOUND":
            return REASON_UNBOUND
        case "VOLUME_NODE_AFFINITY":
            return REASON_NODE_CONFLICT
        case "STORAGE_SHORT":
            return REASON_NO_SPACE
        case "VOLUME_MISSING":
            return REASON_VOLUME_MISSING
        case _:
            return REASON_BIND_CONFLICT
