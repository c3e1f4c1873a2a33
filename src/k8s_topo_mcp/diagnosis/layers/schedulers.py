"""Does anybody schedule this pod? Its scheduler's Lease, and signs of life of another scheduler.

kube-scheduler holds Lease kube-system/kube-scheduler while it leads (leader election, k8s.io/client-go tools/leaderelection: 15 s, renewed
every 2 s); one that runs without election has none. Another scheduler is seen by its Lease, its events, or pods that it has bound.
"""

from __future__ import annotations

from ...findings import finding
from ...objects import DEFAULT_SCHEDULER, Event, Lease, Pod
from ...view import ClusterView
from ...view.indices import lease
from ...view.leases import is_live
from ..evidence import Held, age_of


def look(view: ClusterView, pod: Pod) -> Held | None:
    """That nobody schedules the pod, as far as it can be seen."""
    if pod.node_name:
        return None
    if pod.scheduler_name == DEFAULT_SCHEDULER:
        held = lease(view, "kube-scheduler")
        if held is None or is_live(view, held):
            return None
        since = age_of(view, held.renewed)
        return Held(finding("SCHEDULER_DOWN", held.ref, "spec.renewTime", holder=held.holder, age="" if since is None else f"{since:.0f}"))
    if not view.count(Lease) or not view.can_read("Lease") or _seen(view, pod.scheduler_name):
        return None
    return Held(finding("SCHEDULER_UNKNOWN", pod.ref, "spec.schedulerName", scheduler=pod.scheduler_name))


def _components(events: tuple[Event, ...]) -> frozenset[str]:
    return frozenset(event.component for event in events)


def _schedulers(pods: tuple[Pod, ...]) -> frozenset[str]:
    return frozenset(pod.scheduler_name for pod in pods if pod.node_name)


def _seen(view: ClusterView, name: str) -> bool:
    leases = any(name in entry.name or name in entry.holder for entry in view.all(Lease))
    return leases or name in view.shared(Event, _components) or name in view.shared(Pod, _schedulers)
