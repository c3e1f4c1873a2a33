"""Which devices are parts of another device: MIG slices of a GPU, the VFIO form of one, whatever shares its counters.

Told by, in this order: an attribute that names the parent (`parentUUID`), a common counter set of which one device takes most (KEP-4815:
the whole consumes all of it), a common PCI address. A part whose whole isn't published (static MIG) stands for itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from k8s_topo_mcp.objects.resource_slice import Device

from .joins import names_of, text_of
from .spots import Spot

Seated = tuple[Device, Spot]
"""A device, and what it is and where it sits."""


def parents(devices: Iterable[Seated]) -> Mapping[str, str]:
    """The name of the whole, for each device of one pool that is a part."""
    listed = tuple(devices)
    sharing = any(device.consumes_counters for device, _ in listed)
    if not sharing and not any(spot.part for _, spot in listed):
        return {}
    by_uuid = {uuid: one for one in listed if not one[1].part and (uuid := text_of(one[0].attributes, names_of(one[1].kind.driver).uuid))}
    by_address = {address: one for one in listed if not one[1].part and (address := _address(one))}
    wholes = _wholes(listed) if sharing else dict[str, Seated]()
    found: dict[str, str] = {}
    for one in listed:
        device, spot = one
        names = names_of(spot.kind.driver)
        whole = by_uuid.get(text_of(device.attributes, names.parent)) if names.parent else None
        if whole is None and device.consumes_counters:
            whole = wholes.get(device.consumes_counters[0].counter_set)
        if whole is None and spot.part:
            whole = by_address.get(_address(one))
        if whole is not None and whole is not one:
            found[device.name] = whole[0].name
    return found


def _address(one: Seated) -> str:
    device, spot = one
    return text_of(device.attributes, names_of(spot.kind.driver).address)


def _wholes(devices: tuple[Seated, ...]) -> Mapping[str, Seated]:
    """Per counter set the one device that takes at least as much of every counter as any other; none where two claim that place."""
    users: dict[str, list[Seated]] = {}
    for one in devices:
        for use in one[0].consumes_counters[:1]:
            users.setdefault(use.counter_set, []).append(one)
    found: dict[str, Seated] = {}
    for name, sharers in users.items():
        if len(sharers) < 2:
            continue
        tops = [one for one in sharers if not one[1].part and all(_covers(one[0], other) for other, _ in sharers)]
        if len(tops) == 1:
            found[name] = tops[0]
    return found


def _covers(whole: Device, part: Device) -> bool:
    taken = whole.consumes_counters[0].counters
    return all(name in taken and amount <= taken[name] for name, amount in part.consumes_counters[0].counters.items())
