"""More of a fault's key than golden.yaml has, from keys.yaml: objects that may be blamed, or changed as well, and mechanisms that say the
cause too. Each from golden.yaml's own `cause`.

A fault has one entry or several, each of objects and the mechanisms that say the cause of them: without mechanisms golden.yaml's own go
with the objects, without objects the mechanisms go with golden.yaml's own. Objects are named by the roles of the scene:

    DeviceClass {newer.name}     one by kind and name
    like slice                   those that are as it is: slices of its driver with as many devices, nodes that offer as much
    node of slice                the node of a slice, or that a pod is bound to
    slices of node               the slices of a node
    nodes tainted {key}          the nodes that have a taint of that key
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from fault_injection.library.recordings import Recording
from fault_injection.library.roles import Named, filled
from fault_injection.library.strict import Part

from .mechanisms import Mechanism

Object = dict[str, Any]
ObjectKey = tuple[str, str, str]


class Key(Part):
    """`blame`: may be blamed. `change`: may be blamed, and changed (applied, patched) without harm; `delete`: and deleted. `mechanisms`:
    say the cause of these objects."""

    blame: tuple[str, ...] = ()
    change: tuple[str, ...] = ()
    delete: tuple[str, ...] = ()
    mechanisms: tuple[Mechanism, ...] = ()

    @property
    def named(self) -> tuple[str, ...]:
        """All that may be blamed."""
        return (*self.blame, *self.change, *self.delete)


class _Keys(Part):
    faults: dict[str, tuple[Key, ...]]


def _keys() -> dict[str, tuple[Key, ...]]:
    content = yaml.safe_load((Path(__file__).parent / "keys.yaml").read_text(encoding="utf-8"))
    lists = {name: entry if isinstance(entry, list) else [entry] for name, entry in content.items()}
    return _Keys.model_validate_json(json.dumps({"faults": lists})).faults


KEYS = _keys()


def of_fault(name: str) -> tuple[Key, ...]:
    """A fault's, none where golden.yaml is enough."""
    return KEYS.get(name, ())


def objects(entries: Sequence[str], recording: Recording) -> frozenset[ObjectKey]:
    """What entries of a key name in a recording. Raises KeyError for a role that the scene doesn't have."""
    return frozenset(found for entry in entries for found in _named(entry, recording))


def _named(entry: str, recording: Recording) -> Iterator[ObjectKey]:
    kind, _, rest = entry.partition(" ")
    match (kind, *rest.split(" ")):
        case ("like", role):
            model = _item(recording, role)
            yield from (key_of_item(item) for item in recording.items if _alike(item, model))
        case ("node", "of", role):
            yield key("Node", _item(recording, role)["spec"]["nodeName"])
        case ("slices", "of", role):
            name = _item(recording, role)["metadata"]["name"]
            yield from (key_of_item(item) for item in _of_kind(recording, "ResourceSlice") if item["spec"].get("nodeName") == name)
        case ("nodes", "tainted", template):
            wanted = filled(template, recording.roles)
            for item in _of_kind(recording, "Node"):
                if any(taint["key"] == wanted for taint in item["spec"].get("taints") or ()):
                    yield key_of_item(item)
        case _:
            namespace, _, name = filled(rest, recording.roles).rpartition("/")
            yield key(kind, name, namespace)


def _item(recording: Recording, role: str) -> Object:
    """The object of a role. Raises KeyError."""
    of = recording.roles.get(role)
    item = recording.find(of) if isinstance(of, Named) else None
    if item is None:
        raise KeyError(f"the recording has no object of role {role!r}")
    return item


def _of_kind(recording: Recording, kind: str) -> Iterator[Object]:
    return (item for item in recording.items if item.get("kind") == kind)


def _alike(item: Object, model: Object) -> bool:
    if item.get("kind") != model["kind"]:
        return False
    if model["kind"] == "ResourceSlice":
        sizes = [len(each["spec"].get("devices") or ()) for each in (item, model)]
        return item["spec"]["driver"] == model["spec"]["driver"] and sizes[0] == sizes[1]
    offered = [each.get("status", {}).get("allocatable") for each in (item, model)]
    taints = [each["spec"].get("taints") for each in (item, model)]
    return offered[0] == offered[1] and taints[0] == taints[1]


# --- how objects are compared ---------------------------------------------------------------------------------------------------------


def key(kind: str, name: str, namespace: str = "") -> ObjectKey:
    """How objects are compared: kinds in small letters, without a namespace where there is none."""
    return kind.lower(), name, namespace


def key_of(of: Named) -> ObjectKey:
    """The same of a role's object."""
    return key(of.kind, of.name, of.namespace or "")


def key_of_item(item: Object) -> ObjectKey:
    """The same of an object."""
    return key(item["kind"], item["metadata"]["name"], item["metadata"].get("namespace") or "")
