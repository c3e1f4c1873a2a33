"""What keeps a Workload of Kueue from being admitted: deactivated, its queues, quota, an admission check.

A Workload is owned by what it was made for: the Job (which stays suspended) or the pod (which keeps a scheduling gate); pods of a group
name it by a label. Conditions QuotaReserved and Admitted, apis/kueue/v1beta1/workload_types.go of sigs.k8s.io/kueue.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..findings import Finding, finding
from ..objects import ClusterQueue, KueueWorkload, LocalQueue, ObjectRef, Pod
from ..objects.kueue import POD_GROUP_LABEL
from ..view import ClusterView
from ..view.indices import owners_of

KUEUE = "kueue.x-k8s.io/"


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


def workload_of_pod(view: ClusterView, pod: Pod) -> KueueWorkload | None:
    """The Workload that stands for a pod, whether it keeps the pod's gate or not."""
    return workload_of(view, (pod.ref, *owners_of(view, pod)), pod.metadata.labels.get(POD_GROUP_LABEL, ""))


def refusal(view: ClusterView, workload: KueueWorkload) -> Finding | None:
    """What keeps this Workload from being admitted; None where it has ended or is admitted."""
    if workload.holds("Finished") or workload.holds("Admitted"):
        return None
    if not workload.active:
        return finding("QUEUE_DEACTIVATED", workload.ref, "spec.active", workload=workload.name)
    stopped = closed_queue(view, workload.namespace, workload.queue, workload.ref)
    if stopped is not None:
        return stopped
    if workload.holds("QuotaReserved"):
        waiting = next((check for check in workload.checks if check.state != "Ready"), None)
        if waiting is not None:
            return finding(
                "QUEUE_CHECK_PENDING",
                workload.ref,
                "status.admissionChecks",
                check=waiting.name,
                state=waiting.state,
                message=waiting.message,
            )
    condition = workload.condition("Admitted" if workload.holds("QuotaReserved") else "QuotaReserved")
    reason, message = (condition.reason, condition.message) if condition is not None else ("", "")
    field = f"status.conditions[{condition.type}]" if condition is not None else "status.conditions"
    return finding("QUEUE_NOT_ADMITTED", workload.ref, field, queue=_cluster_queue(view, workload), reason=reason, message=message)


def _cluster_queue(view: ClusterView, workload: KueueWorkload) -> str:
    local = view.get(LocalQueue, workload.queue, workload.namespace)
    name = workload.cluster_queue or (local.cluster_queue if local is not None else "")
    return f"ClusterQueue {name}" if name else f"LocalQueue {workload.queue}" if workload.queue else "a queue that it doesn't name"


def closed_queue(view: ClusterView, space: str, queue: str, about: ObjectRef) -> Finding | None:
    """That one of the queues on the way isn't there or takes nothing; None where it does, or can't be seen."""
    if not view.count(LocalQueue) or not queue:
        return None
    local = view.get(LocalQueue, queue, space)
    if local is None:
        names = tuple(entry.name for entry in view.all(LocalQueue) if entry.namespace == space)[:3]
        return finding("QUEUE_MISSING", about, "spec.queueName", queue=f"LocalQueue {space}/{queue}", nearest=names)
    if local.stop_policy != "None":
        return finding("QUEUE_STOPPED", local.ref, "spec.stopPolicy", queue=f"LocalQueue {queue}", why=f"stopPolicy {local.stop_policy}")
    if not view.count(ClusterQueue):
        return None
    cluster = view.get(ClusterQueue, local.cluster_queue)
    if cluster is None:
        return finding("QUEUE_MISSING", local.ref, "spec.clusterQueue", queue=f"ClusterQueue {local.cluster_queue}", nearest=())
    if cluster.stop_policy != "None":
        why = f"stopPolicy {cluster.stop_policy}"
        return finding("QUEUE_STOPPED", cluster.ref, "spec.stopPolicy", queue=f"ClusterQueue {cluster.name}", why=why)
    inactive = next((entry for entry in cluster.conditions if entry.type == "Active" and not entry.holds), None)
    if inactive is None:
        return None
    why = inactive.message or inactive.reason
    return finding("QUEUE_STOPPED", cluster.ref, "status.conditions[Active]", queue=f"ClusterQueue {cluster.name}", why=why)
