"""What autoscalers have said in events, told apart by sender.

Cluster Autoscaler: TriggeredScaleUp and NotTriggerScaleUp of component cluster-autoscaler (processors/status eventing_scale_up status
processor). Karpenter: Nominated and FailedScheduling of component karpenter (pkg/controllers/provisioning/scheduling/events.go), the latter
under the scheduler's own reason. So each is told by its sender, as anybody may give an event any reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from ..objects import Event, ObjectRef
from ..view import ClusterView
from ..view.indices import events_of

Sender = Literal["cluster-autoscaler", "karpenter"]
"""the component that an autoscaler's events name (CreateEventRecorder in cluster-autoscaler/utils/kubernetes/client.go;
GetEventRecorderFor in karpenter pkg/operator/operator.go)"""

ON_PODS: Mapping[Sender, frozenset[str]] = {
    "cluster-autoscaler": frozenset({"TriggeredScaleUp", "NotTriggerScaleUp"}),
    "karpenter": frozenset({"Nominated", "FailedScheduling"}),
}
"""Reasons of events on pods."""


def newest_on_pod(view: ClusterView, pod: ObjectRef) -> Mapping[Sender, Event]:
    """The newest word of each autoscaler on a pod, newest first."""
    found: dict[Sender, Event] = {}
    for event in events_of(view, pod):
        sender = _sender(event)
        if sender is not None:
            found.setdefault(sender, event)
    return found


def _sender(event: Event) -> Sender | None:
    return next((sender for sender, reasons in ON_PODS.items() if event.reason in reasons and event.component == sender), None)


def _said(event: Event) -> Iterable[tuple[str, str]]:
    return ((event.component, event.reason),)


def with_reason(view: ClusterView, sender: Sender, reason: str) -> tuple[Event, ...]:
    """All events of that autoscaler and reason, newest first."""
    return tuple(sorted(view.index(Event, _said).get((sender, reason), ()), key=lambda event: -(event.last or 0.0)))
