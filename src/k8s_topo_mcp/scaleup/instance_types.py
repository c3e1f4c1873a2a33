"""Instance types that a user describes, since they are no API objects: what Karpenter's provider knows of them, as a file.

    apiVersion: k8s-topo-mcp/v1
    kind: InstanceTypes
    items:
    - name: p5.48xlarge
      shape: p5.48xlarge            # begin with a shape of the catalogue; what follows replaces its parts
      labels: {karpenter.k8s.aws/instance-gpu-count: "8", topology.kubernetes.io/zone: <zone>}     # <…>: not predictable
      allocatable: {cpu: "191", memory: 1938410Mi, pods: "110"}                                    # or capacity, if that is all you know
      taints: [{key: nvidia.com/gpu, effect: NoSchedule}]
      slices: [{driver: gpu.nvidia.com, devices: [{name: gpu-0, attributes: {type: {string: gpu}}}], sharedCounters: []}]
      bindings: [{attribute: resource.kubernetes.io/pcieRoot, devices: [gpu.nvidia.com/gpu-0, dra.net/eth1], distinct: true}]

`slices` and `bindings` are what Karpenter's ResourceSliceTemplates and AttributeBindings are (pkg/cloudprovider/dynamicresources.go):
node-local, a pool of its own for each driver, devices bound that will share a value which isn't known yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..objects import AttributeBinding, Condition, DecodeError, Json, Metadata, Node, ResourceSlice
from ..objects.decoding import boolean, decode_quantities, each, string, string_map, strings
from ..objects.node import HOSTNAME, INSTANCE_TYPE, decode_node_taint
from ..objects.resource_slice import decode_slice
from .shapes import PLENTY, PODS, UnknownShape, shape
from .template import Fact, NodeTemplate

API_VERSION, KIND = "k8s-topo-mcp/v1", "InstanceTypes"
_FIELDS = frozenset("name shape labels allocatable capacity taints slices bindings".split())


def is_instance_types(item: Json) -> bool:
    """Whether a document is of this kind."""
    return item.get("kind") == KIND and item.get("apiVersion") == API_VERSION


def decode_instance_types(item: Json) -> tuple[NodeTemplate, ...]:
    """Every instance type of a document. Raises DecodeError with the path of what is wrong."""
    found = each(item, "items", _instance_type)
    if not found:
        raise DecodeError("items", "must list at least one instance type")
    return found


def _instance_type(source: Json) -> NodeTemplate:
    name = string(source, "name")
    if not name:
        raise DecodeError("name", "is missing; every instance type needs one")
    unknown = sorted(source.keys() - _FIELDS)
    if unknown:
        raise DecodeError(unknown[0], f"is not a field; right would be one of {', '.join(sorted(_FIELDS))}")
    base = _base(source, name)
    origin = f"InstanceTypes file, {name}"
    replaced = {part for part in ("labels", "allocatable", "taints", "slices") if source.get(part) is not None}
    if source.get("capacity") is not None:
        replaced.add("allocatable")
    facts = [fact for fact in base.facts if not any(fact.part.startswith("devices" if part == "slices" else part) for part in replaced)]
    node = base.node
    labels, unpredictable = dict(node.metadata.labels), set(base.unpredictable)
    for key, value in string_map(source, "labels").items():
        if value.startswith("<") and value.endswith(">"):
            unpredictable.add(key)
            labels.pop(key, None)
        else:
            unpredictable.discard(key)
            labels[key] = value
    amounts, unknown_amounts = dict(node.allocatable), set(base.amounts_unknown)
    for part in ("capacity", "allocatable"):
        for resource, amount in decode_quantities(source, part).items():
            amounts[resource] = amount
            unknown_amounts.discard(resource)
    taints = each(source, "taints", decode_node_taint) if source.get("taints") is not None else node.taints
    slices = _slices(source, node.name) if source.get("slices") is not None else base.slices
    slices = _bound(source, slices)
    facts += (Fact(part if part != "slices" else "devices", origin, "declared") for part in sorted(replaced))
    node = replace(node, metadata=replace(node.metadata, labels=labels), allocatable=amounts, capacity=dict(amounts), taints=taints)
    return replace(
        base,
        name=name,
        node=node,
        slices=slices,
        devices_known=base.devices_known or source.get("slices") is not None,
        unpredictable=frozenset(unpredictable),
        facts=tuple(facts),
        amounts_unknown=frozenset(unknown_amounts),
    )


def _base(source: Json, name: str) -> NodeTemplate:
    wanted = string(source, "shape")
    if wanted:
        try:
            return shape(wanted)
        except UnknownShape as error:
            raise DecodeError("shape", str(error)) from None
    node_name = f"new-{name.lower().replace('.', '-').replace('_', '-')}"
    labels = {HOSTNAME: node_name, INSTANCE_TYPE: name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
    amounts = {**PLENTY, "pods": PODS}
    node = Node(
        Metadata(node_name, labels=labels),
        allocatable=amounts,
        capacity=dict(amounts),
        conditions=(Condition("Ready", "True"),),
        architecture="amd64",
        operating_system="linux",
    )
    facts = (Fact("labels", f"InstanceTypes file, {name}", "declared"), Fact("allocatable", "not given, taken as enough", "assumed"))
    zone = frozenset({HOSTNAME, "topology.kubernetes.io/zone"})
    return NodeTemplate(name, node, (), (), False, zone, facts, frozenset(PLENTY))


def _slices(source: Json, node_name: str) -> tuple[ResourceSlice, ...]:
    counts: dict[str, int] = {}
    for driver in each(source, "slices", lambda entry: string(entry, "driver")):
        counts[driver] = counts.get(driver, 0) + 1
    number = iter(range(sum(counts.values())))

    def one(entry: Json) -> ResourceSlice:
        driver = string(entry, "driver")
        if not driver:
            raise DecodeError("driver", "is missing; every slice needs one")
        item = {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceSlice",
            "metadata": {"name": f"{node_name}-{driver}-{next(number)}"},
            "spec": {
                "driver": driver,
                "nodeName": node_name,
                "pool": {"name": node_name, "generation": 1, "resourceSliceCount": counts[driver]},
                "devices": entry.get("devices"),
                "sharedCounters": entry.get("sharedCounters"),
            },
        }
        try:
            return decode_slice(item)
        except DecodeError as error:
            raise DecodeError(error.path.removeprefix("spec."), error.problem) from None

    return each(source, "slices", one)


def _bound(source: Json, slices: tuple[ResourceSlice, ...]) -> tuple[ResourceSlice, ...]:
    known = {f"{entry.driver}/{device.name}": entry for entry in slices for device in entry.devices}
    found: dict[int, list[AttributeBinding]] = {}

    def one(entry: Json) -> None:
        attribute, names, distinct = string(entry, "attribute"), strings(entry, "devices"), boolean(entry, "distinct")
        if not attribute:
            raise DecodeError("attribute", "is missing; a binding is of one attribute")
        by_slice: dict[int, set[str]] = {}
        for index, name in enumerate(names):
            if name not in known:
                raise DecodeError(f"devices[{index}]", f"{name[:80]!r} is no driver/device of these slices")
            by_slice.setdefault(id(known[name]), set()).add(name.partition("/")[2])
        label = f"{attribute} of {', '.join(names)}"
        for key, devices in by_slice.items():
            found.setdefault(key, []).append(AttributeBinding(attribute, frozenset(devices), label, distinct))

    each(source, "bindings", one)
    return tuple(replace(entry, bindings=(*entry.bindings, *found[id(entry)])) if id(entry) in found else entry for entry in slices)


def by_name(templates: tuple[NodeTemplate, ...]) -> Mapping[str, NodeTemplate]:
    """Templates by the name of their instance type."""
    return {template.name: template for template in templates}
