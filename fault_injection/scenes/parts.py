"""The parts of claims and pods: requests, constraints, tolerations. Plain functions that give plain Kubernetes objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Object = dict[str, Any]


def request(
    device_class: str,
    count: int | None = 1,
    *selectors: str,
    name: str = "dev",
    tolerations: Sequence[Object] = (),
    capacity: Mapping[str, str] | None = None,
    admin: bool = False,
) -> Object:
    """A request for devices of a class; without a count for all of them. Selectors are CEL expressions."""
    return {"name": name, "exactly": _exact(device_class, count, selectors, tolerations, capacity, admin)}


def first_of(*choices: Object, name: str = "dev") -> Object:
    """A request that takes the first of several that can be had; each choice is a `request`."""
    return {"name": name, "firstAvailable": [{"name": choice["name"], **choice["exactly"]} for choice in choices]}


def same(attribute: str, *requests: str) -> Object:
    """A constraint: all devices have one value of an attribute."""
    return {"matchAttribute": attribute, **({"requests": list(requests)} if requests else {})}


def distinct(attribute: str, *requests: str) -> Object:
    """A constraint: all devices have different values of an attribute."""
    return {"distinctAttribute": attribute, **({"requests": list(requests)} if requests else {})}


def taint(key: str, value: str = "", effect: str = "NoSchedule") -> Object:
    """Of a node or a device."""
    return {"key": key, **({"value": value} if value else {}), "effect": effect}


def tolerate(key: str = "", value: str = "", effect: str = "") -> Object:
    """Of a pod or a request; without a key, of everything."""
    found: Object = {"operator": "Equal" if value else "Exists"}
    if key:
        found["key"] = key
    if value:
        found["value"] = value
    if effect:
        found["effect"] = effect
    return found


def on_nodes(*expressions: tuple[str, str, Sequence[str]]) -> Object:
    """Node affinity that must hold: (label, operator, values)."""
    terms = [{"key": key, "operator": operator, **({"values": list(values)} if values else {})} for key, operator, values in expressions]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": terms}]}}}


def _exact(
    device_class: str,
    count: int | None,
    selectors: Sequence[str],
    tolerations: Sequence[Object],
    capacity: Mapping[str, str] | None,
    admin: bool,
) -> Object:
    found: Object = {"deviceClassName": device_class, "allocationMode": "All" if count is None else "ExactCount"}
    if count is not None:
        found["count"] = count
    if selectors:
        found["selectors"] = [{"cel": {"expression": expression}} for expression in selectors]
    if tolerations:
        found["tolerations"] = list(tolerations)
    if capacity:
        found["capacity"] = {"requests": dict(capacity)}
    if admin:
        found["adminAccess"] = True
    return found
