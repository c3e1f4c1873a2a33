"""Does anybody schedule this pod? Its scheduler's Lease, and signs of life of another scheduler.

kube-scheduler holds Lease kube-system/kube-scheduler while it leads (leader election, k8s.io/client-go tools/leaderelection: 15 s, renewed
every 2 s); one that runs without election has none. A Lease is judged against the youngest renewal of any Lease of the same list, as a
large snapshot may be older than its own clock. Another scheduler is seen by its Lease, its events, or pods that it has bound.
"""

from __future__ import annotations

from ...findings import finding
from ...objects import DEFAULT_SCHEDULER, Event, Lease, Pod
from ...view import ClusterView
from ...view.indices import lease
from ..evidence import Held, age_of

SLACK = 60.0
"""Seconds that a renewal may lie back beyond the Lease's own duration: lists take time, clocks differ."""


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


def is_live(view: ClusterView, held: Lease) -> bool:
    """Whether somebody held the Lease when it was read."""
    if not held.holder or held.renewed is None:
        return False
    return _read_at(view) <= held.renewed + (held.duration_seconds or 15) + SLACK


def _newest(leases: tuple[Lease, ...]) -> float:
    return max((entry.renewed for entry in leases if entry.renewed is not None), default=0.0)


def _read_at(view: ClusterView) -> float:
    """When Leases were read: the youngest renewal; the view's own moment where there is but one Lease."""
    return view.shared(Lease, _newest) if view.count(Lease) > 1 else view.now


def _components(events: tuple[Event, ...]) -> frozenset[str]:
    return frozenset(event.component for event in events)


def _schedulers(pods: tuple[Pod, ...]) -> frozenset[str]:
    return frozenset(pod.scheduler_name for pod in pods if pod.node_name)


def _seen(view: ClusterView, name: str) -> bool:
    leases = any(name in entry.name or name in entry.holder for entry in view.all(Lease))
    return leases or name in view.shared(Event, _components) or name in view.shared(Pod, _schedulers)
