"""What holds pods before any autoscaler sees them: a ResourceQuota that has no room for pods to come, Kueue, scheduling gates.

An autoscaler acts on pods that exist and that the scheduler has refused. Pods of a suspended workload, gated pods, and pods that the API
server would not create are none of these.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..findings import Finding, finding
from ..objects import KueueWorkload, Pod
from ..objects.kueue import QUEUE_LABEL
from ..queueing.admission import KUEUE, closed_queue, refusal, workload_of_pod
from ..view import ClusterView
from ..view.indices import not_created
from .obstacle import Obstacle
from .passing_over import Passed, concerning
from .provisioning_requests import of_workload, unmet
from .quotas import quotas
from .settings import Settings

DELAYED_TOPOLOGY = "PendingDelayedTopologyRequests"
"""Kueue, where checks come before places (pkg/workload/admissionchecks.go): quota and checks are there, places aren't."""


def held_before(view: ClusterView, pods: Sequence[Pod], settings: Settings | None) -> tuple[Obstacle, ...]:
    """What holds these pods, in the order in which they meet it. `settings` are those of the autoscaler that would serve
    ProvisioningRequests.

    A pod is charged to a ResourceQuota when it is made: first of all, but for pods of a workload that Kueue keeps suspended, which makes
    none before it is admitted.
    """
    charged = quotas(view, pods)
    queued = (
        *concerning(pods, lambda pod: _queued(view, pod)),
        *concerning(pods, lambda pod: _waiting_request(view, pod, settings)),
    )
    suspended = bool(charged) and any(_made_later(view, pod) for pod in pods)
    gated = concerning(pods, lambda pod: _gated(view, pod))
    return (*queued, *charged, *gated) if suspended else (*charged, *queued, *gated)


def _made_later(view: ClusterView, pod: Pod) -> bool:
    """Whether the pod is made only once its Workload is admitted: that stands for a workload, not for the pod itself."""
    workload = _waiting_workload(view, pod)
    return workload is not None and all(owner.kind != "Pod" for owner in workload.metadata.owners)


def _queued(view: ClusterView, pod: Pod) -> Passed | None:
    workload = _waiting_workload(view, pod)
    found = refusal(view, workload) if workload is not None else None
    if workload is None and any(gate.startswith(KUEUE) for gate in pod.scheduling_gates):
        found = closed_queue(view, pod.namespace, pod.metadata.labels.get(QUEUE_LABEL, ""), pod.ref)
    return None if found is None else Passed(found, "certain", _release(found))


def _waiting_workload(view: ClusterView, pod: Pod) -> KueueWorkload | None:
    """The pod's Workload, where it keeps the pod: a gate of Kueue on it, or a pod that doesn't exist yet."""
    gated = any(gate.startswith(KUEUE) for gate in pod.scheduling_gates)
    return workload_of_pod(view, pod) if gated or not_created(view, pod) else None


def _waiting_request(view: ClusterView, pod: Pod, settings: Settings | None) -> Passed | None:
    """The ProvisioningRequest that Kueue made for an admission check of the pod's workload."""
    workload = _waiting_workload(view, pod)
    if workload is None or workload.holds("Admitted") or workload.holds("Finished"):
        return None
    request = of_workload(view, workload)
    return None if request is None else unmet(request, settings)


def _release(found: Finding) -> str:
    match found.code:
        case "QUEUE_CHECK_PENDING":
            return f"admission check {found.text('check')} ready"
        case "QUEUE_STOPPED" | "QUEUE_MISSING":
            return f"{found.text('queue')}, open"
        case "QUEUE_DEACTIVATED":
            return "spec.active of its Workload"
        case "QUEUE_NOT_ADMITTED" if found.text("reason") == DELAYED_TOPOLOGY:
            return "room for its pods in the topology: Kueue has their quota, and looks for the room again"
        case _:
            return f"quota in {found.text('queue')}"


def _gated(view: ClusterView, pod: Pod) -> Passed | None:
    """Gates that aren't told already as Kueue's admission."""
    if not pod.scheduling_gates or _queued(view, pod) is not None:
        return None
    found = finding("SCHEDULING_GATED", pod.ref, "spec.schedulingGates", gates=pod.scheduling_gates)
    return Passed(found, "certain", f"{', '.join(pod.scheduling_gates)} removed by its controller")
