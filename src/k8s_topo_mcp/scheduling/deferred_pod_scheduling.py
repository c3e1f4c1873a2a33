"""A bound pod whose in-place resize the kubelet has deferred: the scheduler tries it again on its own node, to make room by preemption.

Source: deferred_pod_scheduling.go in pkg/scheduler/framework/plugins/deferredpodscheduling of 1.37, gate
InPlacePodVerticalScalingSchedulerPreemption (alpha); IsPodResizeDeferred in component-helpers/resource. A pod that isn't bound has no
resize to defer, so the plugin is silent on every pod that waits for a node.
"""

from __future__ import annotations

from ..objects import Condition, Node, Pod
from ..view import ClusterView

GATE = "InPlacePodVerticalScalingSchedulerPreemption"
REASON = "node had resize preemption disabled"


def resize_pending(pod: Pod) -> Condition | None:
    """The kubelet's word on a resize that it hasn't begun: reason Deferred (not now) or Infeasible (never on this node)."""
    return pod.condition("PodResizePending")


def is_deferred(pod: Pod) -> bool:
    """Whether the plugin concerns the pod."""
    pending = resize_pending(pod)
    return pending is not None and pending.reason == "Deferred"


def retried(view: ClusterView, pod: Pod) -> bool:
    """Whether the scheduler looks for room for the resize at all; else only the kubelet does."""
    return is_deferred(pod) and view.release.enabled(GATE)


def refused_by(node: Node) -> tuple[str, ...]:
    """Who turned resize preemption off on the pod's node; the node is then unresolvable, with the reason above."""
    return node.resize_preemption_disabled
