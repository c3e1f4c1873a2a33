"""Frames: what the devices of a node are and where they sit, in their order, whoever holds them.

Nodes of one machine model mostly have the same frame (the same object), so what follows from it is worked out once: the counts for each
pattern of free and held devices, the NUMA nodes and roots of the graph. `Layout` is the frame without the names of roots.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import TypeVar

from k8s_topo_mcp.objects.record import record

from .columns import Columns
from .joins import Kind
from .placed import State, Tally, total
from .spots import Seating, Spot

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
    number, with the edges to them, which say what published the link; `devices` hang on it directly, by their number."""

    name: str
    type: str
    below: dict[int, dict[str, str]]
    devices: list[int]


@record()
class Link:
    """What hangs on one place, all by edges that say the same: `pick` takes it out of a list of all places and all devices behind them."""

    place: int
    pick: Callable[[Sequence[str]], Sequence[str]]
    edge: dict[str, str]


BY_SLICE = {"kind": "contains", "by": "slice"}
"""The edge to a device."""


@record()
class Counts:
    """The devices of a node by kind and state, and the sum over all accelerators."""

    tallies: Mapping[Kind, Tally]
    accelerators: Tally


@record()
class Looks:
    """The different looks of some devices (spot and state), and which of them each device has."""

    different: tuple[tuple[Spot, State], ...]
    of: Sequence[int]


class Frame:
    """One frame. `places` are the node itself and what is in it, `names` and `vertices` these as they stand in the graph, `links` what
    hangs on each place; `linked`: it has several accelerators, `nics`: it has NICs."""

    def __init__(self, spots: Sequence[Spot], parts: Sequence[int]) -> None:
        self._spots = tuple(spots)
        self._parts = tuple(parts)
        self._counts: dict[tuple[State, ...], Counts] = {}
        self._looks: dict[tuple[State, ...], Looks] = {}
        roles = [spot.kind.role for spot in spots]
        self.linked = roles.count("accelerator") > 1
        self.nics = "nic" in roles
        self.places = _places(spots)
        self.names = tuple([place.name for place in self.places])
        self.vertices = tuple([{"type": place.type} for place in self.places])
        self.links = _links(self.places)
        self.layouts: dict[Offered, Layout] = {}

    def layout(self, offered: Offered) -> Layout:
        """Roots renamed to their order of appearance: machines of one model may name them differently."""
        names: dict[str, int] = {}
        rows: list[tuple[object, ...]] = []
        placed: dict[Kind, tuple[bool, bool]] = {}
        for spot, parts in zip(self._spots, self._parts, strict=True):
            roots = None if spot.roots is None else tuple(names.setdefault(root, len(names)) for root in spot.roots)
            rows.append((spot.kind, spot.numa, roots, parts))
            numa, root = placed.get(spot.kind, (False, False))
            placed[spot.kind] = (numa or spot.numa is not None, root or spot.roots is not None)
        rows.append(("plugin", offered))
        return Layout(tuple(rows), placed)

    def counts(self, states: tuple[State, ...]) -> Counts:
        """The counts of the devices of a node that has this frame, by their states."""
        return _remembered(self._counts, states, lambda: _counted(self._spots, states))

    def looks(self, states: tuple[State, ...]) -> Looks:
        """What devices in these states are like."""
        return _remembered(self._looks, states, lambda: _looks(self._spots, states))


V = TypeVar("V")


def _remembered(known: dict[tuple[State, ...], V], states: tuple[State, ...], make: Callable[[], V]) -> V:
    found = known.get(states)
    if found is None:
        if len(known) >= MAX_COUNTS:
            known.clear()
        found = known[states] = make()
    return found


def _counted(spots: Sequence[Spot], all_states: Sequence[State]) -> Counts:
    """Counts by kind, in the order of the devices."""
    groups: dict[Kind, list[tuple[Spot, State]]] = {}
    for spot, state in zip(spots, all_states, strict=True):
        groups.setdefault(spot.kind, []).append((spot, state))
    found: dict[Kind, Tally] = {}
    for each, members in groups.items():
        states: dict[State, int] = {}
        by_numa: dict[int, int] = {}
        by_root: dict[str, int] = {}
        for spot, state in members:
            states[state] = states.get(state, 0) + 1
            if state == "free":
                if spot.numa is not None:
                    by_numa[spot.numa] = by_numa.get(spot.numa, 0) + 1
                root = spot.root
                if root is not None:
                    by_root[root] = by_root.get(root, 0) + 1
        found[each] = Tally(len(members), states, by_numa, by_root)
    return Counts(found, total(tally for kind, tally in found.items() if kind.is_accelerator))


def _looks(spots: Sequence[Spot], states: Sequence[State]) -> Looks:
    numbers: dict[tuple[Spot, State], int] = {}
    pick = [numbers.setdefault(look, len(numbers)) for look in zip(spots, states, strict=True)]
    return Looks(tuple(numbers), pick)


def _places(spots: Sequence[Spot]) -> tuple[Place, ...]:
    found = [Place("", "node", {}, [])]
    numbers: dict[str, int] = {}

    def number(name: str, kind: str) -> int:
        if name not in numbers:
            numbers[name] = len(found)
            found.append(Place(name, kind, {}, []))
        return numbers[name]

    for device, spot in enumerate(spots):
        above = 0
        if spot.numa is not None:
            above = number(f"/numa/{spot.numa}", "numa")
            found[0].below.setdefault(above, {"kind": "contains", "by": spot.numa_name})
        for root in spot.roots or ():
            found[above].below.setdefault(number(f"/root/{root}", "root"), {"kind": "contains", "by": "pcieRoot"})
        found[above if spot.root is None else numbers[f"/root/{spot.root}"]].devices.append(device)
    return tuple(found)


def _links(places: Sequence[Place]) -> tuple[Link, ...]:
    """What hangs on places: on each one first the places, then the devices."""
    found: list[Link] = []
    for number, place in enumerate(places):
        by_edge: list[tuple[dict[str, str], list[int]]] = []
        for below, edge in (*place.below.items(), *((len(places) + device, BY_SLICE) for device in place.devices)):
            if not by_edge or by_edge[-1][0] != edge:
                by_edge.append((edge, []))
            by_edge[-1][1].append(below)
        for edge, members in by_edge:
            pick = itemgetter(*members) if len(members) > 1 else itemgetter(slice(members[0], members[0] + 1))
            found.append(Link(number, pick, edge))
    return tuple(found)


def frame_of(devices: Columns) -> Frame:
    """The frame of some devices of a node, made anew."""
    return Frame(devices.spots, devices.parts)


class Frames:
    """The frames of a cluster, and their layouts: what is alike is the same object, also after changes."""

    def __init__(self) -> None:
        self._frames: dict[tuple[tuple[Spot, ...], tuple[int, ...]], Frame] = {}
        self._arranged: dict[tuple[tuple[Spot, ...], tuple[int, ...]], tuple[Frame, tuple[int, ...]]] = {}
        self._seated: dict[tuple[Seating, ...], tuple[Frame, tuple[int, ...]]] = {}
        self._layouts: dict[tuple[tuple[object, ...], ...], Layout] = {}

    def seated(self, devices: Columns, seatings: tuple[Seating, ...]) -> tuple[Frame, Columns]:
        """As `arranged`, for devices of slices that are seated so."""
        known = self._seated.get(seatings)
        if known is None:
            known = self._seated[seatings] = self._arrangement(tuple(devices.spots), (0,) * len(devices.spots))
        frame, order = known
        return frame, devices.in_order(order) if order else devices

    def arranged(self, devices: Columns) -> tuple[Frame, Columns]:
        """The devices of a node by role and kind, within one kind in the order given (of the slices, which is the allocator's), and their
        frame."""
        frame, order = self._arrangement(tuple(devices.spots), devices.parts)
        return frame, devices.in_order(order) if order else devices

    def _arrangement(self, spots: tuple[Spot, ...], parts: tuple[int, ...]) -> tuple[Frame, tuple[int, ...]]:
        known = self._arranged.get((spots, parts))
        if known is None:
            order = tuple(sorted(range(len(spots)), key=lambda number: spots[number].kind.order))
            own = (tuple([spots[number] for number in order]), tuple([parts[number] for number in order]))
            frame = self._frames.setdefault(own, Frame(*own))
            known = self._arranged[spots, parts] = (frame, () if order == tuple(range(len(spots))) else order)
        return known

    def layout(self, frame: Frame, offered: Offered) -> Layout:
        """The layout of a node that also offers these resources of device plugins."""
        found = frame.layouts.get(offered)
        if found is None:
            made = frame.layout(offered)
            found = frame.layouts[offered] = self._layouts.setdefault(made.key, made)
        return found

    def trim(self, nodes: int) -> None:
        """Frames go when there are far more than so many nodes can have; layouts stay, as nodes that stay have them."""
        if len(self._arranged) > 4 * nodes:
            self._arranged.clear()
            self._frames.clear()
        if len(self._seated) > 4 * nodes:
            self._seated.clear()
