"""A pod that fits now and still waits: when it was last tried, when it is tried again, and what has changed since.

A pod that was refused sleeps until an event that may concern it, or for five minutes, which are checked every 30 s; after an event it still
waits out its backoff (1 s, doubled with each attempt, at most 10 s; from 1.37 on a group's maximum is multiplied by the square root of its
size). One whose attempt ended in an error comes up again after its backoff by itself. Source: k8s.io/kubernetes
pkg/scheduler/backend/queue scheduling_queue.go (DefaultPodMaxInUnschedulablePodsDuration, flushUnschedulableEntitiesLeftover,
determineSchedulingHintForInFlightPod), backoff_queue.go (calculateBackoffDuration). Only an event tells the last attempt: the time of the
PodScheduled condition is that of the first one that failed.

What is in flight the scheduler counts beside what is allocated, and a share whose claim is written while its pod isn't bound yet is both
(pkg/scheduler/framework/plugins/dynamicresources dra_manager.go GatherAllocatedState: a set of devices, but a sum of capacities). A pod
that is tried in that moment may be refused although there is room; that the share counts once again is no event
(isSchedulableAfterClaimChange wakes for a deallocation). Seen with 1.37.2, where seven pods came at once for seven shares of one device.
"""

from __future__ import annotations

from math import sqrt

from ...objects import DEFAULT_SCHEDULER, Node, Pod, ResourceSlice
from ...view import ClusterView
from ...view.indices import allocated_claims, claims_of, lease
from ...view.leases import is_live
from ..classes import drivers_asked
from ..evidence import Attempt, Changed, CountedTwice, Evidence, Queued, age_of, last_refusal

BACKOFF = 10.0
FLUSH = 300.0
CHECKED_EVERY = 30.0
"""Seconds: defaults of podMaxBackoffSeconds, of the longest sleep, and how often that is looked at."""

SAME_MOMENT = 2.0
"""Seconds between an allocation and a refusal that may have met: an allocation's time is in whole seconds."""

SHOWN = 2


def look(view: ClusterView, pod: Pod, group: int = 1) -> tuple[Evidence, ...]:
    """What can be known of its place in the queue; `group` is how many pods are queued with it."""
    tried = _last(view, pod)
    moment = None if tried.age is None else view.now - tried.age
    return (tried, *_next(view, pod, tried, group), *_shares(view, pod, moment), *_claims(view, pod), *_changed(view, moment))


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
    condition = pod.condition("PodScheduled")
    if tried.age <= backoff and condition is not None and condition.reason == "SchedulerError":
        return (Queued("backoff", backoff - tried.age),)
    latest = FLUSH + CHECKED_EVERY + backoff
    if tried.age <= latest:
        return (Queued("asleep", latest - tried.age, earliest=max(0.0, backoff - tried.age)),)
    held = lease(view, "kube-scheduler")
    return (Queued("overdue", tried.age - latest, "" if held is None else "live" if is_live(view, held) else "expired"),)


def _shares(view: ClusterView, pod: Pod, moment: float | None) -> tuple[Evidence, ...]:
    """Shares that others were given when it was refused, of the first driver of which it asks for devices and there are such."""
    if moment is None or not view.release.enabled("DRAConsumableCapacity"):
        return ()
    own = [entry.claim for entry in claims_of(view, pod) if entry.claim is not None and entry.claim.allocation is None]
    for driver in drivers_asked(view, own):
        shares = 0
        for claim in allocated_claims(view):
            allocation = claim.allocation
            if allocation is None or allocation.allocated_at is None or abs(allocation.allocated_at - moment) > SAME_MOMENT:
                continue
            shares += any(result.driver == driver and result.consumed_capacity for result in allocation.results)
        if shares:
            return (CountedTwice(shares, driver),)
    return ()


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
