"""What objects say of their own past: when they were made, when a condition turned, a taint was added, a container ended, who wrote them.

Sources: metadata.creationTimestamp and deletionTimestamp, managedFields, conditions' lastTransitionTime, taints' timeAdded, a claim's
allocationTimestamp, container states (k8s.io/api). Only the last time of each is there: what was before it, values that nobody dates and
objects that are gone leave no trace. Former values aren't known.

A view of 100,000 objects is asked for ten minutes of them: an index by time says which objects have anything to say of these.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from typing import TypeVar

from ..objects import (
    ApiObject,
    ClusterQueue,
    CompositePodGroup,
    Condition,
    Container,
    ContainerState,
    DeviceTaintRule,
    KueueWorkload,
    LocalQueue,
    Node,
    Owner,
    Pod,
    PodGroup,
    ResourceClaim,
    ResourceSlice,
    Timestamp,
)
from ..view import ClusterView, derived
from ..view.past import Effect, FieldChange
from . import claims, pods
from .comparing import SUBJECTS, WHOLE, about, reference
from .fields import at_key, condition_text, text
from .slices import SPEC

BUCKET = 600.0
"""Seconds of one entry in the index by time."""

SETTLING = 2.0
"""Seconds after its creation in which what an object says belongs to its being made."""
NODE_SETTLING = 60.0
"""The same of a node: its kubelet and its controllers write it several times while it joins."""

V = TypeVar("V")

_GOOD = {"Ready", "Active", "QuotaReserved", "Admitted", "PodGroupScheduled"}
_BAD = {
    "MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable", "DisruptionTarget", "Evicted", "Preempted", "Requeued", "Failed",
    "ReplicaFailure", "Suspended",
}  # fmt: skip
_POD_CONDITIONS = {"PodScheduled", "DisruptionTarget"}
Said = tuple[Timestamp, str, str | None, Effect]
"""when, field, new value, effect"""


def times(item: ApiObject) -> Iterator[Timestamp]:
    """Every time of which `stated` may have something to say: cheap, no text is made."""
    if item.metadata.created is not None:
        yield item.metadata.created
    yield from _later_times(item)


def times_with_weight(item: ApiObject) -> Iterator[Timestamp]:
    """Those of which it may say that something was taken or a rule altered. In a large cluster nearly all others are of pods."""
    if isinstance(item, Pod) and not pods.runs_everywhere(item) and item.condition("DisruptionTarget") is None:
        return
    if item.metadata.created is not None and SUBJECTS[type(item)].came >= Effect.OTHER:
        yield item.metadata.created
    yield from _later_times(item)


def _later_times(item: ApiObject) -> Iterator[Timestamp]:
    metadata = item.metadata
    if metadata.deleted is not None:
        yield metadata.deleted
    for write in metadata.writes:
        yield write.at
    for condition in _conditions(item):
        if condition.changed is not None:
            yield condition.changed
    if isinstance(item, Pod):
        if pods.is_followed(item):
            for container in (*item.init_containers, *item.containers):
                for state in (container.state, container.last_state):
                    if state.since is not None:
                        yield state.since
    elif isinstance(item, Node):
        for taint in item.taints:
            if taint.added is not None:
                yield taint.added
    elif isinstance(item, ResourceSlice):
        for device in item.devices:
            for taint in device.taints:
                if taint.added is not None:
                    yield taint.added
    elif isinstance(item, DeviceTaintRule):
        if item.taint.added is not None:
            yield item.taint.added
    elif isinstance(item, ResourceClaim) and item.allocation is not None and item.allocation.allocated_at is not None:
        yield item.allocation.allocated_at


def _conditions(item: ApiObject) -> tuple[Condition, ...]:
    dated = (Pod, Node, PodGroup, CompositePodGroup, KueueWorkload, LocalQueue, ClusterQueue, Owner)
    return item.conditions if isinstance(item, dated) else ()


Dated = tuple[Timestamp, Timestamp, ApiObject]
"""The first and the last time of a stretch at which an object may have something to say."""


def stretches(item: ApiObject) -> Iterable[tuple[int, Dated]]:
    """The stretches of time in which an object has something to say."""
    found: dict[int, Dated] = {}
    for moment in times(item):
        bucket = int(moment // BUCKET)
        first, last, _ = found.get(bucket, (moment, moment, item))
        found[bucket] = (min(first, moment), max(last, moment), item)
    return found.items()


def with_weight(item: ApiObject) -> Iterable[tuple[int, FieldChange]]:
    """What an object says that has weight, by the stretch of time of which it says it: that is little, and made once."""
    for _ in times_with_weight(item):
        return [(int(entry.at // BUCKET), entry) for entry in stated(item, float("-inf"), float("inf"), Effect.OTHER)]
    return ()


def stated(item: ApiObject, since: Timestamp, until: Timestamp, least: Effect = Effect.NOTE) -> tuple[FieldChange, ...]:
    """What an object says of its own past, from `since` to `until`, with at least that effect."""
    found = [entry for entry in _sayings(item, least) if since <= entry[0] <= until and entry[3] >= least]
    if not found:
        return ()
    ref, pool = reference(item), about(item)
    return tuple(FieldChange(ref, field, None, new, effect, at, "timestamps", about=pool) for at, field, new, effect in found)


def _sayings(item: ApiObject, least: Effect) -> tuple[Said, ...]:
    weighty = least >= Effect.OTHER
    return derived(item, "weighty sayings" if weighty else "sayings", lambda: tuple(_said(item, Effect.OTHER if weighty else Effect.NOTE)))


def _said(item: ApiObject, least: Effect) -> Iterator[Said]:
    """All that it says of at least that effect, and little more."""
    subject = SUBJECTS.get(type(item))
    if subject is None:
        return
    metadata = item.metadata
    made = metadata.created if metadata.created is not None else float("-inf")
    settled = made + (NODE_SETTLING if isinstance(item, Node) else SETTLING)
    if metadata.created is not None and subject.came >= least:
        yield made, WHOLE, "created" if isinstance(item, Pod) else subject.summary(item) or "created", subject.came
    if metadata.deleted is not None:
        yield metadata.deleted, "metadata.deletionTimestamp", "set", Effect.LESS if isinstance(item, (Node, ResourceSlice)) else Effect.NOTE
    for write in metadata.writes:
        if write.at > settled:
            for field in write.fields:
                yield write.at, field, text(f"written by {write.manager or 'somebody'}"), Effect.OTHER
    for at, field, new, effect in _particular(item):
        if at > settled and effect >= least:
            yield at, field, new, effect


def _particular(item: ApiObject) -> Iterator[Said]:
    if isinstance(item, Pod):
        yield from _pod(item)
        return
    yield from _turned(_conditions(item))
    if isinstance(item, Node):
        for taint in item.taints:
            if taint.added is not None:
                soft = taint.effect == "PreferNoSchedule"
                yield taint.added, at_key("spec.taints", str(taint)), "there", Effect.NOTE if soft else Effect.LESS
    elif isinstance(item, ResourceSlice):
        for device in item.devices:
            for taint in device.taints:
                if taint.added is not None:
                    path = at_key(f"{at_key(SPEC, device.name)}.taints", str(taint))
                    yield taint.added, path, "there", Effect.NOTE if taint.effect == "None" else Effect.LESS
    elif isinstance(item, DeviceTaintRule):
        if item.taint.added is not None:
            yield item.taint.added, at_key("spec.taint", str(item.taint)), "there", Effect.LESS
    elif isinstance(item, ResourceClaim) and item.allocation is not None and item.allocation.allocated_at is not None:
        yield item.allocation.allocated_at, claims.RESULTS, claims.devices(item), Effect.LESS


def _turned(conditions: Iterable[Condition]) -> Iterator[Said]:
    for entry in conditions:
        if entry.changed is not None:
            yield entry.changed, at_key("status.conditions", entry.type), condition_text(entry), _effect(entry)


def _effect(entry: Condition) -> Effect:
    if entry.type in _GOOD:
        return Effect.MORE if entry.holds else Effect.LESS
    if entry.type in _BAD:
        return Effect.MORE if entry.status == "False" else Effect.LESS
    return Effect.NOTE


def _pod(pod: Pod) -> Iterator[Said]:
    followed, everywhere = pods.is_followed(pod), pods.runs_everywhere(pod)
    for entry in pod.conditions:
        if entry.changed is None:
            continue
        if entry.type == "PodScheduled" and entry.holds:
            yield entry.changed, "spec.nodeName", text(pod.node_name, 80), Effect.NOTE
        elif followed and entry.type in _POD_CONDITIONS:
            effect = Effect.LESS if entry.type == "DisruptionTarget" and entry.holds else Effect.NOTE
            yield entry.changed, at_key("status.conditions", entry.type), condition_text(entry), effect
        elif everywhere and entry.type == "Ready":
            yield entry.changed, at_key("status.conditions", entry.type), condition_text(entry), _effect(entry)
    if followed:
        for container in (*pod.init_containers, *pod.containers):
            yield from _container(container, everywhere)


def _container(container: Container, everywhere: bool) -> Iterator[Said]:
    path = at_key("status.containerStatuses", container.name)
    for state in (container.state, container.last_state):
        if state.kind == "terminated" and state.since is not None:
            failed = bool(state.exit_code)
            again = state is container.last_state and container.restart_count
            field, new = (f"{path}.restartCount", pods.restarts(container)) if again else (f"{path}.state.terminated", _ended(state))
            yield state.since, field, new, Effect.LESS if everywhere and failed else Effect.NOTE


def _ended(state: ContainerState) -> str:
    code = "" if state.exit_code is None else f"exit code {state.exit_code}"
    return text(", ".join(part for part in (code, state.reason) if part) or "ended")


def from_objects(
    view: ClusterView,
    since: Timestamp,
    until: Timestamp | None = None,
    least: Effect = Effect.NOTE,
    without: Collection[type[ApiObject]] = (),
) -> tuple[FieldChange, ...]:
    """
    What the objects of a view say of the time from `since` to `until` (default: the view's moment), oldest first. Kinds `without`
    aren't asked.

    Notes
    -----
    Costs one pass over the objects for the first question of a view; views that share most objects share that, too.
    """
    end = view.now if until is None else until
    if end < since:
        return ()
    # Pods of one workload often got stuck at the same moment.
    return view.memo(("said", since, end, least, frozenset(without)), lambda: _from_objects(view, since, end, least, without))


def _from_objects(
    view: ClusterView, since: Timestamp, end: Timestamp, least: Effect, without: Collection[type[ApiObject]]
) -> tuple[FieldChange, ...]:
    found: list[FieldChange] = []
    for kind in SUBJECTS:
        if kind in without:
            continue
        if least >= Effect.OTHER:
            weighty = _between(view.gather(kind, with_weight), since, end)
            found += [entry for entry in weighty if since <= entry.at <= end and entry.effect >= least]
            continue
        items = {item: None for began, ended, item in _between(view.gather(kind, stretches), since, end) if began <= end and ended >= since}
        found += [entry for item in items for entry in stated(item, since, end, least)]
    return tuple(sorted(found, key=lambda entry: entry.at))


def _between(index: Mapping[int, Sequence[V]], since: Timestamp, end: Timestamp) -> Iterator[V]:
    """What an index by time has under the stretches from `since` to `end`."""
    first, last = int(since // BUCKET), int(end // BUCKET)
    wanted = range(first, last + 1) if last - first < len(index) else sorted(entry for entry in index if first <= entry <= last)
    return chain.from_iterable(map(index.get, wanted, repeat(())))
