"""resource.k8s.io: ResourceClaim, ResourceClaimTemplate, DeviceClass, DeviceTaintRule; slices are in resource_slice.py.

One shape for v1, v1beta2, v1beta1 and v1alpha3 (k8s.io/api/resource/*/types.go). v1beta1 keeps a request's
facts under the request itself; everything else is the same. An unknown member of a union stays visible as an empty kind, so that
later verdicts can say `unknown` instead of guessing.
"""

from __future__ import annotations

from collections.abc import Mapping
from sys import intern
from typing import ClassVar

from .decoding import (
    DecodeError,
    Json,
    boolean,
    decode_quantities,
    each,
    integer,
    mapping,
    nested,
    optional_integer,
    optional_mapping,
    optional_string,
    string,
    strings,
    timestamp,
)
from .meta import ApiObject, Timestamp, decode_metadata
from .node_selector import NodeSelector, decode_node_selector
from .quantity import Quantity
from .record import record, value_record
from .resource_slice import (
    DeviceId,
    DeviceTaint,
    decode_taint,
)

ADMIN_ACCESS_LABEL = "resource.kubernetes.io/admin-access"


POD_CLAIM_ANNOTATION = "resource.kubernetes.io/pod-claim-name"


EXTENDED_RESOURCE_CLAIM_ANNOTATION = "resource.kubernetes.io/extended-resource-claim"


MAX_RESULTS = 32


@value_record()
class DeviceToleration:
    """A toleration of device taints; `seconds` bounds how long a NoExecute taint is tolerated."""

    key: str
    operator: str
    value: str
    effect: str
    seconds: int | None = None


@value_record()
class Selector:
    """A device selector; `expression` is None when it is not CEL (a kind that this model doesn't know)."""

    expression: str | None


@value_record()
class DerivedAttribute:
    """An attribute that a request computes from others (1.37, alpha)."""

    name: str
    expression: str


@value_record()
class ExactRequest:
    """What `exactly` or one member of `firstAvailable` asks. `name` is the request's or subrequest's own name."""

    name: str
    class_name: str
    selectors: tuple[Selector, ...] = ()
    mode: str = "ExactCount"
    count: int = 1
    admin_access: bool = False
    tolerations: tuple[DeviceToleration, ...] = ()
    capacity: Mapping[str, Quantity] | None = None
    derived_attributes: tuple[DerivedAttribute, ...] = ()


@value_record()
class DeviceRequest:
    """Exactly one of `exactly` and `first_available` is set; neither: a kind of request that this model doesn't know."""

    name: str
    exactly: ExactRequest | None
    first_available: tuple[ExactRequest, ...] = ()

    @property
    def alternatives(self) -> tuple[ExactRequest, ...]:
        """All that it may turn into, in order of preference."""
        return self.first_available or ((self.exactly,) if self.exactly is not None else ())


@value_record()
class DeviceConstraint:
    """matchAttribute or distinctAttribute over the named requests (all of the claim when none is named); neither: not known."""

    requests: tuple[str, ...]
    match_attribute: str | None = None
    distinct_attribute: str | None = None

    def concerns(self, request: str, subrequest: str | None = None) -> bool:
        """Whether it applies to a request, or to one subrequest of it ("request/subrequest")."""
        if not self.requests or request in self.requests:
            return True
        return subrequest is not None and f"{request}/{subrequest}" in self.requests


@value_record()
class DeviceConfig:
    """Opaque configuration for a driver: only what allocation hands on (whose, for which requests)."""

    driver: str
    requests: tuple[str, ...] = ()


@record(weakref_slot=True)
class ClaimSpec:
    """What a claim asks for."""

    requests: tuple[DeviceRequest, ...]
    constraints: tuple[DeviceConstraint, ...] = ()
    config: tuple[DeviceConfig, ...] = ()

    def path_of(self, position: int, request: ExactRequest) -> str:
        """Where a request or subrequest stands in its claim."""
        shape = self.requests[position]
        path = f"spec.devices.requests[{position}]"
        return f"{path}.firstAvailable[{shape.first_available.index(request)}]" if shape.first_available else f"{path}.exactly"


@value_record()
class DeviceResult:
    """One allocated device. `request` is "request" or "request/subrequest"."""

    request: str
    driver: str
    pool: str
    device: str
    admin_access: bool = False
    tolerations: tuple[DeviceToleration, ...] = ()
    share_id: str | None = None
    consumed_capacity: Mapping[str, Quantity] | None = None
    binding_conditions: tuple[str, ...] = ()
    binding_failure_conditions: tuple[str, ...] = ()
    skip_node_operations: tuple[str, ...] = ()

    @property
    def id(self) -> DeviceId:
        """The device as claims name it."""
        return DeviceId(self.driver, self.pool, self.device)


@value_record()
class Allocation:
    """status.allocation: the devices, and on which nodes they can be used (None: everywhere)."""

    results: tuple[DeviceResult, ...]
    node_selector: NodeSelector | None = None
    allocated_at: Timestamp | None = None


@value_record()
class Consumer:
    """One entry of status.reservedFor: the pod (or PodGroup) that may use the claim. `resource` is "pods" or "podgroups"."""

    api_group: str
    resource: str
    name: str
    uid: str


@value_record()
class DeviceCondition:
    """A condition of one allocated device."""

    type: str
    status: str
    reason: str = ""
    message: str = ""
    changed: Timestamp | None = None


@value_record()
class DeviceStatus:
    """status.devices[]: what the driver says of one allocated device."""

    driver: str
    pool: str
    device: str
    share_id: str | None
    conditions: tuple[DeviceCondition, ...]


@record(weakref_slot=True)
class ResourceClaim(ApiObject):
    """A claim for devices; it has no conditions, its state is `allocation` and `reserved_for`."""

    KIND: ClassVar[str] = "ResourceClaim"

    spec: ClaimSpec
    allocation: Allocation | None = None
    reserved_for: tuple[Consumer, ...] = ()
    devices: tuple[DeviceStatus, ...] = ()


@record(weakref_slot=True)
class ResourceClaimTemplate(ApiObject):
    """What claims are generated from."""

    KIND: ClassVar[str] = "ResourceClaimTemplate"

    spec: ClaimSpec


@record(weakref_slot=True)
class DeviceClass(ApiObject):
    """Selectors and configuration that requests refer to by name."""

    KIND: ClassVar[str] = "DeviceClass"
    NAMESPACED: ClassVar[bool] = False

    selectors: tuple[Selector, ...]
    config: tuple[DeviceConfig, ...] = ()
    extended_resource_name: str | None = None


@record(weakref_slot=True)
class DeviceTaintRule(ApiObject):
    """Taints devices without touching slices. `class_name` and `selectors` exist only in v1alpha3 of 1.34. `selects` is False when the
    rule has no selector at all (then it taints nothing)."""

    KIND: ClassVar[str] = "DeviceTaintRule"
    NAMESPACED: ClassVar[bool] = False

    taint: DeviceTaint
    selects: bool = False
    driver: str | None = None
    pool: str | None = None
    device: str | None = None
    class_name: str | None = None
    selectors: tuple[Selector, ...] = ()
    conditions: tuple[DeviceCondition, ...] = ()


def _toleration(source: Json) -> DeviceToleration:
    return DeviceToleration(
        string(source, "key"),
        string(source, "operator", "Equal") or "Equal",
        string(source, "value"),
        string(source, "effect"),
        optional_integer(source, "tolerationSeconds"),
    )


def _selector(source: Json) -> Selector:
    cel = optional_mapping(source, "cel")
    return Selector(None if cel is None else string(cel, "expression"))


def _derived(source: Json) -> DerivedAttribute:
    return DerivedAttribute(string(source, "name"), string(source, "expression"))


def _exact(name: str, source: Json) -> ExactRequest:
    mode = string(source, "allocationMode") or "ExactCount"
    return ExactRequest(
        name=name,
        class_name=string(source, "deviceClassName"),
        selectors=each(source, "selectors", _selector),
        mode=mode,
        count=integer(source, "count") or (1 if mode == "ExactCount" else 0),
        admin_access=boolean(source, "adminAccess"),
        tolerations=each(source, "tolerations", _toleration),
        capacity=nested(source, "capacity", lambda capacity: decode_quantities(capacity, "requests")),
        derived_attributes=each(source, "derivedAttributes", _derived),
    )


def _request(source: Json) -> DeviceRequest:
    name = string(source, "name")
    subrequests = each(source, "firstAvailable", lambda entry: _exact(string(entry, "name"), entry))
    exactly = nested(source, "exactly", lambda entry: _exact(name, entry))
    if exactly is None and not subrequests and "deviceClassName" in source:  # v1beta1
        exactly = _exact(name, source)
    return DeviceRequest(name, exactly, subrequests)


def _constraint(source: Json) -> DeviceConstraint:
    return DeviceConstraint(
        strings(source, "requests"), optional_string(source, "matchAttribute"), optional_string(source, "distinctAttribute")
    )


def _config(source: Json) -> DeviceConfig:
    return DeviceConfig(string(mapping(source, "opaque"), "driver"), strings(source, "requests"))


def decode_claim_spec(spec: Json) -> ClaimSpec:
    """The `spec` of a claim, or the inner `spec` of a template."""
    try:
        devices = mapping(spec, "devices")
        return ClaimSpec(each(devices, "requests", _request), each(devices, "constraints", _constraint), each(devices, "config", _config))
    except DecodeError as error:
        raise error.under("devices") from None


def _result(source: Json) -> DeviceResult:
    return DeviceResult(
        request=intern(string(source, "request")),
        driver=intern(string(source, "driver")),
        pool=intern(string(source, "pool")),
        device=intern(string(source, "device")),
        admin_access=boolean(source, "adminAccess"),
        tolerations=each(source, "tolerations", _toleration) if "tolerations" in source else (),
        share_id=optional_string(source, "shareID"),
        consumed_capacity=decode_quantities(source, "consumedCapacity") if source.get("consumedCapacity") is not None else None,
        binding_conditions=strings(source, "bindingConditions"),
        binding_failure_conditions=strings(source, "bindingFailureConditions"),
        skip_node_operations=strings(source, "skipNodeOperations"),
    )


def decode_allocation(source: Json) -> Allocation:
    """An Allocation out of its JSON."""
    return Allocation(
        each(mapping(source, "devices"), "results", _result),
        nested(source, "nodeSelector", decode_node_selector),
        timestamp(source, "allocationTimestamp"),
    )


def _consumer(source: Json) -> Consumer:
    return Consumer(string(source, "apiGroup"), intern(string(source, "resource")), string(source, "name"), string(source, "uid"))


def _condition(source: Json) -> DeviceCondition:
    return DeviceCondition(
        string(source, "type"),
        string(source, "status"),
        string(source, "reason"),
        string(source, "message"),
        timestamp(source, "lastTransitionTime"),
    )


def _device_status(source: Json) -> DeviceStatus:
    return DeviceStatus(
        string(source, "driver"),
        string(source, "pool"),
        string(source, "device"),
        optional_string(source, "shareID"),
        each(source, "conditions", _condition),
    )


def decode_claim(item: Json) -> ResourceClaim:
    """A ResourceClaim of any served version."""
    metadata = decode_metadata(item, namespaced=True)
    try:
        spec = decode_claim_spec(mapping(item, "spec"))
    except DecodeError as error:
        raise error.under("spec") from None
    try:
        status = mapping(item, "status")
        return ResourceClaim(
            metadata,
            spec,
            nested(status, "allocation", decode_allocation),
            each(status, "reservedFor", _consumer),
            each(status, "devices", _device_status) if "devices" in status else (),
        )
    except DecodeError as error:
        raise error.under("status") from None


def decode_claim_template(item: Json) -> ResourceClaimTemplate:
    """A ResourceClaimTemplate out of its JSON."""
    metadata = decode_metadata(item, namespaced=True)
    try:
        return ResourceClaimTemplate(metadata, decode_claim_spec(mapping(mapping(item, "spec"), "spec")))
    except DecodeError as error:
        raise error.under("spec.spec") from None


def decode_class(item: Json) -> DeviceClass:
    """A DeviceClass out of its JSON."""
    metadata = decode_metadata(item, namespaced=False, writes=True)
    try:
        spec = mapping(item, "spec")
        return DeviceClass(
            metadata,
            each(spec, "selectors", _selector),
            each(spec, "config", _config),
            optional_string(spec, "extendedResourceName"),
        )
    except DecodeError as error:
        raise error.under("spec") from None


def decode_taint_rule(item: Json) -> DeviceTaintRule:
    """A DeviceTaintRule out of its JSON."""
    metadata = decode_metadata(item, namespaced=False, writes=True)
    try:
        spec = mapping(item, "spec")
        selector = optional_mapping(spec, "deviceSelector")
        chosen: Json = selector if selector is not None else {}
        return DeviceTaintRule(
            metadata=metadata,
            taint=decode_taint(mapping(spec, "taint")),
            selects=selector is not None,
            driver=optional_string(chosen, "driver"),
            pool=optional_string(chosen, "pool"),
            device=optional_string(chosen, "device"),
            class_name=optional_string(chosen, "deviceClassName"),
            selectors=each(chosen, "selectors", _selector),
            conditions=each(mapping(item, "status"), "conditions", _condition),
        )
    except DecodeError as error:
        raise error.under("spec") from None
