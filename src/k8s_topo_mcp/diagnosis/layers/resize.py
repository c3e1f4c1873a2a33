"""A pod that runs, and whose in-place resize waits: the kubelet hasn't the room now (Deferred) or never will have (Infeasible).

KEP-1287. The devices of a running pod can't be resized, so this never concerns its claims.
"""

from __future__ import annotations

from ...findings import finding
from ...objects import Node, Pod
from ...scheduling.deferred_pod_scheduling import REASON, refused_by, resize_pending, retried
from ...view import ClusterView
from ..evidence import Advice, Held, stated


def look(view: ClusterView, pod: Pod) -> Held | None:
    """The resize that waits; None where none does."""
    pending = resize_pending(pod)
    if pending is None or pod.is_terminal:
        return None
    code = "RESIZE_DEFERRED" if pending.reason == "Deferred" else "RESIZE_INFEASIBLE"
    found = finding(
        code, pod.ref, "status.conditions[PodResizePending]", node=pod.node_name, reason=pending.reason, message=pending.message,
        by=_by(view, pod),
    )  # fmt: skip
    if code == "RESIZE_INFEASIBLE":
        helps = (Advice("ask for less, or make a new pod with the new size, which may go to another node"),)
        return Held(
            found, (stated(view, pod.ref, pending),), helps, (Advice("waiting: the kubelet doesn't try an infeasible resize again"),)
        )
    helps = (Advice(f"end or shrink pods on {pod.node_name}: the kubelet then resizes by itself"),)
    return Held(found, (stated(view, pod.ref, pending),), helps)


def _by(view: ClusterView, pod: Pod) -> str:
    """Who makes room."""
    if not retried(view, pod):
        return "kubelet"
    node = view.get(Node, pod.node_name)
    disabled = () if node is None else refused_by(node)
    return f"nobody: {REASON} ({', '.join(disabled)})" if disabled else "scheduler, by preemption on that node"
