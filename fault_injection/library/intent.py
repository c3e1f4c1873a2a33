"""Whether a fix kept what the request was for, looked up in the objects of a cluster in which the pod is bound."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from k8s_topo_mcp.cel import CompileError, Environment, compile_selector
from k8s_topo_mcp.dra.selectors import values_of
from k8s_topo_mcp.objects import Device, Pod, Quantity, ResourceSlice
from k8s_topo_mcp.scheduling.node_info import effective_requests
from k8s_topo_mcp.sources.snapshot import load_text

from .golden import Devices, Intent
from .roles import Named, Roles, filled

Object = dict[str, Any]


def lost(intent: Intent, items: Sequence[Object], pod: Object, roles: Roles) -> list[str]:
    """What of the intent isn't kept, each in words; none if it is. `items`: all objects of the cluster, `pod` one of them, bound."""
    node_name = pod["spec"].get("nodeName")
    if not node_name:
        return [f"Pod {pod['metadata']['name']} isn't bound"]
    found: list[str] = []
    node = next((item for item in items if item["kind"] == "Node" and item["metadata"]["name"] == node_name), None)
    labels: Mapping[str, str] = ((node or {}).get("metadata") or {}).get("labels") or {}
    for name, value in intent.node.items():
        key, wanted = filled(name, roles), filled(value, roles)
        if labels.get(key) != wanted:
            found.append(f"it is bound to {node_name}, whose label {key} is {labels.get(key)!r}, not {wanted!r}")
    for key, amount in intent.requests.items():
        resource, wanted = filled(key, roles), Quantity.parse(filled(amount, roles))
        asked = _requested(pod, resource)
        if asked != wanted:
            found.append(f"it asks for {asked} {resource}, not {wanted}")
    if intent.devices is not None:
        found += _devices(intent.devices, items, pod, roles)
    for role in intent.untouched:
        found += _untouched(role, items, roles)
    return found


def _requested(pod: Object, resource: str) -> Quantity:
    """What the pod asks for in all: what its containers need side by side or one after the other, and its overhead."""
    view = load_text(json.dumps(pod))
    found = view.get(Pod, pod["metadata"]["name"], pod["metadata"].get("namespace") or "")
    return Quantity.of(0) if found is None else effective_requests(found).get(resource, Quantity.of(0))


def _untouched(role: str, items: Sequence[Object], roles: Roles) -> list[str]:
    of = roles[role]
    assert isinstance(of, Named)
    item = next(
        (
            entry
            for entry in items
            if entry["kind"] == of.kind and entry["metadata"]["name"] == of.name and entry["metadata"].get("namespace") == of.namespace
        ),
        None,
    )
    if item is None:
        return [f"{of.ref} is gone"]
    if of.kind == "Pod" and not item["spec"].get("nodeName"):
        return [f"{of.ref} doesn't run any more"]
    return []


def _devices(wanted: Devices, items: Sequence[Object], pod: Object, roles: Roles) -> list[str]:
    """The devices that the pod's claims hold, against those that it is to have."""
    driver = filled(wanted.driver, roles) if wanted.driver else None
    held = [entry for entry in _held(items, pod) if driver in (None, entry["driver"])]
    found = [] if len(held) >= wanted.count else [f"it has {len(held)} devices{f' of {driver}' if driver else ''}, not {wanted.count}"]
    published = _published(items)
    devices = [(entry["driver"], entry["device"], published.get((entry["driver"], entry["pool"], entry["device"]))) for entry in held]
    for expression in wanted.each:
        program = compile_selector(filled(expression, roles), Environment(37))
        if isinstance(program, CompileError):
            raise ValueError(f"intent: {filled(expression, roles)}: {program}")
        failing = [name for driver, name, of in devices if of is None or program.evaluate(values_of(of, driver)) is not True]
        if failing:
            found.append(f"{', '.join(failing[:3])} isn't {filled(expression, roles)}")
    for attribute in (filled(template, roles) for template in wanted.same):
        values = {str(of.attribute(attribute, driver)) if of is not None else "nothing" for driver, _, of in devices}
        if len(values) > 1:
            found.append(f"its devices have {len(values)} values of {attribute}")
    return found


def _held(items: Sequence[Object], pod: Object) -> list[Object]:
    status = pod.get("status") or {}
    generated = {entry["name"]: entry.get("resourceClaimName") for entry in status.get("resourceClaimStatuses") or ()}
    names = {entry.get("resourceClaimName") or generated.get(entry["name"]) for entry in pod["spec"].get("resourceClaims") or ()}
    names.add((status.get("extendedResourceClaimStatus") or {}).get("resourceClaimName"))
    found: list[Object] = []
    for item in items:
        if (
            item["kind"] == "ResourceClaim"
            and item["metadata"]["name"] in names
            and item["metadata"]["namespace"] == pod["metadata"]["namespace"]
        ):
            found += ((item.get("status") or {}).get("allocation") or {}).get("devices", {}).get("results") or ()
    return found


def _published(items: Sequence[Object]) -> dict[tuple[str, str, str], Device]:
    slices = [item for item in items if item["kind"] == "ResourceSlice"]
    view = load_text(json.dumps({"apiVersion": "v1", "kind": "List", "metadata": {}, "items": slices}))
    return {(piece.driver, piece.pool, device.name): device for piece in view.all(ResourceSlice) for device in piece.devices}
