"""Events as changes: what components said that no field keeps. Only reasons that say that something was taken, given or broken."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..objects import Event, ObjectRef, Timestamp
from ..view import ClusterView
from ..view.past import Effect, FieldChange
from .fields import text
from .saying import BUCKET

REASONS: Mapping[str, Effect] = {
    # pkg/controller/nodelifecycle, pkg/kubelet/events, k8s.io/cloud-provider
    "NodeNotReady": Effect.LESS, "NodeNotSchedulable": Effect.LESS, "Rebooted": Effect.LESS, "RemovingNode": Effect.LESS,
    "DeletingNode": Effect.LESS, "NodeReady": Effect.MORE, "NodeSchedulable": Effect.MORE, "RegisteredNode": Effect.MORE,
    "NodeHasDiskPressure": Effect.LESS, "NodeHasInsufficientMemory": Effect.LESS, "NodeHasInsufficientPID": Effect.LESS,
    # pkg/scheduler, pkg/controller/tainteviction, devicetainteviction, kubelet eviction manager
    "Preempted": Effect.NOTE, "PreemptedByScheduler": Effect.NOTE, "TaintManagerEviction": Effect.NOTE,
    "DeviceTaintManagerEviction": Effect.NOTE, "Evicted": Effect.NOTE,
    # pkg/controller/daemon, pkg/kubelet
    "FailedDaemonPod": Effect.LESS, "FailedPrepareDynamicResources": Effect.OTHER, "BackOff": Effect.NOTE,
    # Cluster Autoscaler, Karpenter
    "TriggeredScaleUp": Effect.NOTE, "ScaleDown": Effect.LESS, "ScaledUpGroup": Effect.MORE, "FailedToScaleUpGroup": Effect.OTHER,
    "DisruptionTerminating": Effect.LESS, "Disrupted": Effect.LESS,
    # Kueue
    "EvictedDueToPreempted": Effect.LESS, "EvictedDueToPodsReadyTimeout": Effect.LESS, "Admitted": Effect.MORE,
}  # fmt: skip
"""reason -> what it could mean. FailedScheduling isn't here: it is the question, not a change."""


def _buckets(event: Event) -> Iterable[int]:
    return (int(event.last // BUCKET),) if event.last is not None and event.reason in REASONS else ()


def from_events(view: ClusterView, since: Timestamp, until: Timestamp, least: Effect = Effect.NOTE) -> tuple[FieldChange, ...]:
    """Events of the window. `field` is "event REASON", `new` the message; `at` the last time, also of one that came often."""
    index = view.index(Event, _buckets)
    first, last = int(since // BUCKET), int(until // BUCKET)
    return tuple(
        _change(event)
        for bucket in sorted(entry for entry in index if first <= entry <= last)
        for event in index[bucket]
        if event.last is not None and since <= event.last <= until and REASONS[event.reason] >= least
    )


def _change(event: Event) -> FieldChange:
    ref = event.regarding
    named = ObjectRef(text(ref.kind, 80), text(ref.namespace, 80), text(ref.name, 253), text(ref.uid, 64))
    # A node's events carry its name as uid.
    named = ObjectRef(named.kind, named.namespace, named.name, "") if named.uid == named.name else named
    times = f"{event.count} times: " if event.count > 1 else ""
    at = event.last if event.last is not None else 0.0
    return FieldChange(named, text(f"event {event.reason}"), None, times + text(event.message), REASONS[event.reason], at, "timestamps")
