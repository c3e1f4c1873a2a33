"""Scheduling gates: what somebody has to remove before the scheduler looks at the pod (spec.schedulingGates, KEP-3521).

A gated pod has condition PodScheduled=False with reason SchedulingGated, written by the API server, and no event. Who removes a gate can't
be read from the API; for a few known names it is said.
"""

from __future__ import annotations

from ...findings import finding
from ...objects import Pod
from ...queueing.admission import KUEUE, workload_of_pod
from ...view import ClusterView
from ..evidence import Absent, Evidence, Held, Remover, stated

REMOVERS = {
    "kueue.x-k8s.io/admission": "Kueue, when it admits the pod's Workload",
    "kueue.x-k8s.io/topology": "Kueue, when it has assigned the pod to a topology domain",
    "grove.io/podgang-pending-creation": "Grove's operator, when the PodGang is complete",
}
"""Who removes a gate, by its name (constants of sigs.k8s.io/kueue and of Grove)."""


def look(view: ClusterView, pod: Pod) -> Held | None:
    """The pod's gates, and who removes those that are known."""
    if not pod.scheduling_gates or pod.node_name:
        return None
    found = finding("SCHEDULING_GATED", pod.ref, "spec.schedulingGates", gates=pod.scheduling_gates)
    known: list[Evidence] = [Remover(gate, REMOVERS[gate]) for gate in pod.scheduling_gates if gate in REMOVERS]
    if any(gate.startswith(KUEUE) for gate in pod.scheduling_gates):
        known.append(_workload(view, pod))
    return Held(found, tuple(known))


def _workload(view: ClusterView, pod: Pod) -> Evidence:
    """What Kueue's Workload says, where it isn't what holds the pod."""
    workload = workload_of_pod(view, pod)
    admitted = workload.condition("Admitted") if workload is not None else None
    if workload is None:
        return Absent("no Workload of Kueue is made for this pod here: is Kueue running, and does it manage this namespace?")
    return Absent("Kueue says nothing of an admission") if admitted is None else stated(view, workload.ref, admitted)
