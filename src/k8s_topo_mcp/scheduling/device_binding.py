"""Devices that have to become ready before a pod that was given them is bound (KEP-5007): whether a claim still may.

Source: Filter, isClaimReadyForBinding and isClaimTimeout in k8s.io/kubernetes pkg/scheduler/framework/plugins/dynamicresources. A claim
whose devices failed, or weren't ready in time, is refused on every node, whoever it is reserved for; it is deallocated only if that is
nobody, or the pod alone. Needs the gates DRADeviceBindingConditions and DRAResourceClaimDeviceStatus.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..findings import Finding, finding
from ..objects import DeviceCondition, DeviceResult, Pod, ResourceClaim
from ..view import ClusterView

TIMEOUT = 600.0
"""Seconds, bindingTimeout's default (DynamicResourcesArgs, from 1.35 on)."""


def in_use(view: ClusterView) -> bool:
    """Whether this cluster knows binding conditions."""
    return view.release.enabled("DRADeviceBindingConditions") and view.release.enabled("DRAResourceClaimDeviceStatus")


def conditions_of(claim: ResourceClaim, result: DeviceResult) -> Mapping[str, DeviceCondition]:
    """What the claim's status says of an allocated device, by type."""
    for status in claim.devices:
        if (status.driver, status.pool, status.device, status.share_id) == (result.driver, result.pool, result.device, result.share_id):
            return {condition.type: condition for condition in status.conditions}
    return {}


def failed(claim: ResourceClaim, result: DeviceResult) -> DeviceCondition | None:
    """The condition that says that the device can't be made ready."""
    known = conditions_of(claim, result)
    return next((known[name] for name in result.binding_failure_conditions if name in known and known[name].status == "True"), None)


def awaited(claim: ResourceClaim, result: DeviceResult) -> tuple[str, ...]:
    """The conditions that have to be True yet."""
    known = conditions_of(claim, result)
    return tuple(name for name in result.binding_conditions if name not in known or known[name].status != "True")


def unready(view: ClusterView, claim: ResourceClaim, result: DeviceResult) -> Finding | None:
    """What keeps a device from being ready: failed, timed out, or waited for."""
    if not result.binding_conditions:
        return None
    field = f"status.devices[{result.device}].conditions"
    broken = failed(claim, result)
    if broken is not None:
        return finding("BINDING_FAILED", claim.ref, field, device=str(result.id), condition=broken.type, reason=broken.reason)
    pending = awaited(claim, result)
    if not pending:
        return None
    since = claim.allocation.allocated_at if claim.allocation is not None else None
    waited = None if since is None or not view.now else max(0.0, view.now - since)
    code = "BINDING_TIMED_OUT" if waited is not None and waited > TIMEOUT else "BINDING_CONDITIONS_PENDING"
    return finding(code, claim.ref, field, device=str(result.id), conditions=pending, waited="" if waited is None else f"{waited:.0f}")


def stuck(view: ClusterView, pod: Pod, claim: ResourceClaim) -> Finding | None:
    """Why every node refuses the pod for as long as others have the claim; None where its devices may still become ready, or the scheduler
    gives them back for the pod."""
    if claim.allocation is None or not in_use(view) or all(entry.uid == pod.metadata.uid for entry in claim.reserved_for):
        return None
    found = [entry for entry in (unready(view, claim, result) for result in claim.allocation.results) if entry is not None]
    for code, said, value in (
        ("BINDING_FAILED", "can't be made ready (condition {})", "condition"),
        ("BINDING_TIMED_OUT", "wasn't ready in time (condition {})", "conditions"),
    ):
        for entry in found:
            if entry.code == code:
                why = said.format(entry.text(value))
                return finding("CLAIM_STUCK", claim.ref, entry.field, claim=claim.name, device=entry.text("device"), why=why)
    return None
