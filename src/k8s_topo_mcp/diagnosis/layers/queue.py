"""Kueue: whether the pod's workload has been admitted, and what was seen beside that."""

from __future__ import annotations

from ...objects import KueueWorkload, ObjectRef, Owner, Pod
from ...objects.kueue import QUEUE_LABEL
from ...queueing.admission import KUEUE, closed_queue, refusal, workload_of, workload_of_pod
from ...view import ClusterView
from ...view.indices import owners_of
from ..evidence import Absent, Evidence, Held, stated

SHOWN = ("Evicted", "Preempted", "Requeued")


def look(view: ClusterView, pod: Pod) -> Held | None:
    """What keeps the pod's Workload from being admitted; None where it has none, is admitted, or the pod isn't gated."""
    if not any(gate.startswith(KUEUE) for gate in pod.scheduling_gates):
        return None
    workload = workload_of_pod(view, pod)
    queue = pod.metadata.labels.get(QUEUE_LABEL, "")
    return _missing(view, pod.namespace, queue, pod.ref) if workload is None else judge(view, workload)


def look_owner(view: ClusterView, owner: Owner) -> Held | None:
    """The same for a workload that Kueue keeps suspended."""
    workload = workload_of(view, (owner.ref, *owners_of(view, owner)))
    queue = owner.metadata.labels.get(QUEUE_LABEL, "")
    return (_missing(view, owner.namespace, queue, owner.ref) if queue else None) if workload is None else judge(view, workload)


def judge(view: ClusterView, workload: KueueWorkload) -> Held | None:
    """What keeps this Workload from being admitted."""
    found = refusal(view, workload)
    if found is None:
        return None
    seen: list[Evidence] = [
        stated(view, workload.ref, condition) for kind in SHOWN if (condition := workload.condition(kind)) is not None and condition.holds
    ]
    if found.code == "QUEUE_NOT_ADMITTED" and found.field == "status.conditions":
        seen.append(Absent(f"Kueue has said nothing of Workload {workload.name} yet"))
    return Held(found, tuple(seen))


def _missing(view: ClusterView, space: str, queue: str, about: ObjectRef) -> Held | None:
    """No Workload was made: for a queue that isn't there, Kueue makes one all the same, so only what is sure is said."""
    found = closed_queue(view, space, queue, about)
    return None if found is None else Held(found, ())
