"""What a cluster's objects tell of its release and gates when nobody else does.

The API server serves a version only from some release on, and it drops a field whose gate is off when an object is written. So a version
that is served, and a field that survived, are evidence; their absence is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from ..objects import ApiObject, DeviceClass, Node, Pod, ResourceClaim, ResourceClaimTemplate, ResourceSlice
from .version import VersionError, parse_minor

T = TypeVar("T", bound=ApiObject)
Served = tuple[str, str, str]
"""group, version, kind"""

SINCE: Mapping[Served, int] = {
    ("resource.k8s.io", "v1", "ResourceSlice"): 34,
    ("resource.k8s.io", "v1", "ResourceClaim"): 34,
    ("resource.k8s.io", "v1", "ResourceClaimTemplate"): 34,
    ("resource.k8s.io", "v1", "DeviceClass"): 34,
    ("resource.k8s.io", "v1beta2", "DeviceTaintRule"): 36,
    ("resource.k8s.io", "v1", "DeviceTaintRule"): 37,
    ("resource.k8s.io", "v1alpha3", "ResourcePoolStatusRequest"): 36,
    ("scheduling.k8s.io", "v1alpha1", "Workload"): 35,
    ("scheduling.k8s.io", "v1alpha2", "Workload"): 36,
    ("scheduling.k8s.io", "v1alpha2", "PodGroup"): 36,
    ("scheduling.k8s.io", "v1alpha3", "Workload"): 37,
    ("scheduling.k8s.io", "v1alpha3", "PodGroup"): 37,
    ("scheduling.k8s.io", "v1alpha3", "CompositePodGroup"): 37,
    ("scheduling.k8s.io", "v1beta1", "Workload"): 37,
    ("scheduling.k8s.io", "v1beta1", "PodGroup"): 37,
}
"""The first release that serves a version."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """`minor` is the oldest release that could have made these objects, None where nothing tells; `gates` are on for sure."""

    minor: int | None = None
    why: str = ""
    gates: Mapping[str, str] = field(default_factory=dict[str, str])


NO_EVIDENCE = Evidence()


def _claims(objects: Mapping[type[ApiObject], Iterable[ApiObject]]) -> Iterable[ResourceClaim | ResourceClaimTemplate]:
    for kind in (ResourceClaim, ResourceClaimTemplate):
        for claim in objects.get(kind, ()):
            assert isinstance(claim, ResourceClaim | ResourceClaimTemplate)
            yield claim


def _slice_gates(piece: ResourceSlice) -> Iterable[tuple[str, str]]:
    if piece.shared_counters:
        yield "DRAPartitionableDevices", "sharedCounters"
    if piece.partition_type_attribute:
        yield "DRAPartitionableDevicesType", "partitionTypeAttribute"
    for device in piece.devices:
        if device.consumes_counters:
            yield "DRAPartitionableDevices", "consumesCounters"
        if device.allow_multiple_allocations is not None:
            yield "DRAConsumableCapacity", "allowMultipleAllocations"
        if device.taints:
            yield "DRADeviceTaints", "taints"
        if device.binding_conditions or device.binds_to_node:
            yield "DRADeviceBindingConditions", "bindingConditions"
        if any(entry.compatibility_groups for entry in device.consumes_counters):
            yield "DRADeviceCompatibilityGroups", "compatibilityGroups"
        if any(attribute.kind in ("bools", "ints", "strings", "versions") for attribute in device.attributes.values()):
            yield "DRAListTypeAttributes", "list attributes"


def _claim_gates(claim: ResourceClaim | ResourceClaimTemplate) -> Iterable[tuple[str, str]]:
    for request in claim.spec.requests:
        if request.first_available:
            yield "DRAPrioritizedList", "firstAvailable"
        for exact in request.alternatives:
            if exact.admin_access:
                yield "DRAAdminAccess", "adminAccess"
            if exact.capacity is not None:
                yield "DRAConsumableCapacity", "capacity.requests"
            if exact.derived_attributes:
                yield "DRADerivedAttributes", "derivedAttributes"
    if any(constraint.distinct_attribute for constraint in claim.spec.constraints):
        yield "DRAConsumableCapacity", "distinctAttribute"
    if isinstance(claim, ResourceClaim) and claim.devices:
        yield "DRAResourceClaimDeviceStatus", "status.devices"


def _pod_gates(pod: Pod) -> Iterable[tuple[str, str]]:
    if pod.scheduling_group is not None or pod.workload_reference is not None:
        yield "GenericWorkload", "schedulingGroup" if pod.scheduling_group is not None else "workloadRef"
    if pod.extended_resource_claim is not None:
        yield "DRAExtendedResource", "extendedResourceClaimStatus"
    if pod.node_allocatable_claims:
        yield "DRANodeAllocatableResources", "nodeAllocatableResourceClaimStatuses"
    if pod.resources is not None:
        yield "PodLevelResources", "pod-level resources"


def _each(objects: Mapping[type[ApiObject], Iterable[ApiObject]], kind: type[T], look: Callable[[T], None]) -> None:
    for item in objects.get(kind, ()):
        assert isinstance(item, kind)
        look(item)


def infer(objects: Mapping[type[ApiObject], Iterable[ApiObject]], served: Iterable[Served]) -> Evidence:
    """What `objects` (by class) and the API versions they were `served` in tell.

    The release is the newest that anything demands; the kubelets' own versions count, as no kubelet is newer than its API server.
    """
    minor, why = None, ""

    def at_least(found: int, reason: str) -> None:
        nonlocal minor, why
        if minor is None or found > minor:
            minor, why = found, reason

    for kind in sorted(served):
        if kind in SINCE:
            at_least(SINCE[kind], f"{kind[0]}/{kind[1]} {kind[2]} is served")
    for node in objects.get(Node, ()):
        assert isinstance(node, Node)
        if node.kubelet_version:
            try:
                at_least(parse_minor(node.kubelet_version)[0], f"kubelet {node.kubelet_version[:30]} of node {node.name}")
            except VersionError:
                continue
    gates: dict[str, str] = {}

    def seen(found: Iterable[tuple[str, str]], item: ApiObject) -> None:
        for gate, what in found:
            gates.setdefault(gate, f"{what} in {item.KIND} {item.full_name}")

    _each(objects, ResourceSlice, lambda item: seen(_slice_gates(item), item))
    _each(objects, Pod, lambda item: seen(_pod_gates(item), item))
    for claim in _claims(objects):
        seen(_claim_gates(claim), claim)
    _each(
        objects,
        DeviceClass,
        lambda item: seen([("DRAExtendedResource", "extendedResourceName")] if item.extended_resource_name else (), item),
    )
    _each(objects, Node, lambda item: seen([("NodeDeclaredFeatures", "declaredFeatures")] if item.declared_features else (), item))
    return Evidence(minor, why, gates)
