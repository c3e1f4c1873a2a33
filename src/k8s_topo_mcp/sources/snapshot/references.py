"""Kinds that the objects of a dump refer to: where one has no object in it, it was left out of the dump, and nothing is known of it.

`kubectl get pods,nodes -o json` of a cluster in which pods use claims has no claim, no class and no slice: that proves nothing of them.
Where claims are there and none is allocated, no class and no slice may well be what is wrong (no driver is installed), and kubectl has no
way to write an empty list of a kind beside others: then they count as read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

from ...objects import (
    ApiObject,
    DeviceClass,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodGroup,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
    StorageClass,
    Workload,
)

T = TypeVar("T", bound=ApiObject)
Kinds = Mapping[type[ApiObject], Iterable[ApiObject]]


def referred(objects: Kinds) -> tuple[str, ...]:
    """The kinds that something in `objects` (by class) refers to, each once."""
    found = dict.fromkeys(kind for pod in _all(objects, Pod) if not pod.is_terminal for kind in _of_pod(pod))
    claims = tuple(_all(objects, ResourceClaim))
    if any(consumer.resource == "pods" for claim in claims for consumer in claim.reserved_for):
        found[Pod] = None
    if (ResourceClaim in found and not claims) or any(claim.allocation is not None for claim in claims):
        found |= dict.fromkeys((DeviceClass, ResourceSlice))
    waiting = {volume.claim_name for pod in _all(objects, Pod) if pod.is_pending for volume in pod.volumes}
    for claim in _all(objects, PersistentVolumeClaim):
        if claim.name in waiting and (claim.volume_name or claim.storage_class):
            found[PersistentVolume if claim.volume_name else StorageClass] = None
    return tuple(kind.KIND for kind in found)


def _of_pod(pod: Pod) -> Iterator[type[ApiObject]]:
    for entry in pod.resource_claims:
        yield ResourceClaim
        if pod.is_pending and entry.template_name is not None and entry.name not in pod.resource_claim_statuses:
            yield ResourceClaimTemplate
    if not pod.is_pending:
        return
    if any(volume.kind == "persistentVolumeClaim" for volume in pod.volumes):  # one of an ephemeral volume may have to be made yet
        yield PersistentVolumeClaim
    if pod.scheduling_group is not None:
        yield PodGroup
    if pod.workload_reference is not None:
        yield Workload


def _all(objects: Kinds, kind: type[T]) -> Iterator[T]:
    for item in objects.get(kind, ()):
        assert isinstance(item, kind)
        yield item
