"""Objects that are deleted and made again: what they were made of, and that the old one is gone.

Claims, templates and most of a pod's spec can't be edited; what takes their place has their name.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from .client import Client

Object = dict[str, Any]

Wait = Callable[[str, Callable[[], Any], float], Any]
"""`wait(what, until, seconds)` of a lab or another place; raises LabError when time is up."""
GONE = 15.0
"""Seconds in which a deleted object must be gone, finalizers and all."""


def bare(item: Object) -> Object:
    """An object as its author wrote it: without what the API server and the controllers added."""
    metadata = {key: item["metadata"][key] for key in ("name", "namespace", "labels", "annotations") if key in item["metadata"]}
    made = copy.deepcopy({key: value for key, value in item.items() if key != "status"})
    made["metadata"] = metadata
    made.get("spec", {}).pop("priority", None)  # admission's to write, by the class
    return made


def remove(client: Client, wait: Wait, item: Object) -> None:
    """Delete an object, a pod at once, and wait until it isn't there. Raises LabError."""
    client.delete(item, grace=0 if item["kind"] == "Pod" else None)
    wait(f"{item['kind']} {item['metadata']['name']} to be gone", lambda: is_gone(client, item), GONE)


def remake(client: Client, wait: Wait, old: Object, new: Object | None = None) -> Object:
    """Make an object again under its name: as it was, or with the spec of another. Raises LabError and ApiError."""
    remove(client, wait, old)
    return client.create({**bare(old), "spec": bare(new if new is not None else old)["spec"]})


def pods_anew(client: Client, wait: Wait, template: str, namespace: str | None) -> None:
    """Pods that wait with claims from a template: those that nobody owns are made again, the others' owners make new ones. Raises LabError,
    ApiError."""
    for pod in client.list("v1", "Pod", namespace):
        uses = any(entry.get("resourceClaimTemplateName") == template for entry in pod["spec"].get("resourceClaims") or ())
        if uses and not pod["spec"].get("nodeName"):
            if pod["metadata"].get("ownerReferences"):
                remove(client, wait, pod)
            else:
                remake(client, wait, pod)


def is_gone(client: Client, item: Object) -> bool:
    """Whether there is no such object, or another of its name."""
    metadata = item["metadata"]
    found = client.find(item["apiVersion"], item["kind"], metadata["name"], metadata.get("namespace", "default"))
    return found is None or found["metadata"]["uid"] != metadata["uid"]
