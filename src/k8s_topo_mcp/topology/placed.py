"""What is known of the cluster's hardware, as values: devices with their place and state, nodes, and all of it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

from k8s_topo_mcp.dra.counters import Amount
from k8s_topo_mcp.dra.pools import Pool
from k8s_topo_mcp.objects.node import Node
from k8s_topo_mcp.objects.resource_slice import DeviceId, DeviceTaint

from ..scaleup.group_labels import Group
from .holdings import Hold
from .joins import Kind, Spot
from .plugin import PluginResource

State = Literal["free", "shared", "held", "zombie", "split", "tainted", "unusable"]
STATES: tuple[State, ...] = ("free", "shared", "held", "zombie", "split", "tainted", "unusable")
"""
free: nobody holds it and a plain request can get it. shared: some of its shares are held. held: by a claim.
zombie: held by a claim whose pods are gone. split: a part of it is held, or other devices took its counters.
tainted: free, but a taint keeps off claims that don't tolerate it. unusable: its pool is incomplete or invalid.
"""


@dataclass(frozen=True, slots=True, eq=False)
class PlacedDevice:
    """A device with its state. `parts` are the partitions folded into it. `counters` are those that it shares with its partitions: by name
    what is left, and of how much."""

    spot: Spot
    pool: Pool
    state: State
    holds: tuple[Hold, ...]
    taints: tuple[DeviceTaint, ...]
    parts: tuple[PlacedDevice, ...]
    counters: Mapping[str, tuple[Amount, Amount]] | None = None

    @property
    def name(self) -> str:
        """The device's name within its pool."""
        return self.spot.device.name

    @property
    def kind(self) -> Kind:
        """What it is."""
        return self.spot.kind

    @property
    def id(self) -> DeviceId:
        """Driver, pool and name, as allocations name it."""
        return DeviceId(self.pool.driver, self.pool.name, self.name)


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """The devices of one kind on one node, counted. `free_by_numa` and `free_by_root` count free ones only where the place is published."""

    total: int
    states: Mapping[State, int]
    free_by_numa: Mapping[int, int]
    free_by_root: Mapping[str, int]

    @property
    def free(self) -> int:
        """How many are free."""
        return self.states.get("free", 0)


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """The devices of a node in their arrangement, names of devices and roots left out. Nodes that are alike have the same object.

    `key` says it all; `placed` tells for each kind whether its NUMA node and its root are published.
    """

    key: tuple[tuple[object, ...], ...]
    placed: Mapping[Kind, tuple[bool, bool]]


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class NodeHardware:
    """One node. `node` is None when slices name a node that isn't there; `closed` says why nothing new starts on it ("" when open).

    `places` are coarse to fine; a level that isn't there isn't known. `placed_by` has the label or attribute behind each. `groups` are node
    groups. `accelerators` sums the tallies of all accelerators.
    """

    name: str
    node: Node | None
    places: Mapping[str, str]
    placed_by: Mapping[str, str]
    groups: tuple[Group, ...]
    devices: tuple[PlacedDevice, ...]
    plugin: tuple[PluginResource, ...]
    closed: str
    layout: Layout
    tallies: Mapping[Kind, Tally]
    accelerators: Tally


@dataclass(frozen=True, slots=True, eq=False)
class Unbound:
    """Devices of one pool that aren't bound to one node: `nodes` can use them."""

    pool: Pool
    nodes: tuple[str, ...]
    devices: tuple[PlacedDevice, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Hardware:
    """All of it; nodes by name. `levels` are the places that nodes have, coarse to fine (see `domains`). `superseded` counts devices in
    slices that a newer generation replaced, `unseen` those in slices that no node can use (no node matches, or a feature is off), `lost`
    lists holds on devices that no slice has."""

    nodes: tuple[NodeHardware, ...]
    unbound: tuple[Unbound, ...]
    superseded: int
    unseen: int
    lost: tuple[Hold, ...]
    levels: tuple[str, ...] = ()

    def node(self, name: str) -> NodeHardware | None:
        """The node of that name."""
        at = bisect_left(self.nodes, name, key=lambda entry: entry.name)
        return self.nodes[at] if at < len(self.nodes) and self.nodes[at].name == name else None


def total(counted: Iterable[Tally]) -> Tally:
    """The sum of tallies."""
    listed = tuple(counted)
    if len(listed) == 1:
        return listed[0]
    number = 0
    states: dict[State, int] = {}
    by_numa: dict[int, int] = {}
    by_root: dict[str, int] = {}
    for tally in listed:
        number += tally.total
        _add(states, tally.states)
        _add(by_numa, tally.free_by_numa)
        _add(by_root, tally.free_by_root)
    return Tally(number, states, by_numa, by_root)


def summed(counted: Iterable[Tally]) -> tuple[dict[State, int], int]:
    """The states and the number of many tallies: their sum without the places."""
    states: dict[State, int] = {}
    number = 0
    for tally in counted:
        number += tally.total
        for state, count in tally.states.items():
            states[state] = states[state] + count if state in states else count
    return states, number


K = TypeVar("K")


def _add(to: dict[K, int], more: Mapping[K, int]) -> None:
    for key, count in more.items():
        to[key] = to.get(key, 0) + count


def tallies(devices: Iterable[PlacedDevice]) -> Mapping[Kind, Tally]:
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
    return found
