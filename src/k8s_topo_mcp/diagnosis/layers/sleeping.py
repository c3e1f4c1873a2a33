"""A pod that fits now and still waits: when it was last tried, when it is tried again, and what has changed since.

A pod that failed waits out its backoff (1 s, doubled with each attempt, at most 10 s; from 1.37 on a group's maximum is multiplied by the
square root of its size), then sleeps until an event that may concern it, or for five minutes, which are checked every 30 s. Source:
k8s.io/kubernetes pkg/scheduler/backend/queue scheduling_queue.go (DefaultPodMaxInUnschedulablePodsDuration,
flushUnschedulableEntitiesLeftover), backoff_queue.go (calculateBackoffDuration). Only an event tells the last attempt: the time of the
PodScheduled condition is that of the first one that failed.
"""

from __future__ import annotations

from math import sqrt

from ...objects import DEFAULT_SCHEDULER, Node, Pod, ResourceSlice
from ...view import ClusterView
from ...view.indices import claims_of, lease
from ...view.leases import is_live
from ..evidence import Attempt, Changed, Evidence, Queued, age_of, last_refusal

BACKOFF = 10.0
FLUSH = 300.0
CHECKED_EVERY = 30.0
"""Seconds: defaults of podMaxBackoffSeconds, of the longest sleep, and how often that is looked at."""

SHOWN = 2


def look(view: ClusterView, pod: Pod, group: int = 1) -> tuple[Evidence, ...]:
    """What can be known of its place in the queue; `group` is how many pods are queued with it."""
    tried = _last(view, pod)
    moment = None if tried.age is None else view.now - tried.age
    return (tried, *_next(view, pod, tried, group), *_claims(view, pod), *_changed(view, moment))


def _last(view: ClusterView, pod: Pod) -> Attempt:
    failed = last_refusal(view, pod)
    if failed is not None:
        return Attempt("event", age_of(view, failed.last), failed.count)
    condition = pod.condition("PodScheduled")
    if condition is not None and not condition.holds:
        return Attempt("condition", None, 1, age_of(view, condition.changed))
    return Attempt("nothing", None, 0, age_of(view, pod.metadata.created))


def _next(view: ClusterView, pod: Pod, tried: Attempt, group: int) -> tuple[Evidence, ...]:
    if tried.age is None or pod.scheduler_name != DEFAULT_SCHEDULER:
        return ()
    backoff = BACKOFF * (sqrt(group) if view.release.minor >= 37 else 1)
    if tried.age <= backoff:
        return (Queued("backoff", backoff - tried.age),)
    latest = FLUSH + CHECKED_EVERY + backoff
    if tried.age <= latest:
        return (Queued("asleep", latest - tried.age),)
    held = lease(view, "kube-scheduler")
    return (Queued("overdue", tried.age - latest, "" if held is None else "live" if is_live(view, held) else "expired"),)


def _claims(view: ClusterView, pod: Pod) -> tuple[Evidence, ...]:
    """Claims of its own that are allocated already: its binding is under way, or an earlier attempt left them."""
    found: list[Evidence] = []
    for entry in claims_of(view, pod):
        claim = entry.claim
        if claim is not None and claim.allocation is not None:
            mine = any(own.uid == pod.metadata.uid and own.name == pod.name for own in claim.reserved_for)
            what = "allocated and reserved for this pod" if mine else "allocated"
            found.append(Changed(claim.ref, what, age_of(view, claim.allocation.allocated_at)))
    return tuple(found[:SHOWN])


def _changed(view: ClusterView, moment: float | None) -> tuple[Evidence, ...]:
    """What was added after the last attempt and may be why the pod fits now, newest first."""
    if moment is None:
        return ()
    made = [entry for kind in (Node, ResourceSlice) for entry in view.all(kind) if (entry.metadata.created or 0.0) > moment]
    newest = sorted(made, key=lambda entry: (-(entry.metadata.created or 0.0), entry.name))
    return tuple(Changed(entry.ref, "created since", age_of(view, entry.metadata.created)) for entry in newest[:SHOWN])
