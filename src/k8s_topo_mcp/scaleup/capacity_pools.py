"""Draft: potential capacity as YAML (capacity.k8s.io/v1alpha1, ClusterPotentialInstanceType and ClusterPotentialCapacityPool).

No release serves this group; its form is that of the public draft "Workload Aware-Scheduler Cluster Autoscaling" of early 2026, and may
change. Read of it: spec.capacity, spec.allocatable, spec.labels, spec.taints, spec.constraints [{key, value | placeholder: true}],
status.overheads (taken off capacity where no allocatable is given); of a pool spec.instanceTypeRefs [{name}], spec.limit
{nodes | resources}. A constraint with `placeholder: true` is a label whose value isn't known before the node is there. The draft says
nothing of devices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..objects import Condition, DecodeError, Json, Metadata, Node, ObjectRef, Quantity
from ..objects.decoding import boolean, decode_quantities, each, mapping, nested, optional_integer, string, string_map
from ..objects.meta import decode_metadata
from ..objects.node import HOSTNAME, decode_node_taint
from .node_group import NodeGroup
from .shapes import PLENTY, PODS
from .template import Fact, NodeTemplate

GROUP = "capacity.k8s.io"
TYPE, POOL = "ClusterPotentialInstanceType", "ClusterPotentialCapacityPool"
DRAFT = "draft API capacity.k8s.io"


def is_capacity(item: Json) -> bool:
    """Whether a document is of this group."""
    version = item.get("apiVersion")
    return isinstance(version, str) and version.startswith(f"{GROUP}/") and item.get("kind") in (TYPE, POOL)


def capacity_groups(items: Sequence[Json]) -> tuple[NodeGroup, ...]:
    """The groups in documents of this group: each pool, and each instance type that no pool names. Raises DecodeError."""
    types = {item_name(item): _template(item) for item in items if item.get("kind") == TYPE}
    named: set[str] = set()
    found: list[NodeGroup] = []
    for item in items:
        if item.get("kind") == POOL:
            spec = _spec(item)
            try:
                refs = each(spec, "instanceTypeRefs", lambda entry: string(entry, "name"))
                nodes, limits = nested(spec, "limit", _limit) or (None, {})
            except DecodeError as error:
                raise error.under(f"{POOL} {item_name(item)}: spec") from None
            named.update(refs)
            missing = [name for name in refs if name not in types]
            why = f"{POOL} {item_name(item)} names {', '.join(missing) or 'no instance type'}, of which there is no {TYPE}"
            templates = tuple(types[name] for name in refs if name in types)
            found.append(_group(item_name(item), POOL, templates, nodes, limits, "" if templates else why))
    found += [_group(name, TYPE, (template,), None, {}, "") for name, template in types.items() if name not in named]
    return tuple(found)


def item_name(item: Json) -> str:
    """The name of a document's object. Raises DecodeError where it has none."""
    return decode_metadata(item, namespaced=False).name


def _group(
    name: str, kind: str, templates: tuple[NodeTemplate, ...], nodes: int | None, limits: Mapping[str, Quantity], why: str
) -> NodeGroup:
    return NodeGroup(name, "capacity pool", templates, max_size=nodes, limits=dict(limits), ref=ObjectRef(kind, "", name), why_none=why)


def _spec(item: Json) -> Json:
    try:
        return mapping(item, "spec")
    except DecodeError as error:
        raise error.under(f"{item.get('kind')} {item_name(item)}") from None


def _without(amount: Quantity, less: Quantity) -> Quantity:
    """The difference; nothing where more is taken off than is there (as the kubelet has it: no allocatable below zero)."""
    return max(amount - less, Quantity(0))


def _limit(source: Json) -> tuple[int | None, Mapping[str, Quantity]]:
    return optional_integer(source, "nodes"), decode_quantities(source, "resources")


def _constraint(source: Json) -> tuple[str, str, bool]:
    key = string(source, "key")
    if not key:
        raise DecodeError("key", "is missing; a constraint is about one label")
    return key, string(source, "value"), boolean(source, "placeholder")


def _template(item: Json) -> NodeTemplate:
    name = item_name(item)
    where = f"{TYPE} {name}"
    spec = _spec(item)
    try:
        labels = dict(string_map(spec, "labels"))
        taints = each(spec, "taints", decode_node_taint)
        capacity, allocatable = decode_quantities(spec, "capacity"), decode_quantities(spec, "allocatable")
        constraints = each(spec, "constraints", _constraint)
    except DecodeError as error:
        raise error.under(f"{where}: spec") from None
    try:
        overheads = decode_quantities(mapping(item, "status"), "overheads")
    except DecodeError as error:
        raise error.under(f"{where}: status") from None
    unpredictable = {HOSTNAME}
    for key, value, placeholder in constraints:
        if placeholder:
            unpredictable.add(key)
            labels.pop(key, None)
        elif value:
            labels[key] = value
    source = f"{where} ({DRAFT})"
    facts = [Fact("labels", source, "declared"), Fact("taints", source, "declared")]
    amounts: dict[str, Quantity] = {}
    for resource in sorted({*capacity, *allocatable, *PLENTY, "pods"}):
        if resource in allocatable:
            amounts[resource] = allocatable[resource]
        elif resource in capacity:
            less = overheads.get(resource)
            amounts[resource] = capacity[resource] if less is None else _without(capacity[resource], less)
        else:
            amounts[resource] = PLENTY.get(resource, PODS)
            facts.append(Fact(f"allocatable {resource}", "not given, taken as enough", "assumed"))
    facts.append(Fact("allocatable", source, "declared"))
    facts.append(Fact("devices", f"{DRAFT} says nothing of devices", "assumed"))
    unknown = frozenset(resource for resource in PLENTY if resource not in capacity and resource not in allocatable)
    node_name = f"new-{name}"
    node = Node(
        Metadata(node_name, labels={**labels, HOSTNAME: node_name}),
        taints=taints,
        allocatable=amounts,
        capacity=dict(amounts),
        conditions=(Condition("Ready", "True"),),
        architecture=labels.get("kubernetes.io/arch", ""),
        operating_system=labels.get("kubernetes.io/os", "linux"),
    )
    return NodeTemplate(name, node, (), (), False, frozenset(unpredictable), tuple(facts), unknown)
