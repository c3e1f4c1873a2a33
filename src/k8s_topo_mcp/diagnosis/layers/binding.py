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
from ...view import ClusterView
from ...view.indices import claims_of, events_of
from ..evidence import Absent, Evidence, Held, Stated, age_of, said

TIMEOUT = 600.0
"""Seconds, bindingTimeout's default."""


def look(view: ClusterView, pod: Pod) -> Held | None:
    """The first device of the pod's claims that isn't ready for binding; None where all are, or where none of the claims is allocated for
    this pod."""
    gates = view.release
    if pod.node_name or not (gates.enabled("DRADeviceBindingConditions") and gates.enabled("DRAResourceClaimDeviceStatus")):
        return None
    for entry in claims_of(view, pod):
        claim = entry.claim
        if claim is None or claim.allocation is None or not _reserved(claim, pod):
            continue
        for result in claim.allocation.results:
            held = _unready(view, pod, claim, result)
            if held is not None:
                return held
    return None


def _reserved(claim: ResourceClaim, pod: Pod) -> bool:
    uids = {entry.uid for entry in claim.reserved_for if entry.resource == "pods" and entry.name == pod.name}
    return bool(uids) and (not pod.metadata.uid or pod.metadata.uid in uids or "" in uids)


def _unready(view: ClusterView, pod: Pod, claim: ResourceClaim, result: DeviceResult) -> Held | None:
    if not result.binding_conditions:
        return None
    known = _conditions(claim, result)
    failed = next((known[name] for name in result.binding_failure_conditions if name in known and known[name].status == "True"), None)
    field = f"status.devices[{result.device}].conditions"
    if failed is not None:
        found = finding("BINDING_FAILED", claim.ref, field, device=str(result.id), condition=failed.type, reason=failed.reason)
        return Held(found, (_stated(view, claim, failed),))
    pending = tuple(name for name in result.binding_conditions if name not in known or known[name].status != "True")
    if not pending:
        return None
    waited = age_of(view, claim.allocation.allocated_at if claim.allocation is not None else None)
    code = "BINDING_TIMED_OUT" if waited is not None and waited > TIMEOUT else "BINDING_CONDITIONS_PENDING"
    found = finding(code, claim.ref, field, device=str(result.id), conditions=pending, waited="" if waited is None else f"{waited:.0f}")
    evidence: list[Evidence] = [
        _stated(view, claim, known[name]) if name in known else Absent(f"no condition {name} in the claim's status yet") for name in pending
    ]
    evidence += [said(view, event) for event in events_of(view, pod.ref) if event.reason == "BindingConditionsPending"][:1]
    return Held(found, tuple(evidence))


def _conditions(claim: ResourceClaim, result: DeviceResult) -> dict[str, DeviceCondition]:
    for status in claim.devices:
        if (status.driver, status.pool, status.device, status.share_id) == (result.driver, result.pool, result.device, result.share_id):
            return {condition.type: condition for condition in status.conditions}
    return {}


def _stated(view: ClusterView, claim: ResourceClaim, condition: DeviceCondition) -> Stated:
    age = age_of(view, condition.changed)
    return Stated(claim.ref, condition.type, condition.status, condition.reason, condition.message, age)
