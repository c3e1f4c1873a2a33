"""What the published facts don't allow to conclude, for the devices of one node: the traps of joining drivers.

Rule: a `matchAttribute` needs the same name and type on every device; a device without the attribute can't satisfy it. Absent is not
different (hardware-facts.md §0.1–0.5, §2.13).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .hardware import PlacedDevice
from .joins import NUMA_NODE, published


def cautions(devices: Iterable[PlacedDevice]) -> tuple[str, ...]:
    """Sentences, most useful first; none when GPUs and NICs publish everything and share roots."""
    placed = [device for device in devices if device.kind.role in ("accelerator", "device", "nic")]
    accelerators = [device for device in placed if device.kind.is_accelerator]
    nics = [device for device in placed if device.kind.role == "nic"]
    return (*_notes(accelerators), *_numa(placed), *_roots(placed, accelerators, nics), *_links(accelerators))


def _notes(accelerators: Sequence[PlacedDevice]) -> Iterable[str]:
    for driver in dict.fromkeys(device.kind.driver for device in accelerators):
        note = published(driver).note
        if note:
            yield f"{driver}: {note}"


def _numa(devices: Sequence[PlacedDevice]) -> Iterable[str]:
    absent = [device for device in devices if device.spot.numa is None]
    if absent:
        yield f"NUMA unknown (not published) for {_whose(absent)}: a match on numaNode can't hold there; absent is not different"
    renamed: dict[str, set[str]] = {}
    for device in devices:
        name = device.spot.numa_name
        if device.spot.numa is not None and name != NUMA_NODE:
            renamed.setdefault(device.kind.driver, set()).add(name if "/" in name else f"{device.kind.driver}/{name}")
    for driver, names in sorted(renamed.items()):
        yield f"{driver} publishes NUMA as {', '.join(sorted(names))}: it can't match {NUMA_NODE} of other drivers"


def _roots(devices: Sequence[PlacedDevice], accelerators: Sequence[PlacedDevice], nics: Sequence[PlacedDevice]) -> Iterable[str]:
    absent = [device for device in devices if device.spot.roots is None]
    if absent:
        yield f"pcieRoot unknown (not published) for {_whose(absent)}"
    ours = {root for device in accelerators for root in device.spot.roots or ()}
    theirs = {root for device in nics for root in device.spot.roots or ()}
    if len(accelerators) > 1 and len(ours | theirs) == 1 and not absent:
        yield f"all devices share root {next(iter(ours | theirs))}: a match on pcieRoot always holds and says nothing"
    elif ours and theirs and not ours & theirs:
        yield "accelerators and NICs have no root in common: a match on pcieRoot can't pair them, numaNode may"
    elif theirs and ours - theirs:
        without = sum(1 for device in accelerators if device.spot.root in ours - theirs)
        yield f"{without} of {len(accelerators)} accelerators have no NIC on their root"


def _links(accelerators: Sequence[PlacedDevice]) -> Iterable[str]:
    if len(accelerators) > 1:
        yield "links between accelerators (NVLink, XGMI, ICI): no driver publishes them"


def _whose(devices: Sequence[PlacedDevice]) -> str:
    counts: dict[str, int] = {}
    for device in devices:
        counts[device.kind.label] = counts.get(device.kind.label, 0) + 1
    return ", ".join(f"{count} {label}" for label, count in counts.items())
