"""Frames: what the devices of a node are and where they sit, in their order, whoever holds them.

Nodes of one machine model mostly have the same frame (the same object), so what follows from it is worked out once: the counts for each
pattern of free and held devices, the NUMA nodes and roots of the graph. `Layout` is the frame without the names of roots.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from k8s_topo_mcp.objects.record import record

from .joins import Kind, Seat
from .placed import PlacedDevice, State, Tally, total

MAX_COUNTS = 1024
"""So many patterns of states are remembered of one frame."""

Offered = tuple[tuple[str, int], ...]
"""Resources of device plugins, and how many of each."""


@record()
class Layout:
    """The devices of a node in their arrangement, names of devices and roots left out. Nodes that are alike have the same object.

    `key` says it all; `placed` tells for each kind whether its NUMA node and its root are published.
    """

    key: tuple[tuple[object, ...], ...]
    placed: Mapping[Kind, tuple[bool, bool]]


@record()
class Place:
    """A NUMA node or a root in a frame, or the node itself: `name` follows the node's ("/numa/0"). `below` are the places in it, by their
    number, with what published the link; `devices` hang on it directly, by their number."""

    name: str
    type: str
    below: dict[int, str]
    devices: list[int]


@record()
class Counts:
    """The devices of a node by kind and state, and the sum over all accelerators."""

    tallies: Mapping[Kind, Tally]
    accelerators: Tally


class Frame:
    """One frame. `places` are the node itself and what is in it; `linked`: it has several accelerators, `nics`: it has NICs."""

    def __init__(self, seats: Sequence[Seat], parts: Sequence[int]) -> None:
        self._seats = tuple(seats)
        self._parts = tuple(parts)
        self._counts: dict[tuple[State, ...], Counts] = {}
        roles = [seat.kind.role for seat in seats]
        self.linked = roles.count("accelerator") > 1
        self.nics = "nic" in roles
        self.places = _places(seats)
        self.layouts: dict[Offered, Layout] = {}

    def layout(self, offered: Offered) -> Layout:
        """Roots renamed to their order of appearance: machines of one model may name them differently."""
        names: dict[str, int] = {}
        rows: list[tuple[object, ...]] = []
        placed: dict[Kind, tuple[bool, bool]] = {}
        for seat, parts in zip(self._seats, self._parts, strict=True):
            roots = None if seat.roots is None else tuple(names.setdefault(root, len(names)) for root in seat.roots)
            rows.append((seat.kind, seat.numa, roots, parts))
            numa, root = placed.get(seat.kind, (False, False))
            placed[seat.kind] = (numa or seat.numa is not None, root or seat.roots is not None)
        rows.append(("plugin", offered))
        return Layout(tuple(rows), placed)

    def counts(self, devices: Sequence[PlacedDevice]) -> Counts:
        """The counts of the devices of a node that has this frame, in their order."""
        states: tuple[State, ...] = tuple([device.state for device in devices])
        found = self._counts.get(states)
        if found is None:
            if len(self._counts) >= MAX_COUNTS:
                self._counts.clear()
            found = self._counts[states] = _counted(devices)
        return found


def _counted(devices: Sequence[PlacedDevice]) -> Counts:
    """Counts by kind, in the order of the devices."""
    groups: dict[Kind, list[PlacedDevice]] = {}
    for device in devices:
        groups.setdefault(device.kind, []).append(device)
    found: dict[Kind, Tally] = {}
    for each, members in groups.items():
        states: dict[State, int] = {}
        by_numa: dict[int, int] = {}
        by_root: dict[str, int] = {}
        for device in members:
            states[device.state] = states.get(device.state, 0) + 1
            if device.state == "free":
                if device.spot.numa is not None:
                    by_numa[device.spot.numa] = by_numa.get(device.spot.numa, 0) + 1
                root = device.spot.root
                if root is not None:
                    by_root[root] = by_root.get(root, 0) + 1
        found[each] = Tally(len(members), states, by_numa, by_root)
    return Counts(found, total(tally for kind, tally in found.items() if kind.is_accelerator))


def _places(seats: Sequence[Seat]) -> tuple[Place, ...]:
    found = [Place("", "node", {}, [])]
    numbers: dict[str, int] = {}

    def number(name: str, kind: str) -> int:
        if name not in numbers:
            numbers[name] = len(found)
            found.append(Place(name, kind, {}, []))
        return numbers[name]

    for device, seat in enumerate(seats):
        above = 0
        if seat.numa is not None:
            above = number(f"/numa/{seat.numa}", "numa")
            found[0].below.setdefault(above, seat.numa_name)
        for root in seat.roots or ():
            found[above].below.setdefault(number(f"/root/{root}", "root"), "pcieRoot")
        found[above if seat.root is None else numbers[f"/root/{seat.root}"]].devices.append(device)
    return tuple(found)


def frame_of(devices: Sequence[PlacedDevice]) -> Frame:
    """The frame of some devices of a node, made anew."""
    return Frame([device.spot.seat for device in devices], [len(device.parts) for device in devices])


class Frames:
    """The frames of a cluster, and their layouts: what is alike is the same object, also after changes."""

    def __init__(self) -> None:
        self._frames: dict[tuple[tuple[Seat, ...], tuple[int, ...]], Frame] = {}
        self._layouts: dict[tuple[tuple[object, ...], ...], Layout] = {}

    def of(self, devices: Sequence[PlacedDevice]) -> Frame:
        """The frame of a node with these devices."""
        seats = tuple([device.spot.seat for device in devices])
        parts = tuple([len(device.parts) for device in devices])
        frame = self._frames.get((seats, parts))
        if frame is None:
            frame = self._frames[seats, parts] = Frame(seats, parts)
        return frame

    def layout(self, frame: Frame, offered: Offered) -> Layout:
        """The layout of a node that also offers these resources of device plugins."""
        found = frame.layouts.get(offered)
        if found is None:
            made = frame.layout(offered)
            found = frame.layouts[offered] = self._layouts.setdefault(made.key, made)
        return found

    def trim(self, nodes: int) -> None:
        """Frames go when there are far more than so many nodes can have; layouts stay, as nodes that stay have them."""
        if len(self._frames) > 4 * nodes:
            self._frames.clear()
