"""Changes for volumes that keep a pod from its nodes: the claim that was meant, a class that waits for the pod, less storage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from difflib import get_close_matches

from ..findings import Finding
from ..objects import CSIStorageCapacity, PersistentVolume, PersistentVolumeClaim, Pod, Quantity, StorageClass
from ..objects.storage import SELECTED_NODE_ANNOTATION
from ..view import ClusterView, Replace
from .changes import pod_apply
from .fields import below
from .report import Change

CLASSES = 2
"""Other StorageClasses that are tried."""


def volume_changes(view: ClusterView, pod: Pod, found: Finding) -> Iterator[Change]:
    """What would let the pod's volumes be bound."""
    match found.code:
        case "VOLUME_CLAIM_MISSING":
            yield from _other_claims(view, pod, found.text("claim"))
        case "VOLUME_CLAIMS_UNBOUND":
            names = found.values["claims"]
            for name in names if isinstance(names, tuple) else ():
                yield from _other_classes(view, pod, str(name))
        case "NO_VOLUME_TO_BIND":
            yield from _unselected(view, pod, found.text("claim"))
            yield from _smaller(view, pod, found.text("claim"))
            yield from _other_classes(view, pod, found.text("claim"))
        case "STORAGE_SHORT":
            yield from _smaller(view, pod, found.text("claim"))
        case _:
            return


def _other_claims(view: ClusterView, pod: Pod, wrong: str) -> Iterator[Change]:
    names = [claim.name for claim in view.all(PersistentVolumeClaim) if claim.namespace == pod.namespace]
    volume = next((entry for entry in pod.volumes if entry.claim_name == wrong), None)
    if volume is None:
        return
    for name in get_close_matches(wrong, names, n=2, cutoff=0.6):
        volumes = tuple(replace(entry, claim_name=name) if entry is volume else entry for entry in pod.volumes)
        field = f"spec.volumes[name={volume.name}].persistentVolumeClaim.claimName"
        edits = (Replace(replace(pod, volumes=volumes)),)
        yield Change(f"claimName {wrong} → {name}", pod.ref, field, wrong, name, edits, True, pod_apply(pod))


def _claim(view: ClusterView, pod: Pod, name: str) -> PersistentVolumeClaim | None:
    return view.get(PersistentVolumeClaim, name, pod.namespace)


def _again(claim: PersistentVolumeClaim) -> str:
    return f"delete and re-create PersistentVolumeClaim {claim.full_name} under the same name (it holds no data yet)"


def _other_classes(view: ClusterView, pod: Pod, name: str) -> Iterator[Change]:
    """Classes that wait for the pod: the one that was probably meant first."""
    claim = _claim(view, pod, name)
    if claim is None or claim.volume_name:
        return
    own = claim.storage_class or ""
    waiting = sorted(entry.name for entry in view.all(StorageClass) if entry.binding_mode == "WaitForFirstConsumer" and entry.name != own)
    for other in list(dict.fromkeys((*get_close_matches(own, waiting, n=1, cutoff=0.6), *waiting)))[:CLASSES]:
        changed = replace(claim, request=replace(claim.request, storage_class=other))
        text = f"storageClassName {own or '(none)'} → {other} of PersistentVolumeClaim {claim.full_name}"
        keeps = view.get(StorageClass, own) is None
        yield Change(text, claim.ref, "spec.storageClassName", own, other, (Replace(changed),), keeps, _again(claim))


def _unselected(view: ClusterView, pod: Pod, name: str) -> Iterator[Change]:
    """A claim that was given to a node is free again."""
    claim = _claim(view, pod, name)
    selected = claim.metadata.annotations.get(SELECTED_NODE_ANNOTATION) if claim is not None else None
    if claim is None or selected is None:
        return
    rest = {key: value for key, value in claim.metadata.annotations.items() if key != SELECTED_NODE_ANNOTATION}
    edits = (Replace(replace(claim, metadata=replace(claim.metadata, annotations=rest))),)
    how = f"kubectl annotate pvc -n {claim.namespace} {claim.name} {SELECTED_NODE_ANNOTATION}-"
    field = f"metadata.annotations{below(SELECTED_NODE_ANNOTATION)}"
    yield Change(f"PersistentVolumeClaim {claim.full_name} no longer given to {selected}", claim.ref, field, selected, "", edits, True, how)


def _smaller(view: ClusterView, pod: Pod, name: str) -> Iterator[Change]:
    """As much storage as a volume of the class that is there has, or as its driver still has room for."""
    claim = _claim(view, pod, name)
    asked = claim.request.requests.get("storage") if claim is not None else None
    if claim is None or asked is None:
        return
    for amount in sorted(_amounts(view, claim.storage_class or "", asked), key=lambda amount: -amount.value)[:2]:
        changed = replace(claim, request=replace(claim.request, requests={**claim.request.requests, "storage": amount}))
        text = f"storage {asked} → {amount} of PersistentVolumeClaim {claim.full_name}"
        yield Change(text, claim.ref, "spec.resources.requests.storage", str(asked), str(amount), (Replace(changed),), False, _again(claim))


def _amounts(view: ClusterView, name: str, asked: Quantity) -> set[Quantity]:
    """What is there and less than asked."""
    free = [entry.capacity.get("storage") for entry in view.all(PersistentVolume) if entry.storage_class == name and entry.claim is None]
    room = [entry.maximum_volume_size or entry.capacity for entry in view.all(CSIStorageCapacity) if entry.storage_class == name]
    return {amount for amount in (*free, *room) if amount is not None and amount.value > 0 and amount < asked}
