"""A golden file's changes, carried out: on the objects of a recording, with what controllers would make of them, or at an API server.

Claims and templates can't be edited and a pod's spec hardly: these are deleted and made again under their name, and after a template its
pod too.
"""

from __future__ import annotations

import copy
import json
import uuid
from collections.abc import Sequence
from typing import Any

from fault_injection.lab.anew import pods_anew, remake, remove
from k8s_topo_mcp.diagnosis.fields import steps

from .golden import Change
from .places import Place
from .roles import Named, Roles, filled, filled_in

Object = dict[str, Any]
POD_CLAIM = "resource.kubernetes.io/pod-claim-name"
ANEW = ("ResourceClaim", "ResourceClaimTemplate", "Pod")
"""Kinds that are deleted and made again when their spec changes."""


class BadChange(Exception):
    """A change of a golden file can't be carried out: it names a role or a path that isn't there."""


def edited(item: Object, change: Change, roles: Roles) -> Object:
    """An object with a change in it. Raises BadChange for a path that doesn't lead anywhere."""
    made = copy.deepcopy(item)
    for path, value in change.set.items():
        way = steps(filled(path, roles))
        holder = _holder(made, way, path, make=True)
        new: Any = filled_in(value, roles)
        last: Any = way[-1]
        if isinstance(holder, list) and last == len(holder):
            holder.append(new)
        else:
            holder[last] = new
    for path in change.unset:
        way = steps(filled(path, roles))
        holder = _holder(made, way, path, make=False)
        try:
            del holder[way[-1]]
        except (KeyError, IndexError):
            raise BadChange(f"{change.of}: there is no {path} to take away") from None
    return made


def _holder(item: Object, way: Sequence[str | int], path: str, make: bool) -> Any:
    holder: Any = item
    for step in way[:-1]:
        try:
            holder = holder.setdefault(step, {}) if make and isinstance(holder, dict) else holder[step]
        except (KeyError, IndexError, TypeError, AttributeError):
            raise BadChange(f"{path} leads nowhere in {item['kind']} {item['metadata']['name']}") from None
    return holder


def named(change: Change, roles: Roles) -> Named:
    """The object of a change. Raises BadChange."""
    of = roles.get(change.of or "")
    if not isinstance(of, Named):
        raise BadChange(f"a change is of role {change.of!r}, which is no object of the scene; it has {', '.join(sorted(roles))}")
    return of


# --- on a recording ------------------------------------------------------------------------------------------------------------------


def on_recording(items: Sequence[Object], changes: Sequence[Change], roles: Roles) -> list[Object]:
    """The objects of a recording after the changes, and after the controllers of claims have seen them."""
    found = [as_v1(copy.deepcopy(item)) for item in items]
    for change in changes:
        if change.create is not None:
            made = filled_in(change.create, roles)
            made["metadata"].setdefault("uid", str(uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(made, sort_keys=True))))
            found.append(made)
            continue
        of = named(change, roles)
        place = next((number for number, item in enumerate(found) if _is(item, of)), None)
        if place is None:
            raise BadChange(f"{of.ref} isn't in the recording")
        if change.delete:
            _delete(found, found.pop(place))
            continue
        item = edited(found[place], change, roles)
        if of.kind == "ResourceClaim":
            item.pop("status", None)
        found[place] = item
        if of.kind == "ResourceClaimTemplate":
            _forget_generated(found, item)
    _generate(found)
    return found


def as_v1(item: Object) -> Object:
    """An object of resource.k8s.io/v1beta1 or v1beta2 as v1 writes it: there a request has a level more, a device one less."""
    version = item.get("apiVersion")
    if version not in ("resource.k8s.io/v1beta1", "resource.k8s.io/v1beta2"):
        return item
    item["apiVersion"] = "resource.k8s.io/v1"
    if version.endswith("v1beta2"):
        return item
    spec = item.get("spec") or {}
    inner = spec.get("spec") if item["kind"] == "ResourceClaimTemplate" else spec
    for request in ((inner or {}).get("devices") or {}).get("requests") or () if item["kind"] != "ResourceSlice" else ():
        if "firstAvailable" not in request:
            request["exactly"] = {key: request.pop(key) for key in list(request) if key != "name"}
    if item["kind"] == "ResourceSlice":
        for device in spec.get("devices") or ():
            device.update(device.pop("basic", {}))
    return item


def _is(item: Object, of: Named) -> bool:
    metadata = item.get("metadata") or {}
    return item.get("kind") == of.kind and metadata.get("name") == of.name and metadata.get("namespace") == of.namespace


def _delete(items: list[Object], gone: Object) -> None:
    """What follows from an object's end: its own claims go, others lose their reservation, and with the last one their devices."""
    uid = gone["metadata"].get("uid")
    items[:] = [
        item for item in items if not any(owner.get("uid") == uid for owner in (item.get("metadata") or {}).get("ownerReferences") or ())
    ]
    for item in items:
        status = item.get("status") or {}
        if item.get("kind") != "ResourceClaim" or not status.get("reservedFor"):
            continue
        left = [entry for entry in status["reservedFor"] if entry.get("uid") != uid]
        if not left:
            item["status"] = {}
        elif len(left) < len(status["reservedFor"]):
            status["reservedFor"] = left


def _forget_generated(items: list[Object], template: Object) -> None:
    """Claims that were generated from a template go with the pods that wait for them; those pods are made again without."""
    for pod in [item for item in items if item.get("kind") == "Pod" and not item["spec"].get("nodeName")]:
        entries = {
            entry["name"]
            for entry in pod["spec"].get("resourceClaims") or ()
            if entry.get("resourceClaimTemplateName") == template["metadata"]["name"]
        }
        if entries and pod["metadata"].get("namespace") == template["metadata"].get("namespace"):
            statuses = (pod.get("status") or {}).get("resourceClaimStatuses") or []
            names = {entry.get("resourceClaimName") for entry in statuses if entry["name"] in entries}
            pod["status"]["resourceClaimStatuses"] = [entry for entry in statuses if entry["name"] not in entries]
            items[:] = [item for item in items if item.get("kind") != "ResourceClaim" or item["metadata"]["name"] not in names]


def _generate(items: list[Object]) -> None:
    """The claims that the claim controller makes for pods that wait."""
    templates = {
        (item["metadata"].get("namespace"), item["metadata"]["name"]): item for item in items if item.get("kind") == "ResourceClaimTemplate"
    }
    for pod in [item for item in items if item.get("kind") == "Pod" and not item["spec"].get("nodeName")]:
        metadata, status = pod["metadata"], pod.setdefault("status", {})
        known = {entry["name"] for entry in status.get("resourceClaimStatuses") or ()}
        for entry in pod["spec"].get("resourceClaims") or ():
            template = templates.get((metadata.get("namespace"), entry.get("resourceClaimTemplateName")))
            if template is None or entry["name"] in known:
                continue
            name = f"{metadata['name']}-{entry['name']}-new"
            owner = {"apiVersion": "v1", "kind": "Pod", "name": metadata["name"], "uid": metadata["uid"], "controller": True}
            own = {"name": name, "namespace": metadata.get("namespace"), "uid": str(uuid.uuid5(uuid.NAMESPACE_OID, name))}
            own |= {"annotations": {POD_CLAIM: entry["name"]}, "ownerReferences": [owner]}
            claim = {
                "apiVersion": template["apiVersion"],
                "kind": "ResourceClaim",
                "metadata": own,
                "spec": copy.deepcopy(template["spec"]["spec"]),
            }
            items.append(claim)
            status.setdefault("resourceClaimStatuses", []).append({"name": entry["name"], "resourceClaimName": name})


# --- at an API server ----------------------------------------------------------------------------------------------------------------


def at_place(place: Place, changes: Sequence[Change], roles: Roles) -> None:
    """The same at a real API server; what follows is the controllers' work."""
    for change in changes:
        if change.create is not None:
            place.client.create(filled_in(change.create, roles))
            continue
        of = named(change, roles)
        item = place.client.get(of.api_version, of.kind, of.name, of.namespace or "default")
        if change.delete:
            remove(place.client, place.wait, item)
            continue
        put(place, item, edited(item, change, roles))


def put(place: Place, item: Object, made: Object) -> None:
    """Make an object that is there what it is to be; what can't be edited is made again. Raises LabError, ApiError."""
    of = Named.of(item)
    if of.kind in ANEW and made["spec"] != item["spec"]:
        remake(place.client, place.wait, item, made)
        if of.kind == "ResourceClaimTemplate":
            pods_anew(place.client, place.wait, of.name, of.namespace)
        return
    if made.get("status") != item.get("status"):
        place.client.status(item, made.get("status") or {})
    if {**made, "status": None} != {**item, "status": None}:
        latest = place.client.get(of.api_version, of.kind, of.name, of.namespace or "default")
        made["metadata"]["resourceVersion"] = latest["metadata"]["resourceVersion"]
        place.client.replace(made)
