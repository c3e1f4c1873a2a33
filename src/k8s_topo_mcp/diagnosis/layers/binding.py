"""A pod whose devices are chosen but which isn't bound yet: devices that have to become ready first.

KEP-5007: a device may name conditions that have to be True in the claim's status before the scheduler binds the pod, and others that mean
failure. The scheduler waits for them in PreBind, ten minutes by default, then gives the device back and tries again
(k8s.io/kubernetes pkg/scheduler/framework/plugins/dynamicresources PreBind, isClaimReadyForBinding, isClaimTimeout, and Filter for claims
that failed; the time is DynamicResourcesArgs.bindingTimeout from 1.35 on). Needs the gates DRADeviceBindingConditions and
DRAResourceClaimDeviceStatus.
"""

from __future__ import annotations

from ...findings import finding
from ...objects import DeviceCondition, DeviceResult, Pod, ResourceClaim
from ...scheduling import device_binding
from ...view import ClusterView
from ...view.indices import claims_of, events_of
from ..evidence import Absent, Evidence, Held, Stated, age_of, said

MAX_CONSUMERS = 256
"""Of a claim (ResourceClaimReservedForMaxSize in k8s.io/api resource/v1)."""


def look(view: ClusterView, pod: Pod) -> Held | None:
    """The first device of the pod's claims that isn't ready for binding, or a claim that can't be reserved for one more; None where there
    is none, or where none of the claims is allocated for this pod."""
    if pod.node_name:
        return None
    for entry in claims_of(view, pod):
        claim = entry.claim
        if claim is None or claim.allocation is None:
            continue
        if not _reserved(claim, pod):
            if len(claim.reserved_for) >= MAX_CONSUMERS:
                return _full(claim)
            continue
        for result in claim.allocation.results:
            held = _unready(view, pod, claim, result) if device_binding.in_use(view) else None
            if held is not None:
                return held
    return None


def _reserved(claim: ResourceClaim, pod: Pod) -> bool:
    uids = {entry.uid for entry in claim.reserved_for if entry.resource == "pods" and entry.name == pod.name}
    return bool(uids) and (not pod.metadata.uid or pod.metadata.uid in uids or "" in uids)


def _full(claim: ResourceClaim) -> Held:
    """The scheduler finds a node, but the API server takes no more reservations (ValidateResourceClaimStatusUpdate)."""
    return Held(finding("CLAIM_FULL", claim.ref, "status.reservedFor", claim=claim.name, consumers=str(len(claim.reserved_for))), ())


def _unready(view: ClusterView, pod: Pod, claim: ResourceClaim, result: DeviceResult) -> Held | None:
    found = device_binding.unready(view, claim, result)
    if found is None:
        return None
    known = device_binding.conditions_of(claim, result)
    broken = device_binding.failed(claim, result)
    if broken is not None:
        return Held(found, (_stated(view, claim, broken),))
    evidence: list[Evidence] = [
        _stated(view, claim, known[name]) if name in known else Absent(f"no condition {name} in the claim's status yet")
        for name in device_binding.awaited(claim, result)
    ]
    evidence += [said(view, event) for event in events_of(view, pod.ref) if event.reason == "BindingConditionsPending"][:1]
    return Held(found, tuple(evidence))


def _stated(view: ClusterView, claim: ResourceClaim, condition: DeviceCondition) -> Stated:
    age = age_of(view, condition.changed)
    return Stated(claim.ref, condition.type, condition.status, condition.reason, condition.message, age)
