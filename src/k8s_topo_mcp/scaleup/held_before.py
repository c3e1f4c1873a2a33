"""What holds pods before any autoscaler sees them: a ResourceQuota that has no room for pods to come, Kueue, scheduling gates.

An autoscaler acts on pods that exist and that the scheduler has refused. Pods of a suspended workload, gated pods, and pods that the API
server would not create are none of these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..findings import Finding, finding
from ..objects import KueueWorkload, Pod, Quantity, ResourceQuota
from ..objects.kueue import QUEUE_LABEL
from ..queueing.admission import KUEUE, closed_queue, refusal, workload_of_pod
from ..view import ClusterView
from .demand import device_demand
from .obstacle import Obstacle
from .passing_over import Passed, concerning
from .provisioning_requests import of_workload, unmet
from .settings import Settings


def held_before(view: ClusterView, pods: Sequence[Pod], settings: Settings | None) -> tuple[Obstacle, ...]:
    """What holds these pods, quota first. `settings` are those of the autoscaler that would serve ProvisioningRequests."""
    return (
        *_quotas(view, pods),
        *concerning(pods, lambda pod: _queued(view, pod)),
        *concerning(pods, lambda pod: _waiting_request(view, pod, settings)),
        *concerning(pods, lambda pod: _gated(view, pod)),
    )


def _queued(view: ClusterView, pod: Pod) -> Passed | None:
    workload = _waiting_workload(view, pod)
    found = refusal(view, workload) if workload is not None else None
    if workload is None and any(gate.startswith(KUEUE) for gate in pod.scheduling_gates):
        found = closed_queue(view, pod.namespace, pod.metadata.labels.get(QUEUE_LABEL, ""), pod.ref)
    return None if found is None else Passed(found, "certain", _release(found))


def _waiting_workload(view: ClusterView, pod: Pod) -> KueueWorkload | None:
    """The pod's Workload, where it keeps the pod: a gate of Kueue on it, or a pod that doesn't exist yet."""
    gated = any(gate.startswith(KUEUE) for gate in pod.scheduling_gates)
    return workload_of_pod(view, pod) if gated or view.current(pod) is not pod else None


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
        case _:
            return f"quota in {found.text('queue')}"


def _gated(view: ClusterView, pod: Pod) -> Passed | None:
    """Gates that aren't told already as Kueue's admission."""
    if not pod.scheduling_gates or _queued(view, pod) is not None:
        return None
    found = finding("SCHEDULING_GATED", pod.ref, "spec.schedulingGates", gates=pod.scheduling_gates)
    return Passed(found, "certain", f"{', '.join(pod.scheduling_gates)} removed by its controller")


# --- quota ------------------------------------------------------------------------------------------------------------------------


def _quotas(view: ClusterView, pods: Sequence[Pod]) -> tuple[Obstacle, ...]:
    """Quotas without room for the pods that aren't there yet. Quotas with scopes are left to the API server: whether they count such a
    pod isn't judged here."""
    coming = [pod for pod in pods if view.current(pod) is None]
    found: list[Obstacle] = []
    for namespace in dict.fromkeys(pod.namespace for pod in coming):
        own = [pod for pod in coming if pod.namespace == namespace]
        asked = _asked(view, own)
        for quota in view.all(ResourceQuota):
            if quota.namespace != namespace or quota.scopes:
                continue
            short = tuple(name for name, amount in asked.items() if _short(quota, name, amount))
            if short:
                why = finding("QUOTA_EXCEEDED", quota.ref, "spec.hard", what="pod", quota=quota.name, resources=short, room_now="")
                found.append(Obstacle(why, "certain", f"more {', '.join(short)} in ResourceQuota {quota.name}", len(own), len(pods)))
    return tuple(found)


def _asked(view: ClusterView, pods: Sequence[Pod]) -> dict[str, Quantity]:
    """What the pods would be charged together, by the names that quotas use (pkg/quota/v1/evaluator/core, resource claims by class)."""
    total: dict[str, Quantity] = {}

    def add(name: str, amount: Quantity) -> None:
        total[name] = total[name] + amount if name in total else amount

    claims: Counter[str] = Counter()
    for pod in pods:
        add("pods", Quantity.parse("1"))
        add("count/pods", Quantity.parse("1"))
        for name, amount in pod.requests().items():
            add(f"requests.{name}", amount)
            if name in ("cpu", "memory"):
                add(name, amount)
        for name, count in device_demand(view, pod).classes:
            claims[name] += count
    for name, count in claims.items():
        add(f"{name}.deviceclass.resource.k8s.io/devices", Quantity.parse(str(count)))
    return total


def _short(quota: ResourceQuota, name: str, amount: Quantity) -> bool:
    hard = quota.hard.get(name)
    if hard is None or not amount.value:
        return False
    used = quota.used.get(name)
    return (amount if used is None else used + amount) > hard
