"""What Karpenter itself said of a pod lately: that it can't schedule it, and why.

Event FailedScheduling of component karpenter (sigs.k8s.io/karpenter pkg/controllers/provisioning/scheduling/events.go): "Failed to schedule
pod, " and the reasons of all NodePools, joined by "; ". It is said again every 5 minutes (DedupeTimeout) for as long as it is so. What an
earlier leader said, whose settings may have been others, or what is older than the pod's claims, says nothing of now. Who may write events
in the pod's namespace may have written it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..objects import Event, Lease, Pod
from ..view import ClusterView
from ..view.indices import claims_of
from .autoscalers import LEASES
from .events import newest_on_pod

HOLDS = 600.0
"""Seconds for which a word holds: twice the time after which it is repeated."""

CLAIMS_IGNORED = "pod has Dynamic Resource Allocation requirements that are not yet supported by Karpenter"
NO_DEVICES = "no instance type can satisfy the allocation"
_OVER_LIMITS = re.compile(
    r"(all available instance types exceed limits|node limits have been exhausted) for nodepool \(NodePool=([^\s()]{1,253})\)"
)
_LONGEST = 2000
"""Characters of a message that are read: Kubernetes allows 1,024."""


@dataclass(frozen=True, slots=True, eq=False)
class OverLimits:
    """Its word that a new node would pass a limit of a NodePool. `of_nodes`: that limit "nodes" is used up to the last; else it doesn't
    say which limit."""

    event: Event
    of_nodes: bool


def word(view: ClusterView, pod: Pod) -> Event | None:
    """Its last word on the pod, also that it has a node for it; None where that doesn't hold any more, or it has said nothing."""
    event = newest_on_pod(view, pod.ref).get("karpenter")
    if event is None or event.last is None or not view.now or view.now - event.last > HOLDS:
        return None
    leaders = (lease.acquired for lease in view.all(Lease) if lease.name == LEASES["Karpenter"])
    claims = (entry.claim.metadata.created for entry in claims_of(view, pod) if entry.claim is not None)
    since = max((moment for moment in (*leaders, *claims) if moment is not None), default=0.0)
    return event if event.last >= since else None


def word_on_one(view: ClusterView, pods: Iterable[Pod]) -> tuple[Pod, Event] | None:
    """Its last word on the first of these pods of which it has said anything that holds."""
    return next(((pod, event) for pod in pods if (event := word(view, pod)) is not None), None)


def refusal(view: ClusterView, pod: Pod) -> str:
    """Why it can't schedule the pod, in its own words; "" where it has a node for it, or nothing that it said holds."""
    return _refused(word(view, pod))


def _refused(event: Event | None) -> str:
    return event.message[:_LONGEST] if event is not None and event.reason == "FailedScheduling" else ""


def ignores_claims(view: ClusterView, pod: Pod) -> bool:
    """Whether it said that it passes the pod over for its claims."""
    return CLAIMS_IGNORED in refusal(view, pod)


def over_limits(view: ClusterView, pods: tuple[Pod, ...]) -> Mapping[str, OverLimits]:
    """Its newest word on any of these pods that a new node would pass a limit, by the NodePool's name."""

    def named() -> Mapping[str, OverLimits]:
        found: dict[str, OverLimits] = {}
        for event in sorted((event for pod in pods if (event := word(view, pod)) is not None), key=lambda event: -(event.last or 0.0)):
            for what, pool in _OVER_LIMITS.findall(_refused(event)):
                found.setdefault(pool, OverLimits(event, what.startswith("node ")))
        return found

    return view.memo(("over the limits of NodePools", pods), named)
