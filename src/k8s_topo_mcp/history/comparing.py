"""Two states of one object, or of a whole view, and the fields in which they differ."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..objects import (
    OWNERS,
    ApiObject,
    ClusterAutoscalerStatus,
    ClusterQueue,
    CompositePodGroup,
    ComputeDomain,
    ComputeDomainClique,
    DaemonSet,
    DeviceClass,
    DeviceTaintRule,
    KueueWorkload,
    Lease,
    LimitRange,
    LocalQueue,
    MachineDeployment,
    MachinePool,
    MachineSet,
    Namespace,
    Node,
    NodePool,
    ObjectRef,
    PersistentVolumeClaim,
    Pod,
    PodGroup,
    PriorityClass,
    ProvisioningRequest,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceQuota,
    ResourceSlice,
    Timestamp,
    Workload,
)
from ..view import ClusterView
from ..view.past import Effect, FieldChange, Known, Span
from . import claims, node_groups, nodes, owners, pods, queues, rules, slices
from .fields import FIELD, Difference, text, value

WHOLE = ""


@dataclass(frozen=True, slots=True)
class Subject:
    """How one kind is compared: its fields, itself in a line, and what it means that one comes or goes."""

    compare: Callable[[Any, Any], Iterator[Difference]]
    summary: Callable[[Any], str]
    came: Effect = Effect.NOTE
    went: Effect = Effect.NOTE


def _namespaces(before: Namespace, after: Namespace) -> Iterator[Difference]:
    yield from value("status.phase", before.phase, after.phase, Effect.LESS if after.phase == "Terminating" else Effect.MORE)


SUBJECTS: Mapping[type[ApiObject], Subject] = {
    ResourceSlice: Subject(slices.compare, slices.summary, Effect.MORE, Effect.LESS),
    ResourceClaim: Subject(claims.compare, lambda claim: claims.asks(claim.spec), Effect.NOTE, Effect.NOTE),
    ResourceClaimTemplate: Subject(claims.compare_templates, lambda entry: claims.asks(entry.spec), Effect.OTHER, Effect.LESS),
    DeviceClass: Subject(rules.compare_classes, rules.summary_of_class, Effect.OTHER, Effect.LESS),
    DeviceTaintRule: Subject(rules.compare_taint_rules, rules.summary_of_rule, Effect.LESS, Effect.MORE),
    Node: Subject(nodes.compare, nodes.summary, Effect.MORE, Effect.LESS),
    Pod: Subject(pods.compare, pods.summary, Effect.NOTE, Effect.NOTE),
    ResourceQuota: Subject(rules.compare_quotas, rules.summary_of_quota, Effect.LESS, Effect.MORE),
    LimitRange: Subject(rules.compare_limit_ranges, rules.limits, Effect.OTHER, Effect.OTHER),
    PriorityClass: Subject(rules.compare_priority_classes, lambda entry: text(f"value {entry.value}"), Effect.OTHER, Effect.OTHER),
    PodGroup: Subject(queues.compare_pod_groups, queues.summary_of_group),
    CompositePodGroup: Subject(queues.compare_pod_groups, queues.summary_of_group),
    Workload: Subject(queues.compare_workloads, lambda entry: queues.templates(entry.templates)),
    KueueWorkload: Subject(queues.compare_kueue_workloads, lambda entry: text(f"queue {entry.queue}")),
    LocalQueue: Subject(queues.compare_queues, lambda entry: text(f"ClusterQueue {entry.cluster_queue}"), Effect.OTHER, Effect.LESS),
    ClusterQueue: Subject(queues.compare_queues, lambda entry: text(f"stopPolicy {entry.stop_policy}"), Effect.OTHER, Effect.LESS),
    ComputeDomain: Subject(queues.compare_compute_domains, lambda entry: entry.status or "no status yet", Effect.OTHER, Effect.LESS),
    ComputeDomainClique: Subject(queues.compare_cliques, lambda entry: text(f"{len(entry.daemons)} daemons")),
    Namespace: Subject(_namespaces, lambda entry: entry.phase),
    PersistentVolumeClaim: Subject(owners.compare_volume_claims, lambda entry: entry.phase or "there"),
    NodePool: Subject(node_groups.compare_node_pools, node_groups.summary_of_node_pool, Effect.MORE, Effect.LESS),
    **{
        kind: Subject(node_groups.compare_machine_groups, node_groups.summary_of_machines)
        for kind in (MachineDeployment, MachineSet, MachinePool)
    },
    ClusterAutoscalerStatus: Subject(node_groups.compare_autoscaler_status, node_groups.summary_of_status),
    ProvisioningRequest: Subject(node_groups.compare_provisioning_requests, node_groups.summary_of_request),
    Lease: Subject(owners.compare_leases, lambda entry: text(f"held by {entry.holder or 'nobody'}")),
    **{kind: Subject(owners.compare, owners.summary) for kind in OWNERS},
    DaemonSet: Subject(owners.compare, owners.summary, Effect.OTHER, Effect.LESS),
}
"""The kinds that are followed. Others (events, storage classes, …) aren't: they say themselves when they are from, or hardly change."""


def is_followed(kind: type[ApiObject]) -> bool:
    """Whether changes of a kind are looked at."""
    return kind in SUBJECTS


def about(item: ApiObject) -> str:
    """What FieldChange.about says of a whole object."""
    return slices.pool(item) if isinstance(item, ResourceSlice) else ""


def reference(item: ApiObject) -> ObjectRef:
    """The reference of an object, in bounded and clean text."""
    ref = item.ref
    return ObjectRef(text(ref.kind, 80), text(ref.namespace, 80), text(ref.name, 253), text(ref.uid, 64))


def differences(before: ApiObject | None, after: ApiObject | None) -> Iterator[Difference]:
    """The fields that differ between two states of one object; None: it wasn't, or isn't, there."""
    item = after if after is not None else before
    subject = SUBJECTS.get(type(item)) if item is not None else None
    if before is after or item is None or subject is None:
        return
    if before is None:
        yield Difference(WHOLE, None, subject.summary(item) or "there", subject.came, about(item))
    elif after is None:
        yield Difference(WHOLE, subject.summary(item) or "there", None, subject.went, about(item))
    else:
        if before.metadata.deleted != after.metadata.deleted and after.metadata.deleted is not None and before.metadata.deleted is None:
            yield Difference("metadata.deletionTimestamp", None, "set", _leaving(after), about(item))
        yield from subject.compare(before, after)


def _leaving(item: ApiObject) -> Effect:
    return Effect.LESS if isinstance(item, (Node, ResourceSlice)) else Effect.NOTE


def changes(before: ApiObject | None, after: ApiObject | None, at: Timestamp, known: Known = "watched") -> tuple[FieldChange, ...]:
    """
    What changed in one object, as far as it counts for scheduling.

    Parameters
    ----------
    before, after
        The object's states; None: it wasn't, or isn't, there. Of two uids under one name the older object went and another came.
    at
        When the change was seen. That an object came is dated by its own creation, if it says so.
    """
    if (
        before is not None
        and after is not None
        and before.metadata.uid != after.metadata.uid
        and before.metadata.uid
        and after.metadata.uid
    ):
        return (*changes(before, None, at, known), *changes(None, after, at, known))
    item = after if after is not None else before
    if item is None or type(item) not in SUBJECTS:
        return ()
    found = tuple(differences(before, after))
    if not found:
        return ()
    ref = reference(item)
    moment = after.metadata.created if before is None and after is not None and after.metadata.created is not None else at
    return tuple(
        FieldChange(ref, entry.field if len(entry.field) <= FIELD else text(entry.field, FIELD), entry.old, entry.new,
                    entry.effect, moment, known, about=entry.about)
        for entry in found
    )  # fmt: skip


def between(earlier: ClusterView, later: ClusterView) -> tuple[FieldChange, ...]:
    """
    What changed from one view to a later one of the same cluster, at the latest when the later one was made.

    Changes that were undone in between leave no trace. Of pools that were published anew under other slice names only what is different in
    their devices counts.
    """
    found: list[FieldChange] = []
    for kind in SUBJECTS:
        found.extend(_pools(earlier, later) if kind is ResourceSlice else _kind(kind, earlier, later))
    return tuple(_dated(entry, earlier.now, later.now) for entry in found)


def _dated(entry: FieldChange, after: Timestamp, at: Timestamp) -> FieldChange:
    """Creations keep the time of their own, where that lies between the views."""
    if entry.created and after < entry.at <= at:
        return replace(entry, after=None)
    return replace(entry, at=at, after=after)


def _kind(kind: type[ApiObject], earlier: ClusterView, later: ClusterView) -> Iterator[FieldChange]:
    before, after = ({item.key: item for item in view.all(kind)} for view in (earlier, later))
    # What one of the two couldn't read neither came nor went.
    whole = earlier.can_read(kind.KIND) and later.can_read(kind.KIND)
    for key, item in after.items():
        known = before.get(key)
        if known is not item and (known is not None or whole):
            yield from changes(known, item, later.now, "compared")
    for key, item in before.items():
        if key not in after and whole:
            yield from changes(item, None, later.now, "compared")


def _pools(earlier: ClusterView, later: ClusterView) -> Iterator[FieldChange]:
    before, after = ({piece.name: piece for piece in view.all(ResourceSlice)} for view in (earlier, later))
    for name in sorted(before.keys() & after.keys()):
        if before[name] is not after[name]:
            yield from changes(before[name], after[name], later.now, "compared")
    if not (earlier.can_read("ResourceSlice") and later.can_read("ResourceSlice")):
        return
    alone: dict[str, tuple[list[ResourceSlice], list[ResourceSlice]]] = {}
    for side, own, other in ((0, before, after), (1, after, before)):
        for name, piece in own.items():
            if name not in other:
                alone.setdefault(slices.pool(piece), ([], []))[side].append(piece)
    for gone, came in alone.values():
        if gone and came:
            yield from _republished(gone, came, later.now)
        else:
            for piece in gone:
                yield from changes(piece, None, later.now, "compared")
            for piece in came:
                yield from changes(None, piece, later.now, "compared")


def _republished(gone: list[ResourceSlice], came: list[ResourceSlice], at: Timestamp) -> Iterator[FieldChange]:
    ref, pool = reference(came[0]), slices.pool(came[0])
    old = [device for piece in gone for device in piece.devices]
    new = [device for piece in came for device in piece.devices]
    last, first = max(piece.generation for piece in gone), max(piece.generation for piece in came)
    found = (*slices.compare_devices(old, new), *value("spec.pool.generation", last, first, Effect.NOTE))
    for entry in found:
        yield FieldChange(ref, text(entry.field, FIELD), entry.old, entry.new, entry.effect, at, "compared", about=pool)


class Earlier:
    """An older view of the same cluster as the past of a later one."""

    how: Known = "compared"
    metadata_kinds: tuple[str, ...] = ()

    def __init__(self, earlier: ClusterView, later: ClusterView) -> None:
        self._changes = tuple(sorted(between(earlier, later), key=lambda entry: entry.at))
        self.spans = (Span(earlier.now, later.now),)
        self.notes = ()

    def changes(self, since: Timestamp, until: Timestamp, least: Effect = Effect.NOTE) -> tuple[FieldChange, ...]:
        """Changes that can have been in that time."""
        return tuple(
            entry
            for entry in self._changes
            if entry.effect >= least and entry.at >= since and (entry.after if entry.after is not None else entry.at) <= until
        )
