"""Remedies that are an edit in place: of a quota, a namespace's labels, a class, a pod group; of what a driver or a kubelet publishes."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable

from k8s_topo_mcp.objects import KINDS, Quantity

from .client import Client, Object
from .told import NotUnderstood, Told, changed

Undo = Callable[[], object]
"""Takes a change back; what it gives means nothing."""

BESIDES = 1000
"""What a raised quota has beside twice of what it had."""
_LABEL = re.compile(r"label namespace (?P<namespace>\S+) with (?P<key>[^\s=,]+)=(?P<value>[^\s,:]+)")
_QUOTA = re.compile(r"free or raise (?P<resources>.+) of ResourceQuota (?P<name>[^\s:]+)")
ALLOCATABLE = "status.allocatable."


def advised(client: Client, told: Told) -> Undo:
    """What an answer tells in words alone. Raises NotUnderstood."""
    if (label := _LABEL.match(told.change)) is not None:
        namespace = client.get("v1", "Namespace", label["namespace"])
        client.patch(namespace, {"metadata": {"labels": {label["key"]: label["value"]}}})
        return lambda: client.patch(namespace, {"metadata": {"labels": {label["key"]: None}}})
    if (quota := _QUOTA.match(told.change)) is not None:
        found = client.get("v1", "ResourceQuota", quota["name"], told.namespace)
        hard = found["spec"]["hard"]
        names = re.split(r", | and ", quota["resources"])
        if any(name not in hard for name in names):
            raise NotUnderstood(f"{told.change!r}, but {told.object} has {', '.join(hard)}")
        raised = {name: raised_from(hard[name]) for name in names}
        client.patch(found, {"spec": {"hard": raised}})
        return lambda: client.patch(found, {"spec": {"hard": hard}})
    raise NotUnderstood(f"{told.change!r} of {told.object} says no edit")


def raised_from(hard: str) -> str:
    """So much of a resource where the answer says no number: enough whether one counts it in pods or in bytes."""
    had = Quantity.parse(hard)
    return str(had + had + Quantity.of(BESIDES))


def allocatable(client: Client, told: Told) -> Undo:
    """A node offers so much of a resource: a kubelet's work, once its device plugin says so."""
    node = client.get("v1", "Node", told.name)
    resource = told.field.removeprefix(ALLOCATABLE)
    client.status(node, {"allocatable": {resource: told.after}})
    return lambda: client.status(node, {"allocatable": {resource: node["status"]["allocatable"].get(resource)}})


def edit(client: Client, told: Told) -> Undo:
    """One field of an object that may be edited, or of each that the answer names."""
    names = [entry.partition(" ")[2] for entry in told.objects] or [f"{told.namespace}/{told.name}" if told.namespace else told.name]
    version = _version(client, told.kind)
    done: list[Object] = []
    for name in names:
        namespace, _, own = name.rpartition("/")
        item = client.get(version, told.kind, own, namespace or "default")
        done.append(copy.deepcopy(item))
        client.replace(changed(item, "", told))

    def undo() -> None:
        for item in done:
            latest = client.get(version, told.kind, item["metadata"]["name"], item["metadata"].get("namespace", "default"))
            client.replace({**item, "metadata": {**item["metadata"], "resourceVersion": latest["metadata"]["resourceVersion"]}})

    return undo


def _version(client: Client, kind: str) -> str:
    served = client.versions()
    for group, known in sorted(KINDS):
        for version in served.get(group, ()) if known == kind else ():
            if client.serves(version, kind):
                return version
    raise NotUnderstood(f"no version of {kind} is served")
