"""resource.k8s.io: ResourceSlice, what a driver publishes of its devices (k8s.io/api/resource/*/types.go). v1beta1 keeps a device's facts
under `basic`; everything else is the same in every version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from sys import intern
from typing import ClassVar, cast

from .decoding import (
    DecodeError,
    Json,
    boolean,
    decode_quantity,
    each,
    integer,
    kind_of,
    mapping,
    nested,
    optional_boolean,
    optional_mapping,
    optional_quantity,
    optional_string,
    string,
    strings,
    timestamp,
)
from .meta import ApiObject, Timestamp, decode_metadata
from .node_selector import NodeSelector, decode_node_selector
from .quantity import Quantity
from .record import record, value_record

AttributeValue = bool | int | str | tuple[bool, ...] | tuple[int, ...] | tuple[str, ...]


@value_record()
class Attribute:
    """A device attribute. `kind` is the API's member name (bool, int, string, version, bools, ints, strings, versions), or "" when it is
    one this model doesn't know; a version is kept as its string."""

    kind: str
    value: AttributeValue

    def __str__(self) -> str:
        if isinstance(self.value, tuple):
            return "[" + ", ".join(_literal(entry) for entry in self.value) + "]"
        return _literal(self.value)


def _literal(value: bool | int | str) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@value_record()
class CapacityRange:
    """requestPolicy.validRange; all three may be absent."""

    minimum: Quantity | None
    maximum: Quantity | None
    step: Quantity | None


@value_record()
class RequestPolicy:
    """How a request for this capacity is rounded and bounded (consumable capacity)."""

    default: Quantity | None
    valid_values: tuple[Quantity, ...] = ()
    valid_range: CapacityRange | None = None


@value_record()
class DeviceCapacity:
    """One capacity of a device; with a policy it can be consumed in parts."""

    value: Quantity
    policy: RequestPolicy | None = None


@value_record()
class CounterConsumption:
    """What a device takes from one counter set of its pool when it is allocated."""

    counter_set: str
    counters: Mapping[str, Quantity]
    compatibility_groups: tuple[str, ...] = ()


@value_record()
class CounterSet:
    """Counters that devices of a pool share."""

    name: str
    counters: Mapping[str, Quantity]


@value_record()
class DeviceTaint:
    """A taint of a device; `effect` is NoSchedule, NoExecute or None."""

    key: str
    value: str
    effect: str
    added: Timestamp | None = None

    def __str__(self) -> str:
        return f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"


@value_record()
class NodeSelection:
    """Where a slice or a device can be used: a node's name, a selector, or everywhere. All absent: not stated (or a kind that this model
    doesn't know)."""

    node_name: str | None = None
    selector: NodeSelector | None = None
    all_nodes: bool = False

    @property
    def stated(self) -> bool:
        """Whether it says anything."""
        return bool(self.node_name) or self.all_nodes or self.selector is not None

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        """Whether it includes a node with this name and these labels."""
        if self.node_name:
            return self.node_name == name
        if self.all_nodes:
            return True
        return self.selector is not None and self.selector.matches(name, labels)


NOWHERE_STATED = NodeSelection()


@record(weakref_slot=True)
class Device:
    """One device of a slice. Attribute and capacity names are as published: bare, or with a domain ("resource.kubernetes.io/numaNode")."""

    name: str
    attributes: Mapping[str, Attribute]
    capacity: Mapping[str, DeviceCapacity]
    consumes_counters: tuple[CounterConsumption, ...] = ()
    node_selection: NodeSelection = NOWHERE_STATED
    taints: tuple[DeviceTaint, ...] = ()
    binds_to_node: bool = False
    binding_conditions: tuple[str, ...] = ()
    binding_failure_conditions: tuple[str, ...] = ()
    allow_multiple_allocations: bool | None = None
    node_allocatable_resources: tuple[str, ...] = ()

    def attribute(self, name: str, driver: str) -> Attribute | None:
        """Look up a fully qualified attribute; a bare name counts as the driver's own domain (allocator's lookupAttribute)."""
        found = self.attributes.get(name)
        if found is None:
            domain, slash, bare = name.partition("/")
            if slash and domain == driver:
                found = self.attributes.get(bare)
        return found


@value_record()
class DeviceId:
    """driver/pool/device: what a claim's allocation names."""

    driver: str
    pool: str
    device: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}/{self.device}"


@value_record()
class AttributeBinding:
    """Devices of a slice that will have one value of an attribute, a scalar that isn't known before the node is there.

    Bindings are transitive, as Karpenter's (pkg/scheduling/dynamicresources/attributebindings.go): those of one node that have a device in
    common, or the same `name`, are one; so devices of different drivers are bound. What a device publishes itself holds for all that are
    bound to it. `distinct`: no other binding of this attribute on the node has the same value; else two may turn out to.
    """

    attribute: str
    devices: frozenset[str]
    name: str = ""
    distinct: bool = False


@record(weakref_slot=True)
class ResourceSlice(ApiObject):
    """Devices of one pool, as its driver publishes them. `bindings` isn't part of the API: it is what is known of a node to come."""

    KIND: ClassVar[str] = "ResourceSlice"
    NAMESPACED: ClassVar[bool] = False

    driver: str
    pool: str
    generation: int
    slice_count: int
    node_selection: NodeSelection
    per_device_node_selection: bool
    devices: tuple[Device, ...]
    shared_counters: tuple[CounterSet, ...] = ()
    partition_type_attribute: str | None = None
    skip_node_operations: tuple[str, ...] = ()
    bindings: tuple[AttributeBinding, ...] = ()


_SCALARS: dict[str, type] = {"string": str, "int": int, "bool": bool, "version": str}


_LISTS: dict[str, type] = {"strings": str, "ints": int, "bools": bool, "versions": str}


_KNOWN: dict[tuple[str, type, object], Attribute] = {}


_KNOWN_BOUND = 65536


def decode_attribute(source: Json) -> Attribute:
    """A device attribute out of its JSON. Equal ones become one object: 40,000 devices have a few hundred different values."""
    for kind, value in source.items():
        if value is None:
            continue
        if kind in _SCALARS:
            key = (kind, value.__class__, value)  # the class keeps 1 and True apart
            try:
                return _KNOWN[key]
            except (KeyError, TypeError):
                if value.__class__ is not _SCALARS[kind]:
                    raise DecodeError(kind, f"must be {kind_of(_SCALARS[kind]())}, is {kind_of(value)}") from None
            if len(_KNOWN) >= _KNOWN_BOUND:
                _KNOWN.clear()
            found = _KNOWN[key] = Attribute(kind, value)
            return found
        if kind in _LISTS:
            if value.__class__ is not list or any(entry.__class__ is not _LISTS[kind] for entry in value):
                raise DecodeError(kind, f"must be a list, each entry {kind_of(_LISTS[kind]())}")
            return Attribute(kind, tuple(value))
    return Attribute("", "")


def _range(source: Json) -> CapacityRange:
    return CapacityRange(optional_quantity(source, "min"), optional_quantity(source, "max"), optional_quantity(source, "step"))


def _policy(source: Json) -> RequestPolicy:
    values = source.get("validValues") or ()
    if not isinstance(values, list | tuple):
        raise DecodeError("validValues", f"must be a list, is {kind_of(values)}")
    return RequestPolicy(
        optional_quantity(source, "default"),
        tuple(decode_quantity(value, f"validValues[{index}]") for index, value in enumerate(cast(Sequence[object], values))),
        nested(source, "validRange", _range),
    )


@lru_cache(maxsize=8192)
def _plain_capacity(text: str) -> DeviceCapacity:
    return DeviceCapacity(decode_quantity(text, "value"))


def _capacity(source: Json) -> DeviceCapacity:
    value = source.get("value")
    if source.get("requestPolicy") is None and type(value) is str:
        return _plain_capacity(value)
    return DeviceCapacity(decode_quantity(value, "value"), nested(source, "requestPolicy", _policy))


def _counters(source: Json) -> Mapping[str, Quantity]:
    found: dict[str, Quantity] = {}
    for name, entry in mapping(source, "counters").items():
        if entry.__class__ is not dict:
            raise DecodeError(f"counters[{name}]", f"must be an object, is {kind_of(entry)}")
        found[intern(name)] = decode_quantity(entry.get("value"), f"counters[{name}].value")
    return found


def _consumption(source: Json) -> CounterConsumption:
    return CounterConsumption(string(source, "counterSet"), _counters(source), strings(source, "compatibilityGroups"))


def _counter_set(source: Json) -> CounterSet:
    return CounterSet(string(source, "name"), _counters(source))


def decode_taint(source: Json) -> DeviceTaint:
    """A DeviceTaint out of its JSON."""
    return DeviceTaint(string(source, "key"), string(source, "value"), string(source, "effect"), timestamp(source, "timeAdded"))


def _node_selection(source: Json) -> NodeSelection:
    node = optional_string(source, "nodeName")
    selector = nested(source, "nodeSelector", decode_node_selector)
    everywhere = boolean(source, "allNodes")
    if not node and selector is None and not everywhere:
        return NOWHERE_STATED
    return NodeSelection(intern(node) if node else None, selector, everywhere)


_NO_FACTS: Json = {}


_PLAIN_FACTS = frozenset({"name", "attributes", "capacity"})
"""What the devices of most drivers have; the rest costs nothing then."""


def _device(source: Json) -> Device:
    name = string(source, "name")
    facts = optional_mapping(source, "basic") if "basic" in source else source  # v1beta1 keeps them under `basic`
    if facts is None:
        facts = _NO_FACTS
    attributes: dict[str, Attribute] = {}
    for key, entry in mapping(facts, "attributes").items():
        if entry.__class__ is not dict:
            raise DecodeError(f"attributes[{key}]", f"must be an object, is {kind_of(entry)}")
        try:
            if len(entry) == 1:  # nearly always; and nearly always a value that another device has, too
                ((kind, value),) = entry.items()
                attributes[intern(key)] = _KNOWN[kind, value.__class__, value]
                continue
        except (KeyError, TypeError):  # not seen yet, or a list
            pass
        try:
            attributes[intern(key)] = decode_attribute(entry)
        except DecodeError as error:
            raise error.under(f"attributes[{key}]") from None
    capacity: dict[str, DeviceCapacity] = {}
    for key, entry in mapping(facts, "capacity").items():
        if entry.__class__ is not dict:
            raise DecodeError(f"capacity[{key}]", f"must be an object, is {kind_of(entry)}")
        try:
            capacity[intern(key)] = _capacity(entry)
        except DecodeError as error:
            raise error.under(f"capacity[{key}]") from None
    if facts.keys() <= _PLAIN_FACTS:
        return Device(intern(name), attributes, capacity)
    return Device(
        name=intern(name),
        attributes=attributes,
        capacity=capacity,
        consumes_counters=each(facts, "consumesCounters", _consumption) if "consumesCounters" in facts else (),
        node_selection=_node_selection(facts),
        taints=each(facts, "taints", decode_taint) if "taints" in facts else (),
        binds_to_node=boolean(facts, "bindsToNode"),
        binding_conditions=strings(facts, "bindingConditions"),
        binding_failure_conditions=strings(facts, "bindingFailureConditions"),
        allow_multiple_allocations=optional_boolean(facts, "allowMultipleAllocations"),
        node_allocatable_resources=tuple(
            sorted({*mapping(facts, "nodeAllocatableResources"), *mapping(facts, "nodeAllocatableResourceMappings")})
        ),
    )


def decode_slice(item: Json) -> ResourceSlice:
    """A ResourceSlice of any served version."""
    metadata = decode_metadata(item, namespaced=False, writes=True)
    try:
        spec = mapping(item, "spec")
        pool = mapping(spec, "pool")
        return ResourceSlice(
            metadata=metadata,
            driver=intern(string(spec, "driver")),
            pool=intern(string(pool, "name")),
            generation=integer(pool, "generation"),
            slice_count=integer(pool, "resourceSliceCount"),
            node_selection=_node_selection(spec),
            per_device_node_selection=boolean(spec, "perDeviceNodeSelection"),
            devices=each(spec, "devices", _device),
            shared_counters=each(spec, "sharedCounters", _counter_set),
            partition_type_attribute=optional_string(spec, "partitionTypeAttribute"),
            skip_node_operations=strings(spec, "skipNodeOperations"),
        )
    except DecodeError as error:
        raise error.under("spec") from None
