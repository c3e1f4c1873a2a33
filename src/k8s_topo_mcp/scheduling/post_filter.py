"""What a failed attempt adds to its sentence: DynamicResources may give an idle claim up, then DefaultPreemption looks for victims.

Source: RunPostFilterPlugins in pkg/scheduler/framework/runtime/framework.go, PostFilter of plugins/dynamicresources. DynamicResources comes
first, and its words are dropped where preemption then succeeds or ends with an error. Where an earlier plugin's PreFilter refused the pod,
it finds no state of its own and its error is all that is added.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..dra.outcome import Allocated
from ..objects import ResourceClaim
from .default_preemption import Preemption, preempt
from .placement import Placement

NO_STATE = "not found"
NO_CLAIMS = "no new claims to deallocate"
NOTHING_DONE = "still not schedulable"
DEALLOCATED = "deallocation of ResourceClaim completed"


@dataclass(frozen=True, slots=True, eq=False)
class PostFilter:
    """`texts`: every text that may follow the counts; empty: not known. `preemption` is None where it isn't come to."""

    texts: tuple[str, ...]
    preemption: Preemption | None = None


def post_filter(placement: Placement) -> PostFilter:
    """What follows after the placement has failed."""
    if placement.pod_wide and placement.pod_wide[0] not in placement.devices.findings:
        return PostFilter((NO_STATE,))
    if placement.pod.extended_resource_claim is not None:
        return PostFilter(())
    preemption = preempt(placement)
    if preemption.victims or preemption.failed:
        return PostFilter(preemption.texts, preemption)
    first = _devices_said(placement)
    return PostFilter(tuple(f"{first}, {text}" if first else text for text in preemption.texts), preemption)


def _devices_said(placement: Placement) -> str:
    """Where its own PreFilter has refused the pod, the plugin knows of no claims."""
    if not placement.pod_wide and any(_idle(placement, claim) for claim in _unavailable(placement)):
        return DEALLOCATED
    if placement.filters.view.release.minor >= 37:
        return ""
    devices = placement.devices
    known = not placement.pod_wide and (devices.problem or devices.allocated or devices.extended)
    return NOTHING_DONE if known else NO_CLAIMS


def _unavailable(placement: Placement) -> tuple[ResourceClaim, ...]:
    """Allocated claims that kept the pod from a node whose other devices would have done."""
    if not placement.devices.allocated:
        return ()
    found = {
        entry.object
        for node in placement.nodes.values()
        if not node.refusing and (node.outcome is None or isinstance(node.outcome, Allocated))
        for entry in node.elsewhere
    }
    return tuple(claim for claim in placement.devices.allocated if claim.ref in found)


def _idle(placement: Placement, claim: ResourceClaim) -> bool:
    users = claim.reserved_for
    return not users or (len(users) == 1 and users[0].uid == placement.pod.metadata.uid)
