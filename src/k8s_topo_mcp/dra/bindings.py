"""Attributes of which it is known which devices will share their value, but not the value: those of a node that doesn't exist yet.

Karpenter knows them too (pkg/scheduling/dynamicresources/attributebindings.go and designs/dra-scheduling.md in sigs.k8s.io/karpenter):
bindings are transitive, and two devices match if they are bound. It asks nothing else of them; what is said here of bindings that may turn
out to have one value, or the value of another device, is in `worlds`. Nodes that exist have no bindings.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..objects import Attribute, ResourceSlice
from ..view import derived
from ..view.keeping import make_room
from .outcome import Unknown

NOT_YET = "isn't known before the node is there"
_UNKNOWN = "attributes not known yet"
_KEPT_PER_SLICE = 64

Supposed = tuple[int, str, Attribute, bool]
"""The place of a device in its slice, the name of an attribute and the value that it is given; whether that value is only supposed."""


@dataclass(frozen=True, slots=True)
class Group:
    """Devices of a node that will have one value of an attribute: each by the number of its slice and its place there. `value` is what one
    of them publishes. `distinct`: no other group of the attribute has the same."""

    attribute: str
    members: tuple[tuple[int, int], ...]
    value: Attribute | None
    distinct: bool


def qualified(attribute: str, driver: str) -> str:
    """The full name of an attribute: a bare one is of the driver's own domain."""
    return attribute if "/" in attribute else f"{driver}/{attribute}"


def unknown_attributes(entry: ResourceSlice) -> tuple[frozenset[str], ...]:
    """Per device of a slice the attributes that it will have with a value that isn't known yet, by their full names."""
    return derived(entry, _UNKNOWN, lambda: _unknown_attributes(entry))


def _unknown_attributes(entry: ResourceSlice) -> tuple[frozenset[str], ...]:
    found: list[set[str]] = [set() for _ in entry.devices]
    for binding in entry.bindings:
        name = qualified(binding.attribute, entry.driver)
        for place, device in enumerate(entry.devices):
            if device.name in binding.devices and device.attribute(name, entry.driver) is None:
                found[place].add(name)
    return tuple(map(frozenset, found))


def groups_of(slices: Sequence[ResourceSlice]) -> tuple[list[Group], dict[str, Unknown]]:
    """What the slices of one node say, bindings with a device or a name in common taken together; and by attribute, that they contradict
    each other or the devices (such a group is left out)."""
    groups = _Joined()
    for number, entry in enumerate(slices):
        for index, binding in enumerate(entry.bindings):
            name = qualified(binding.attribute, entry.driver)
            token: _Token = (name, "named", binding.name) if binding.name else (name, number, index)
            groups.add(token, binding.distinct)
            for place, device in enumerate(entry.devices):
                if device.name in binding.devices:
                    groups.join(token, (name, number, place))
    found: list[Group] = []
    contradictions: dict[str, Unknown] = {}
    for name, bindings, members, distinct in groups.all():
        if distinct and bindings > 1:
            contradictions[name] = Unknown(f"the bindings of {name} contradict each other: a device is in two whose values are to differ")
            continue
        published = (slices[number].devices[place].attribute(name, slices[number].driver) for number, place in members)
        values = {value for value in published if value is not None}
        if len(values) > 1:
            contradictions[name] = Unknown(f"the bindings of {name} contradict the devices: some that are bound have different values")
            continue
        found.append(Group(name, members, next(iter(values), None), distinct))
    return found, contradictions


def with_values(entry: ResourceSlice, values: Sequence[Supposed]) -> ResourceSlice:
    """The slice as if its devices published these values. What a selector can know of it stays what it was."""
    kept: dict[Hashable, ResourceSlice] = derived(entry, "with values", dict[Hashable, ResourceSlice])
    key = tuple(values)
    found = kept.get(key)
    if found is None:
        found = _with_values(entry, key)
        kept[key] = found
        make_room(kept, _KEPT_PER_SLICE)
    return found


def _with_values(entry: ResourceSlice, values: Sequence[Supposed]) -> ResourceSlice:
    given: dict[int, dict[str, Attribute]] = {}
    unknown = list(unknown_attributes(entry))
    for place, name, value, supposed in values:
        if entry.devices[place].attribute(name, entry.driver) is None:
            given.setdefault(place, {})[name] = value
        if not supposed:
            unknown[place] -= {name}
    devices = tuple(
        replace(device, attributes={**device.attributes, **given[place]}) if place in given else device
        for place, device in enumerate(entry.devices)
    )
    found = replace(entry, devices=devices)
    known = tuple(unknown)
    derived(found, _UNKNOWN, lambda: known)
    return found


_Token = tuple[str, int, int] | tuple[str, str, str]
"""A binding: the attribute, and its slice's number and its own, or "named" and its name."""


class _Joined:
    """Bindings and devices, those that hang together in one set."""

    def __init__(self) -> None:
        self._above: dict[Hashable, Hashable] = {}
        self._distinct: dict[_Token, bool] = {}
        self._devices: dict[tuple[str, int, int], None] = {}

    def add(self, token: _Token, distinct: bool) -> None:
        self._distinct[token] = self._distinct.get(token, False) or distinct

    def join(self, token: _Token, device: tuple[str, int, int]) -> None:
        self._devices[device] = None
        one, other = self._top(("binding", token)), self._top(("device", device))
        if one != other:
            self._above[other] = one

    def all(self) -> list[tuple[str, int, tuple[tuple[int, int], ...], bool]]:
        """Attribute, number of bindings, devices, and whether one of the bindings is distinct; sets without devices left out."""
        members: dict[Hashable, list[tuple[str, int, int]]] = {}
        for device in self._devices:
            members.setdefault(self._top(("device", device)), []).append(device)
        tokens: dict[Hashable, list[_Token]] = {}
        for token in self._distinct:
            tokens.setdefault(self._top(("binding", token)), []).append(token)
        return [
            (
                devices[0][0],
                len(tokens[top]),
                tuple((number, place) for _, number, place in devices),
                any(self._distinct[token] for token in tokens[top]),
            )
            for top, devices in members.items()
        ]

    def _top(self, entry: Hashable) -> Hashable:
        while (above := self._above.get(entry)) is not None:
            entry = above
        return entry


def bindings_key(entry: ResourceSlice) -> Hashable:
    """What the bindings of a slice say, by the places of its devices, with the values that these publish: equal keys, equal answers."""
    found: list[Hashable] = []
    for binding in entry.bindings:
        name = qualified(binding.attribute, entry.driver)
        members = tuple(
            (place, device.attribute(name, entry.driver)) for place, device in enumerate(entry.devices) if device.name in binding.devices
        )
        found.append((name, members, binding.name, binding.distinct))
    return tuple(found)


def supposed_in(groups: Mapping[Group, Attribute]) -> dict[int, list[Supposed]]:
    """By the number of the slice what its devices are given, if the groups have these values."""
    found: dict[int, list[Supposed]] = {}
    for group, value in groups.items():
        for number, place in group.members:
            found.setdefault(number, []).append((place, group.attribute, value, group.value is None))
    return found
