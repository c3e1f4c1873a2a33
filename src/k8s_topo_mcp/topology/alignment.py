"""How near the NICs of a node are to its accelerators, by what both publish.

Nearest first: a device group of AWS Neuron (the vendor's own join; root matching isn't right there, hardware-facts.md §2.11), the same
PCIe root, the same NUMA node. Apart only where both publish both places and neither is shared: what isn't published is not different
(§0.1–0.4). A shared root says PIX or PXB, the two can't be told apart; another root on the same NUMA node is NODE or PHB (§10).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from .joins import PCIE_ROOT
from .placed import PlacedDevice

DEVICE_GROUP = "resource.aws.com/devicegroup1_id"
_GROUP_PREFIX = "resource.aws.com/devicegroup"
GROUPED = frozenset({"neuron.aws.com", "dra.net"})
"""Drivers that publish device groups."""

Nearness = Literal["group", "root", "numa", "unknown", "apart"]
NEARNESS: tuple[Nearness, ...] = ("group", "root", "numa", "unknown", "apart")
WORDS: Mapping[Nearness, str] = {
    "group": "in the same device group",
    "root": "on the same root",
    "numa": "on the same NUMA node",
    "unknown": "whose nearness is unknown",
    "apart": "on another NUMA node",
}


@dataclass(frozen=True, slots=True, eq=False)
class Beside:
    """One accelerator: how near its nearest NICs are, which these are, and the attribute that says so ("" where none does). Where the two
    drivers publish NUMA under different names `by` has both: true of the hardware, but no `matchAttribute` can ask for it. `at_least`: they
    may be nearer than that, as not both publish their roots."""

    device: PlacedDevice
    nearness: Nearness
    nics: tuple[PlacedDevice, ...]
    by: str
    at_least: bool = False


def beside(devices: Iterable[PlacedDevice]) -> tuple[Beside, ...]:
    """Each accelerator of a node with its nearest NICs; nothing where there are no NICs. Linear in devices and their nearest NICs."""
    listed = tuple(devices)
    nics = tuple(device for device in listed if device.kind.role == "nic")
    if not nics:
        return ()
    places: dict[object, list[PlacedDevice]] = {}
    for nic in nics:
        for place in (("group", _group(nic)), *(("root", root) for root in nic.spot.roots or ()), ("numa", nic.spot.numa)):
            places.setdefault(place, []).append(nic)
    return tuple(_beside(device, nics, places) for device in listed if device.kind.role == "accelerator")


def _beside(device: PlacedDevice, nics: tuple[PlacedDevice, ...], places: Mapping[object, list[PlacedDevice]]) -> Beside:
    spot = device.spot
    near: Nearness = "apart"
    found: Sequence[PlacedDevice] = ()
    if (group := _group(device)) is not None:
        near, found = "group", places.get(("group", group), ())
    if not found:
        near, found = "root", [nic for root in spot.roots or () for nic in places.get(("root", root), ())]
    if not found and spot.numa is not None:
        near, found = "numa", places.get(("numa", spot.numa), ())
    if not found:
        near, found = "unknown", nics if spot.numa is None else places.get(("numa", None), ())
    if not found:
        # Another NUMA node, so another root too, whoever publishes it.
        near, found = "apart", nics
    at_least = near == "numa" and (spot.roots is None or any(nic.spot.roots is None for nic in found))
    return Beside(device, near, tuple(found), _by(near, device, found[0]), at_least)


def _by(near: Nearness, device: PlacedDevice, nic: PlacedDevice) -> str:
    match near:
        case "group":
            return DEVICE_GROUP
        case "root":
            return PCIE_ROOT
        case "numa":
            names = dict.fromkeys(_qualified(entry) for entry in (device, nic))
            return " = ".join(names)
        case _:
            return ""


def _qualified(device: PlacedDevice) -> str:
    name = device.spot.numa_name
    return name if "/" in name else f"{device.kind.driver}/{name}"


def _group(device: PlacedDevice) -> object:
    found = device.device.attributes.get(DEVICE_GROUP)
    return None if found is None else found.value


def device_groups(device: PlacedDevice) -> dict[str, str]:
    """The device groups that a device of AWS Neuron, or an EFA beside it, is in: those of 1, 4, 8 and 16 devices by their attribute."""
    return {name: str(value) for name, value in device.device.attributes.items() if name.startswith(_GROUP_PREFIX)}


def summary(devices: Sequence[PlacedDevice]) -> str:
    """The alignment of a node in words: "nearest NIC on the same root", "nearest NIC: 4 on the same root, 4 on another NUMA node"; ""
    where there is nothing to align."""
    entries = beside(devices)
    counts: Counter[Nearness] = Counter(entry.nearness for entry in entries)
    words = dict(WORDS)
    if any(entry.at_least for entry in entries):
        words["numa"] += " or nearer"
    ranked: list[tuple[Nearness, int]] = [(near, counts[near]) for near in NEARNESS if counts[near]]
    if not ranked:
        return ""
    if len(ranked) == 1:
        return "nearness of NICs unknown" if ranked[0][0] == "unknown" else f"nearest NIC {words[ranked[0][0]]}"
    return "nearest NIC: " + ", ".join(f"{count} {words[near]}" for near, count in ranked)
