"""What pods ask of a node's devices: drivers that must be there, and features of DRA that whoever judges the claims must know.

Claims that aren't made yet are read from their templates. A request for an extended resource that a DeviceClass stands for
(KEP-5004) is a claim too, one that nobody sees before the pod is bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..objects import ClaimSpec, Pod, ResourceClaim, ResourceClaimTemplate, ResourceSlice
from ..scheduling.extended_resources import demand as extended_demand
from ..view import ClusterView


@dataclass(frozen=True, slots=True)
class DeviceDemand:
    """`classes` by name with the number of devices asked of each (0: all that match), over the pod's claims; `extended` the extended
    resources that it asks for, with amounts, and `by_class` those among them that a DeviceClass stands for. `features` are names of
    features that the claims need ("adminAccess", "firstAvailable", …)."""

    classes: tuple[tuple[str, int], ...] = ()
    extended: tuple[tuple[str, int], ...] = ()
    features: frozenset[str] = frozenset()
    by_class: frozenset[str] = frozenset()

    @property
    def any(self) -> bool:
        """Whether it asks for any device, in any way."""
        return bool(self.classes or self.extended)

    @property
    def claims(self) -> bool:
        """Whether it asks for anything by claims."""
        return bool(self.classes)

    def __str__(self) -> str:
        parts = [f"{count or 'all'} {name}" for name, count in (*self.classes, *self.extended)]
        return " + ".join(parts) or "no devices"


def claim_specs(view: ClusterView, pod: Pod) -> Iterator[ClaimSpec]:
    """The claims of a pod as far as they, or what they are made from, exist."""
    for entry in pod.resource_claims:
        name = pod.claim_name_for(entry)
        claim = None if name is None else view.get(ResourceClaim, name, pod.namespace)
        if claim is not None:
            yield claim.spec
        elif entry.template_name is not None:
            template = view.get(ResourceClaimTemplate, entry.template_name, pod.namespace)
            if template is not None:
                yield template.spec


def device_demand(view: ClusterView, pod: Pod) -> DeviceDemand:
    """What a pod asks for; of alternatives the first."""
    return view.memo(("device demand", pod), lambda: _device_demand(view, pod))


def _device_demand(view: ClusterView, pod: Pod) -> DeviceDemand:
    classes: dict[str, int] = {}
    features: set[str] = set()
    for spec in claim_specs(view, pod):
        features.update(_features(spec))
        for request in spec.requests:
            wanted = request.alternatives[0] if request.alternatives else None
            if wanted is not None:
                counted = 0 if wanted.mode == "All" else wanted.count
                classes[wanted.class_name] = classes.get(wanted.class_name, 0) + counted
    extended = extended_demand(view, pod)
    by_class = frozenset(extended.classes) if extended is not None else frozenset[str]()
    asked = {name: int(amount.value) for name, amount in pod.requests().items() if "/" in name and amount.value}
    return DeviceDemand(tuple(sorted(classes.items())), tuple(sorted(asked.items())), frozenset(features), by_class)


def _features(spec: ClaimSpec) -> Iterator[str]:
    if any(constraint.distinct_attribute for constraint in spec.constraints):
        yield "distinctAttribute"
    for request in spec.requests:
        if len(request.alternatives) > 1 or request.exactly is None:
            yield "firstAvailable"
        for exact in request.alternatives:
            if exact.admin_access:
                yield "adminAccess"
            if exact.capacity:
                yield "consumable capacity"
            if exact.tolerations:
                yield "device taints"


def features_of(slices: Iterable[ResourceSlice]) -> frozenset[str]:
    """Features of DRA that what a node publishes needs."""
    found: set[str] = set()
    for entry in slices:
        if entry.shared_counters or any(device.consumes_counters for device in entry.devices):
            found.add("partitionable devices")
        if any(device.allow_multiple_allocations for device in entry.devices):
            found.add("consumable capacity")
        if any(device.binding_conditions for device in entry.devices):
            found.add("binding conditions")
    return frozenset(found)
