"""A pod for which others were preempted: it waits until they have ended.

The scheduler writes the node into status.nominatedNodeName, deletes the victims, and tries the pod again when they are gone; meanwhile it
preempts nobody else for it (k8s.io/kubernetes pkg/scheduler/framework/plugins/defaultpreemption PodEligibleToPreemptOthers: a pod of lower
priority on the nominated node that is being deleted). A deletionTimestamp is the end of the pod's grace period.
"""

from __future__ import annotations

from ...findings import finding
from ...objects import Node, Pod
from ...scheduling.default_preemption import evicted
from ...scheduling.placement import place
from ...view import ClusterView, Delete
from ...view.indices import pods_on
from ..ends import how_to_end, is_overdue
from ..evidence import Advice, Held


def look(view: ClusterView, pod: Pod) -> Held | None:
    """The victims that are still ending, if the pod fits on its node once they are gone, and not before."""
    node = view.get(Node, pod.nominated_node_name) if pod.nominated_node_name and not pod.node_name else None
    if node is None:
        return None
    ending = tuple(own for own in pods_on(view, node.name) if own.priority < pod.priority and evicted(own))
    if not ending or _fits(view, pod, node) or not _fits(view.with_edits(*(Delete(own) for own in ending)), pod, node):
        return None
    left = max(own.metadata.deleted or 0.0 for own in ending) - view.now
    names = tuple(own.full_name for own in ending)
    found = finding(
        "VICTIMS_ENDING", pod.ref, "status.nominatedNodeName", node=node.name, victims=names, left=f"{left:.0f}" if view.now else ""
    )
    overdue = [own for own in ending if is_overdue(view, own)]
    helps = tuple(Advice(f"{how_to_end(view, own)}{_finalizers(own)}") for own in overdue[:1])
    return Held(found, (), helps, look_at=(f"kubectl -n {ending[0].namespace} describe pod {ending[0].name}",))


def _finalizers(pod: Pod) -> str:
    return f" (finalizers: {', '.join(pod.metadata.finalizers[:2])})" if pod.metadata.finalizers else ""


def _fits(view: ClusterView, pod: Pod, node: Node) -> bool:
    return bool(place(view, pod, (node,)).fitting)
