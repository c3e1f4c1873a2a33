"""Shapes: which fields of an object are copied, and what kind of text each of them holds.

A shape is an allow-list: what it doesn't name isn't copied, and a value of another type than the shape says isn't either, so that nothing
rides along inside a field. The role of a text says what a name in it would have to be replaced by (`anonymise.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast

from ...objects import DecodeError
from ...objects.autoscaler_status import written_anew
from ...objects.kueue_assignment import decode_topology_assignment

Json = Mapping[str, Any]

Role = Literal[
    "plain", "term", "name", "uid", "message", "cel", "label", "node", "namespace", "pool", "device", "attribute", "image", "path", "host",
    "holder", "request", "container", "volume", "provider", "handle", "address", "cluster scoped", "identity", "flag", "status",
]  # fmt: skip
"""What a text is. "plain" is vocabulary of Kubernetes, a number, a quantity, a time; "term" the name of a driver or
a device class; "label" and "attribute" are values
whose meaning their key decides; "message" is free text; "holder" a lease's holder ("host_uuid"); "request" may be "request/subrequest";
"flag" is "--name=value"; "status" what Cluster Autoscaler writes of itself."""

Rewrite: TypeAlias = Callable[[Role, str, str], str]
"""(role, key or kind that says more, text) → the text to write."""


@dataclass(frozen=True, slots=True)
class Text:
    """One text, number or boolean. `key` names a sibling field that says more: the kind of a reference, the key of a taint."""

    role: Role = "plain"
    key: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Texts:
    """A list of texts."""

    role: Role = "plain"
    key: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Fields:
    """An object with exactly these fields. `suffixes`: fields by the end of their name. With `others`, any other field that is an object is
    kept as an empty one: that it is there says what kind of thing it is."""

    fields: dict[str, Shape] = field(default_factory=dict[str, "Shape"])
    suffixes: Mapping[str, Shape] = field(default_factory=dict[str, "Shape"])
    others: bool = False


@dataclass(frozen=True, slots=True)
class Items:
    """A list of objects. `worth` drops entries of which nothing but these fields is left."""

    shape: Shape
    worth: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Keyed:
    """An object with any keys (resource names, attribute names), a shape for each value; `key` is the role of the keys."""

    shape: Shape
    key: Role = "plain"


@dataclass(frozen=True, slots=True)
class Labels:
    """An object of texts by label key; with `only`, those keys alone (annotations)."""

    only: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Attributes:
    """Device attributes: by name an object with one of `kinds`, which holds a value or a list of them."""

    kinds: frozenset[str]


@dataclass(frozen=True, slots=True)
class Either:
    """A text, or an object."""

    text: Text
    fields: Fields


@dataclass(frozen=True, slots=True)
class Where:
    """An object that is copied by `then` if `test` holds for it, else by `otherwise`."""

    test: Callable[[Json], object]
    then: Fields
    otherwise: Fields


@dataclass(frozen=True, slots=True)
class Flags:
    """A command line, of which those flags are copied that `keep` gives."""

    keep: Callable[[Sequence[object]], list[str]]


@dataclass(frozen=True, slots=True)
class Variables:
    """An environment, of which those variables are copied that `keep` gives, by name."""

    keep: Callable[[Sequence[object]], Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Domains:
    """A topology assignment of Kueue, written as a list of domains, in which each value stands whole. `form` has the fields of all forms
    that are read."""

    form: Fields


Shape: TypeAlias = Text | Texts | Fields | Items | Keyed | Labels | Attributes | Either | Where | Flags | Variables | Domains
_MISSING: Any = object()


def as_is(role: Role, detail: str, text: str) -> str:
    """The text as it stands; of a status, which is one long text that anybody may have written, only what is read of it."""
    return written_anew(text, str, str) if role == "status" else text


def copied(source: Json, shape: Fields, rewrite: Rewrite = as_is) -> dict[str, Any]:
    """What `shape` lets through of `source`, in the order in which it stands there."""
    found: dict[str, Any] = {}
    for key, value in source.items():
        part = shape.fields.get(key)
        if part is None:
            part = next((one for suffix, one in shape.suffixes.items() if key.endswith(suffix)), None)
        if part is None:
            if shape.others and isinstance(value, dict):
                found[key] = {}
            continue
        kept = _value(value, part, rewrite, source)
        if kept is not _MISSING:
            found[key] = kept
    return found


def _value(value: Any, shape: Shape, rewrite: Rewrite, around: Json) -> Any:
    match shape:
        case Text():
            return _text(value, shape, rewrite, around)
        case Texts():
            if not isinstance(value, list):
                return _MISSING
            detail = _detail(shape.key, shape.detail, around)
            return [
                rewrite(shape.role, detail, entry) if isinstance(entry, str) else entry
                for entry in cast(list[Any], value)
                if entry is None or isinstance(entry, str | int | float)
            ]
        case Fields():
            return copied(cast(Json, value), shape, rewrite) if isinstance(value, dict) else _MISSING
        case Items():
            return _items(value, shape, rewrite, around)
        case Keyed():
            if not isinstance(value, dict):
                return _MISSING
            pairs = {rewrite(shape.key, "", key): _value(entry, shape.shape, rewrite, around) for key, entry in cast(Json, value).items()}
            return {key: entry for key, entry in pairs.items() if entry is not _MISSING}
        case Labels():
            if not isinstance(value, dict):
                return _MISSING
            return {
                key: rewrite("label", key, entry)
                for key, entry in cast(Json, value).items()
                if isinstance(entry, str) and (shape.only is None or key in shape.only)
            }
        case Attributes():
            return _attributes(cast(Json, value), shape.kinds, rewrite) if isinstance(value, dict) else _MISSING
        case Either():
            return _value(value, shape.fields if isinstance(value, dict) else shape.text, rewrite, around)
        case Where():
            if not isinstance(value, dict):
                return _MISSING
            return copied(cast(Json, value), shape.then if shape.test(cast(Json, value)) else shape.otherwise, rewrite)
        case Flags():
            return [rewrite("flag", "", word) for word in shape.keep(cast(list[object], value))] if isinstance(value, list) else _MISSING
        case Variables():
            if not isinstance(value, list):
                return _MISSING
            return [{"name": name, "value": text} for name, text in shape.keep(cast(list[object], value)).items()]
        case Domains():
            return _domains(cast(Json, value), rewrite) if isinstance(value, dict) else _MISSING


def _domains(source: Json, rewrite: Rewrite) -> Any:
    try:
        found = decode_topology_assignment(source)
    except DecodeError:
        return _MISSING
    domains = [
        {"values": [rewrite("label", key, text) for key, text in zip(found.levels, entry.values, strict=True)], "count": entry.count}
        for entry in found.domains
    ]
    return {"levels": list(found.levels), "domains": domains}


def _text(value: Any, shape: Text, rewrite: Rewrite, around: Json) -> Any:
    if isinstance(value, str):
        return rewrite(shape.role, _detail(shape.key, shape.detail, around), value)
    return value if value is None or isinstance(value, int | float) else _MISSING


def _items(value: Any, shape: Items, rewrite: Rewrite, around: Json) -> Any:
    if not isinstance(value, list):
        return _MISSING
    given = [cast(Json, entry) for entry in cast(list[Any], value) if isinstance(entry, dict)]
    entries = [_value(entry, shape.shape, rewrite, around) for entry in given]
    if shape.worth is None:
        return entries
    return [entry for entry in entries if entry.keys() - shape.worth] or _MISSING


def _attributes(source: Json, kinds: frozenset[str], rewrite: Rewrite) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, entry in source.items():
        if isinstance(entry, dict):
            kept: dict[str, Any] = {}
            for kind, value in cast(Json, entry).items():
                if kind in kinds:
                    shape = Texts("attribute", detail=name) if isinstance(value, list) else Text("attribute", detail=name)
                    if (text := _value(value, shape, rewrite, source)) is not _MISSING:
                        kept[kind] = text
            found[name] = kept
    return found


def _detail(key: str, detail: str, around: Json) -> str:
    if not key:
        return detail
    found = around.get(key)
    return found if isinstance(found, str) else detail
