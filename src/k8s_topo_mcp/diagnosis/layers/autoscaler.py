"""What an autoscaler has said of the pod, as a fact: whether it would help is simulated elsewhere.

Cluster Autoscaler: events TriggeredScaleUp and NotTriggerScaleUp of component cluster-autoscaler (processors/status eventing_scale_up
status processor). Karpenter: Nominated and FailedScheduling of component karpenter (pkg/controllers/provisioning/scheduling/events.go),
the latter under the scheduler's own reason, so it is told apart by its sender.
"""

from __future__ import annotations

from ...objects import Pod
from ...view import ClusterView
from ...view.indices import events_of
from ..evidence import Evidence, said

CLUSTER_AUTOSCALER = frozenset({"TriggeredScaleUp", "NotTriggerScaleUp"})
KARPENTER = frozenset({"Nominated", "FailedScheduling"})


def look(view: ClusterView, pod: Pod) -> tuple[Evidence, ...]:
    """The newest word of each autoscaler."""
    found: dict[str, Evidence] = {}
    for event in events_of(view, pod.ref):
        karpenter = event.component.startswith("karpenter") and event.reason in KARPENTER
        if karpenter or event.reason in CLUSTER_AUTOSCALER:
            found.setdefault("karpenter" if karpenter else "cluster-autoscaler", said(view, event))
    return tuple(found.values())
