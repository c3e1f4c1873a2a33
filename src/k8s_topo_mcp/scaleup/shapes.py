"""The catalogue of node shapes, and a template for any of them by its name.

`node-shapes.json` is package data and read here alone. It says of each machine what is in it and where that was seen; what no source says
is null. Nothing is made up for a null: devices that share a root of unknown name are bound to each other, amounts that nobody states don't
limit, labels whose value a cloud chooses are unpredictable. A shape that no name fits gives one error with the nearest names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any, cast

from ..objects import AttributeBinding, Condition, Metadata, Node, Quantity, ResourceSlice, Taint
from ..objects.node import HOSTNAME
from ..objects.resource_slice import decode_slice
from .drivers import Later, Object, Open, Published, in_slices, is_whole, publish
from .template import Confidence, Fact, NodeTemplate

PLENTY: Mapping[str, Quantity] = {"cpu": Quantity.parse("100k"), "memory": Quantity.parse("1Pi")}
"""What a node has of a resource of which nobody says how much it has."""
PODS = Quantity.parse("110")
"""The kubelet's default (maxPods)."""
_NOT_SURE = re.compile(r"assum|deriv|mock|unknown|not read|not verified|inferred", re.IGNORECASE)
_PLUGIN = {"gpu.nvidia.com": "nvidia.com/gpu", "gpu.amd.com": "amd.com/gpu", "tpu.google.com": "google.com/tpu",
           "neuron.aws.com": "aws.amazon.com/neuron"}  # fmt: skip
"""Extended resources of the device plugins for the same devices."""


class UnknownShape(ValueError):
    """No shape of the catalogue has that name."""


@cache
def catalogue() -> Mapping[str, Any]:
    """The whole file: products, mig (tables of partitions), shapes, domains, kueueLevels, sources."""
    return json.loads(files("k8s_topo_mcp.scaleup").joinpath("node-shapes.json").read_text(encoding="utf-8"))


def names() -> tuple[str, ...]:
    """Every shape's name, in the catalogue's order."""
    return tuple(catalogue()["shapes"])


def partitions(product: str) -> Mapping[str, Any] | None:
    """The table of MIG partitions of a product; None where there is none, or where it lacks what the driver publishes."""
    table = catalogue()["mig"].get(catalogue()["products"][product].get("mig") or "")
    return table if table is not None and is_whole(table) else None


def find_name(name: str) -> str | None:
    """The shape that is meant: letter case and a cloud's prefix don't matter. None where there is none."""
    known = {entry.lower(): entry for entry in names()}
    wanted = name.strip().lower()
    return known.get(wanted) or known.get(f"onprem-{wanted}")


def not_known(name: str) -> UnknownShape:
    """The error for a name that no shape has."""
    lowered = {entry.lower(): entry for entry in names()}
    near = [lowered[entry] for entry in get_close_matches(name.lower(), lowered, 3, 0.5)]
    if not near and len(name.strip()) > 1:  # a product, perhaps
        shapes: Mapping[str, Any] = catalogue()["shapes"]
        near = [entry for entry in names() if name.strip().lower() in f"{entry} {shapes[entry]['product']}".lower()][:3]
    hint = f"nearest: {', '.join(near)}" if near else f"such as {', '.join(names()[:3])}"
    return UnknownShape(f"no node shape {name[:80]!r} among the {len(names())} of the catalogue; {hint}")


def shape(name: str, *, divisible: bool = False, plugin: bool = False) -> NodeTemplate:
    """
    One node of a shape, with what its drivers would publish.

    Parameters
    ----------
    divisible
        NVIDIA GPUs can be divided (the driver's gate DynamicMIG): partitions and counters are published too.
    plugin
        Accelerators are given out by a device plugin: as an extended resource of the node, not in slices.

    Raises
    ------
    UnknownShape
        No shape of that name; or no table of partitions for its product.
    """
    found = find_name(name)
    if found is None:
        raise not_known(name)
    known: Mapping[str, Any] = catalogue()["shapes"][found]
    table = partitions(known["product"]) if divisible else None
    if divisible and table is None:
        raise UnknownShape(f"shape {found}: no complete table of MIG partitions for {known['product']}; leave divisible out")
    node_name = "new-" + re.sub(r"[^a-z0-9-]+", "-", found.lower()).strip("-")
    slices, said = _slices(known, node_name, table, plugin)
    node, facts, unknown = _node(known, found, node_name, plugin)
    whole = known["gpus"] is not None or plugin
    if not whole:
        said = [Fact("devices", f"catalogue, {found}: {known['acceleratorCount']} accelerators, not known one by one", "assumed")]
        slices = ()
    return NodeTemplate(
        found,
        node,
        slices,
        devices_known=whole,
        unpredictable=frozenset(_unpredictable(known)),
        facts=(*facts, *said),
        amounts_unknown=unknown,
    )


def _confidence(known: Mapping[str, Any]) -> Confidence:
    return "assumed" if _NOT_SURE.search(known["confidence"]) else "catalogue"


def _labels(known: Mapping[str, Any]) -> dict[str, str]:
    return dict(cast(Mapping[str, str], known["labels"] or {}))


def _unpredictable(known: Mapping[str, Any]) -> Iterable[str]:
    yield from (key for key, value in _labels(known).items() if value.startswith("<"))
    yield from known["domainLabels"] or ()
    yield HOSTNAME
    yield "topology.kubernetes.io/zone"


def _node(known: Mapping[str, Any], name: str, node_name: str, plugin: bool) -> tuple[Node, list[Fact], frozenset[str]]:
    source = f"catalogue, {name}"
    labels = {key: value for key, value in _labels(known).items() if not value.startswith("<")}
    labels.setdefault("kubernetes.io/os", "linux")
    labels.setdefault("kubernetes.io/arch", "amd64")
    stated: Mapping[str, str] = known.get("allocatable") or {}
    machine = {"cpu": known["vcpu"], "memory": None if known["memoryMi"] is None else f"{known['memoryMi']}Mi"}
    allocatable: dict[str, Quantity] = {}
    facts = [Fact("labels", source, "catalogue"), Fact("taints", source, "catalogue")]
    unknown: set[str] = set()
    for resource, amount in machine.items():
        if resource in stated:
            allocatable[resource] = Quantity.parse(stated[resource])
            facts.append(Fact(f"allocatable {resource}", source, "catalogue"))
        elif amount is not None:
            allocatable[resource] = Quantity.parse(amount)
            facts.append(Fact(f"allocatable {resource}", f"{source}: what the machine has; what is reserved on it isn't known", "assumed"))
        else:
            allocatable[resource] = PLENTY[resource]
            unknown.add(resource)
            facts.append(Fact(f"allocatable {resource}", f"{source}: not known, taken as enough", "assumed"))
    allocatable["pods"] = PODS
    facts.append(Fact("allocatable pods", "the kubelet's default", "assumed"))
    if plugin:
        for driver in known["drivers"]:
            if driver in _PLUGIN:
                allocatable[_PLUGIN[driver]] = Quantity.parse(known["acceleratorCount"])
                facts.append(Fact(f"allocatable {_PLUGIN[driver]}", source, _confidence(known)))
    taints = tuple(Taint(entry["key"], entry.get("value", ""), entry["effect"]) for entry in known["taints"] or ())
    node = Node(
        Metadata(node_name, labels={**labels, HOSTNAME: node_name}),
        taints=taints,
        allocatable=allocatable,
        capacity=dict(allocatable),
        conditions=(Condition("Ready", "True"),),
        architecture=labels["kubernetes.io/arch"],
        operating_system=labels["kubernetes.io/os"],
    )
    return node, facts, frozenset(unknown)


def _slices(
    known: Mapping[str, Any], node_name: str, table: Mapping[str, Any] | None, plugin: bool
) -> tuple[tuple[ResourceSlice, ...], list[Fact]]:
    product: Mapping[str, Any] = catalogue()["products"][known["product"]]
    name = next(entry for entry, value in catalogue()["shapes"].items() if value is known)
    found: list[ResourceSlice] = []
    facts: list[Fact] = []
    for published in publish(known, product, table, Open()):
        if plugin and published.driver in _PLUGIN:
            continue
        found += slices_of(published, node_name)
        facts.append(Fact(f"devices of {published.driver}", f"catalogue, {name}: {known['confidence']}", _confidence(known)))
        if published.driver == "gpu.nvidia.com" and table is None and not product.get("memory"):
            how = "as its largest partition has" if product.get("memoryDynamicMig") else "not known, so none is given"
            facts.append(Fact("memory of the devices", f"catalogue, {product['productName']}: {how}", "assumed"))
    return tuple(found), facts


def slices_of(published: Published, node_name: str) -> tuple[ResourceSlice, ...]:
    """What a driver publishes as whole pools of a node to come: values that aren't known yet as bindings."""
    parts = in_slices(published)
    found: list[ResourceSlice] = []
    for number, part in enumerate(parts):
        plain, bindings = _without_later(cast(Sequence[Object], part.get("devices") or ()))
        item = {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceSlice",
            "metadata": {"name": f"{node_name}-{published.driver}-{number}"},
            "spec": {
                **part,
                "driver": published.driver,
                "nodeName": node_name,
                "pool": {"name": node_name, "generation": 1, "resourceSliceCount": len(parts)},
                **({"devices": plain} if plain else {}),
            },
        }
        found.append(_bound(decode_slice(item), bindings))
    return tuple(found)


def _bound(entry: ResourceSlice, bindings: tuple[AttributeBinding, ...]) -> ResourceSlice:
    return replace(entry, bindings=bindings) if bindings else entry


def _without_later(devices: Sequence[Object]) -> tuple[list[Object], tuple[AttributeBinding, ...]]:
    """Devices with what is known of them, and a binding for what isn't: one for all devices that will have the same value."""
    plain: list[Object] = []
    later: dict[tuple[str, str, bool], set[str]] = {}
    for entry in devices:
        attributes: Mapping[str, Any] = entry["attributes"]
        for key, value in attributes.items():
            if isinstance(value, Later):
                alone = value.name or f"{key} of {entry['name']}"
                later.setdefault((key, alone, value.distinct), set()).add(entry["name"])
        plain.append({**entry, "attributes": {key: value for key, value in attributes.items() if not isinstance(value, Later)}})
    shared = {value.name for entry in devices for value in entry["attributes"].values() if isinstance(value, Later)}
    bindings = tuple(
        AttributeBinding(key, frozenset(members), name if name in shared else "", distinct)
        for (key, name, distinct), members in sorted(later.items())
    )
    return plain, bindings
