"""Kueue: whether the pod's workload has been admitted, and what its queue says.

A Workload of Kueue is owned by what it was made for: the Job (which stays suspended) or the pod (which keeps a scheduling gate); pods of a
group name it by a label. Conditions QuotaReserved and Admitted, apis/kueue/v1beta1/workload_types.go of sigs.k8s.io/kueue.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...findings import finding
from ...objects import ClusterQueue, KueueWorkload, LocalQueue, ObjectRef, Owner, Pod
from ...objects.kueue import POD_GROUP_LABEL, QUEUE_LABEL
from ...view import ClusterView
from ...view.indices import owners_of
from ..evidence import Absent, Evidence, Held, stated

KUEUE = "kueue.x-k8s.io/"
SHOWN = ("Evicted", "Preempted", "Requeued")


def look(view: ClusterView, pod: Pod) -> Held | None:
    """What keeps the pod's Workload from being admitted; None where it has none, is admitted, or the pod isn't gated."""
    if not any(gate.startswith(KUEUE) for gate in pod.scheduling_gates):
        return None
    workload = workload_of(view, (pod.ref, *owners_of(view, pod)), pod.metadata.labels.get(POD_GROUP_LABEL, ""))
    queue = pod.metadata.labels.get(QUEUE_LABEL, "")
    return _missing(view, pod.namespace, queue, pod.ref) if workload is None else judge(view, workload)


def look_owner(view: ClusterView, owner: Owner) -> Held | None:
    """The same for a workload that Kueue keeps suspended."""
    workload = workload_of(view, (owner.ref, *owners_of(view, owner)))
    queue = owner.metadata.labels.get(QUEUE_LABEL, "")
    return (_missing(view, owner.namespace, queue, owner.ref) if queue else None) if workload is None else judge(view, workload)


def _owned(workload: KueueWorkload) -> Iterable[tuple[str, str, str]]:
    return [(owner.kind, workload.namespace, owner.name) for owner in workload.metadata.owners]


def workload_of(view: ClusterView, owners: Iterable[ObjectRef], name: str = "") -> KueueWorkload | None:
    """The newest Workload made for one of these, or the one of that name."""
    for owner in owners:
        found = view.index(KueueWorkload, _owned).get((owner.kind, owner.namespace, owner.name), ())
        if found:
            return max(found, key=lambda entry: entry.metadata.created or 0.0)
        if name and (named := view.get(KueueWorkload, name, owner.namespace)) is not None:
            return named
    return None


def judge(view: ClusterView, workload: KueueWorkload) -> Held | None:
    """What keeps this Workload from being admitted."""
    if workload.holds("Finished") or workload.holds("Admitted"):
        return None
    seen: list[Evidence] = [
        stated(view, workload.ref, condition) for kind in SHOWN if (condition := workload.condition(kind)) is not None and condition.holds
    ]
    if not workload.active:
        return Held(finding("QUEUE_DEACTIVATED", workload.ref, "spec.active", workload=workload.name), tuple(seen))
    stopped = _stopped(view, workload.namespace, workload.queue, workload.ref)
    if stopped is not None:
        return Held(stopped.finding, (*stopped.evidence, *seen))
    queue = _cluster_queue(view, workload)
    if workload.holds("QuotaReserved"):
        waiting = next((check for check in workload.checks if check.state != "Ready"), None)
        if waiting is not None:
            found = finding(
                "QUEUE_CHECK_PENDING",
                workload.ref,
                "status.admissionChecks",
                check=waiting.name,
                state=waiting.state,
                message=waiting.message,
            )
            return Held(found, tuple(seen))
    condition = workload.condition("Admitted" if workload.holds("QuotaReserved") else "QuotaReserved")
    reason, message = (condition.reason, condition.message) if condition is not None else ("", "")
    field = f"status.conditions[{condition.type}]" if condition is not None else "status.conditions"
    found = finding("QUEUE_NOT_ADMITTED", workload.ref, field, queue=queue, reason=reason, message=message)
    if condition is None:
        seen.append(Absent(f"Kueue has said nothing of Workload {workload.name} yet"))
    return Held(found, tuple(seen))


def _cluster_queue(view: ClusterView, workload: KueueWorkload) -> str:
    local = view.get(LocalQueue, workload.queue, workload.namespace)
    name = workload.cluster_queue or (local.cluster_queue if local is not None else "")
    return f"ClusterQueue {name}" if name else f"LocalQueue {workload.queue}" if workload.queue else "a queue that it doesn't name"


def _stopped(view: ClusterView, space: str, queue: str, about: ObjectRef) -> Held | None:
    """That one of the queues on the way isn't there or takes nothing; None where it does, or can't be seen."""
    if not view.count(LocalQueue) or not queue:
        return None
    local = view.get(LocalQueue, queue, space)
    if local is None:
        names = tuple(entry.name for entry in view.all(LocalQueue) if entry.namespace == space)[:3]
        return Held(finding("QUEUE_MISSING", about, "spec.queueName", queue=f"LocalQueue {space}/{queue}", nearest=names))
    if local.stop_policy != "None":
        return Held(
            finding("QUEUE_STOPPED", local.ref, "spec.stopPolicy", queue=f"LocalQueue {queue}", why=f"stopPolicy {local.stop_policy}")
        )
    if not view.count(ClusterQueue):
        return None
    cluster = view.get(ClusterQueue, local.cluster_queue)
    if cluster is None:
        return Held(finding("QUEUE_MISSING", local.ref, "spec.clusterQueue", queue=f"ClusterQueue {local.cluster_queue}", nearest=()))
    if cluster.stop_policy != "None":
        why = f"stopPolicy {cluster.stop_policy}"
        return Held(finding("QUEUE_STOPPED", cluster.ref, "spec.stopPolicy", queue=f"ClusterQueue {cluster.name}", why=why))
    inactive = next((entry for entry in cluster.conditions if entry.type == "Active" and not entry.holds), None)
    if inactive is None:
        return None
    why = inactive.message or inactive.reason
    found = finding("QUEUE_STOPPED", cluster.ref, "status.conditions[Active]", queue=f"ClusterQueue {cluster.name}", why=why)
    return Held(found)


def _missing(view: ClusterView, space: str, queue: str, about: ObjectRef) -> Held | None:
    """No Workload was made: for a queue that isn't there, Kueue makes one all the same, so only what is sure is said."""
    return _stopped(view, space, queue, about)
