"""What the API server demands of the values of claims, templates and device classes: a manifest that it refuses gets no verdict.

Source: k8s.io/kubernetes pkg/apis/resource/validation (1.37) with the limits of k8s.io/api/resource/v1. All releases from 1.34 on refuse
what is refused here. Not checked: that a derived attribute is used (its gate decides whether the field is kept at all), the size of opaque
parameters, labels and annotations. Each function raises DecodeError with path and what would be right.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..objects import DecodeError, Json
from ..objects.decoding import integer, kind_of, mapping, optional_mapping, sequence, string
from .manifest_names import (
    check_attribute,
    check_choice,
    check_driver,
    check_label,
    check_subdomain,
    is_label_value,
    is_qualified,
    nearest,
    quote,
)
from .pod_rules import is_extended_resource

MODES = ("ExactCount", "All")
MAX_ENTRIES, MAX_ALTERNATIVES, MAX_EXPRESSION = 32, 8, 10 * 1024
_FLAT = ("deviceClassName", "selectors", "allocationMode", "count", "adminAccess", "tolerations", "capacity", "derivedAttributes")
_EFFECTS = ("NoSchedule", "NoExecute", "None")


def check_claim_spec(spec: Json, path: str, flat: bool) -> None:
    """The spec of a claim. `flat`: v1beta1, where a request has directly what later versions have under `exactly`."""
    devices, path = mapping(spec, "devices"), f"{path}.devices"
    requests = _entries(devices, "requests", path)
    names: dict[str, tuple[str, ...]] = {}
    for request, at in requests:
        _check_request(request, at, flat)
        _once(string(request, "name"), tuple(names), f"{at}.name")
        names[string(request, "name")] = tuple(string(entry, "name") for entry, _ in _entries(request, "firstAvailable", at))
    known = [*names, *(f"{name}/{below}" for name, inside in names.items() for below in inside)]
    for constraint, at in _entries(devices, "constraints", path):
        _check_references(constraint, at, known)
        match, distinct = constraint.get("matchAttribute"), constraint.get("distinctAttribute")
        if match is None and distinct is None:
            raise DecodeError(at, "has neither matchAttribute nor distinctAttribute; give one of them")
        key = "matchAttribute" if match is not None else "distinctAttribute"
        check_attribute(string(constraint, key), f"{at}.{key}")
    for config, at in _entries(devices, "config", path):
        _check_references(config, at, known)
        _check_opaque(config, at)


def check_class_spec(spec: Json, path: str) -> None:
    """The spec of a DeviceClass."""
    _check_selectors(spec, path)
    for config, at in _entries(spec, "config", path):
        _check_opaque(config, at)
    resource = spec.get("extendedResourceName")
    if isinstance(resource, str) and not is_extended_resource(resource):
        raise DecodeError(f"{path}.extendedResourceName", f"{quote(resource)} is no extended resource; right would be DOMAIN/NAME")


def _entries(source: Json, key: str, path: str, most: int = MAX_ENTRIES) -> Sequence[tuple[Json, str]]:
    """The objects of a list, each with its path."""
    items = sequence(source, key)
    if len(items) > most:
        raise DecodeError(f"{path}.{key}", f"has {len(items)} entries; the API takes {most} at most")
    return list(_objects(items, f"{path}.{key}"))


def _objects(items: Sequence[Any], path: str) -> Iterator[tuple[Json, str]]:
    for index, item in enumerate(items):
        if not isinstance(item, dict):
            raise DecodeError(f"{path}[{index}]", f"must be an object, is {kind_of(item)}")
        yield item, f"{path}[{index}]"


def _once(name: str, seen: Sequence[str], path: str) -> None:
    if name in seen:
        raise DecodeError(path, f"{quote(name)} stands there twice; each needs a name of its own")


def _check_request(request: Json, path: str, flat: bool) -> None:
    check_label(string(request, "name"), f"{path}.name")
    alternatives = _entries(request, "firstAvailable", path, MAX_ALTERNATIVES)
    if flat:
        exactly = any(request.get(key) is not None for key in _FLAT) or not alternatives
    else:
        exactly = request.get("exactly") is not None
        if not exactly and not alternatives:
            raise DecodeError(path, "asks for nothing; give either exactly or firstAvailable")
    if exactly and alternatives:
        other = "deviceClassName and what belongs to it" if flat else "exactly"
        raise DecodeError(path, f"has both {other} and firstAvailable; give one of them")
    if exactly:
        _check_exact(request if flat else mapping(request, "exactly"), path if flat else f"{path}.exactly")
    seen: list[str] = []
    for entry, at in alternatives:
        check_label(string(entry, "name"), f"{at}.name")
        _once(string(entry, "name"), seen, f"{at}.name")
        seen.append(string(entry, "name"))
        _check_exact(entry, at)


def _check_exact(request: Json, path: str) -> None:
    name = string(request, "deviceClassName")
    if not name:
        raise DecodeError(f"{path}.deviceClassName", "is missing; give the name of a DeviceClass")
    check_subdomain(name, f"{path}.deviceClassName")
    _check_selectors(request, path)
    mode, count = string(request, "allocationMode") or MODES[0], integer(request, "count")
    check_choice(mode, MODES, f"{path}.allocationMode")
    if mode == "All" and count:
        raise DecodeError(f"{path}.count", f"is {count} beside allocationMode All; leave it out, or give ExactCount")
    if count < 0:
        raise DecodeError(f"{path}.count", f"is {count}; right would be 1 or more")
    for toleration, at in _entries(request, "tolerations", path, 10**6):
        _check_toleration(toleration, at)


def _check_selectors(source: Json, path: str) -> None:
    for selector, at in _entries(source, "selectors", path):
        expression = string(optional_mapping(selector, "cel") or {}, "expression")
        if not expression:
            raise DecodeError(f"{at}.cel.expression", "is missing; a selector is a CEL expression")
        if len(expression.encode()) > MAX_EXPRESSION:
            raise DecodeError(f"{at}.cel.expression", f"is longer than {MAX_EXPRESSION:,} bytes")


def _check_toleration(toleration: Json, path: str) -> None:
    key, value, effect = string(toleration, "key"), string(toleration, "value"), string(toleration, "effect")
    operator = string(toleration, "operator") or "Equal"
    if key and not is_qualified(key):
        raise DecodeError(f"{path}.key", f"{quote(key)} is no taint key; right would be DOMAIN/NAME or NAME")
    check_choice(operator, ("Exists", "Equal"), f"{path}.operator")
    if operator == "Exists" and value:
        raise DecodeError(f"{path}.value", "stands beside operator Exists; leave it out, or give operator Equal")
    if not is_label_value(value):
        raise DecodeError(f"{path}.value", f"{quote(value)} can't be the value of a taint")
    if effect:
        check_choice(effect, _EFFECTS, f"{path}.effect")


def _check_references(source: Json, path: str, known: Sequence[str]) -> None:
    items = sequence(source, "requests")
    if len(items) > MAX_ENTRIES:
        raise DecodeError(f"{path}.requests", f"has {len(items)} entries; the API takes {MAX_ENTRIES} at most")
    for index, name in enumerate(items):
        at = f"{path}.requests[{index}]"
        if not isinstance(name, str):
            raise DecodeError(at, f"must be a string, is {kind_of(name)}")
        if name not in known:
            there = ", ".join(known[:8]) or "none"
            raise DecodeError(at, f"{quote(name)} is no request of this claim; they are {there}{nearest(name, known)}")
        _once(name, items[:index], at)


def _check_opaque(config: Json, path: str) -> None:
    opaque = optional_mapping(config, "opaque")
    if opaque is None:
        raise DecodeError(f"{path}.opaque", "is missing; give driver and parameters")
    check_driver(string(opaque, "driver"), f"{path}.opaque.driver")
    if not isinstance(opaque.get("parameters"), dict):
        raise DecodeError(f"{path}.opaque.parameters", "must be an object; the driver says which")
