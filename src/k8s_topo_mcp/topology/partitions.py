"""Which devices are parts of another device: MIG slices of a GPU, the VFIO form of one, whatever shares its counters.

Told by, in this order: an attribute that names the parent (`parentUUID`), a common counter set of which one device takes most (KEP-4815:
the whole consumes all of it), a common PCI address. A part whose whole isn't published (static MIG) stands for itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from k8s_topo_mcp.objects.resource_slice import Device

from .joins import Spot, names_of, text_of


def parents(spots: Iterable[Spot]) -> Mapping[str, str]:
    """The name of the whole, for each device of one pool that is a part."""
    listed = tuple(spots)
    sharing = any(spot.device.consumes_counters for spot in listed)
    if not sharing and not any(spot.part for spot in listed):
        return {}
    by_uuid = {uuid: spot for spot in listed if not spot.part and (uuid := _read(spot, names_of(spot.kind.driver).uuid))}
    by_address = {address: spot for spot in listed if not spot.part and (address := _read(spot, names_of(spot.kind.driver).address))}
    wholes = _wholes(listed) if sharing else dict[str, Spot]()
    found: dict[str, str] = {}
    for spot in listed:
        names = names_of(spot.kind.driver)
        whole = by_uuid.get(_read(spot, names.parent)) if names.parent else None
        if whole is None and spot.device.consumes_counters:
            whole = wholes.get(spot.device.consumes_counters[0].counter_set)
        if whole is None and spot.part:
            whole = by_address.get(_read(spot, names.address))
        if whole is not None and whole is not spot:
            found[spot.device.name] = whole.device.name
    return found


def _read(spot: Spot, names: tuple[str, ...]) -> str:
    return text_of(spot.device.attributes, names)


def _wholes(spots: tuple[Spot, ...]) -> Mapping[str, Spot]:
    """Per counter set the one device that takes at least as much of every counter as any other; none where two claim that place."""
    users: dict[str, list[Spot]] = {}
    for spot in spots:
        for use in spot.device.consumes_counters[:1]:
            users.setdefault(use.counter_set, []).append(spot)
    found: dict[str, Spot] = {}
    for name, sharers in users.items():
        if len(sharers) < 2:
            continue
        candidates = [spot for spot in sharers if not spot.part]
        tops = [spot for spot in candidates if all(_covers(spot.device, other.device) for other in sharers)]
        if len(tops) == 1:
            found[name] = tops[0]
    return found


def _covers(whole: Device, part: Device) -> bool:
    taken = whole.consumes_counters[0].counters
    return all(name in taken and amount <= taken[name] for name, amount in part.consumes_counters[0].counters.items())
