"""The cluster's hardware as facts: node by node, every device with its place, its state and its holders.

Pools are judged by the allocator's own rules (`dra.pools`), so a device counts here when it counts there: slices of an older generation
give no devices, incomplete and invalid pools give devices that can't be used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Literal, TypeVar

from k8s_topo_mcp.dra.counters import PoolCounters
from k8s_topo_mcp.dra.features import allocator_features
from k8s_topo_mcp.dra.pools import Pool, gather_pools
from k8s_topo_mcp.dra.problem import InUse, Inventory, PoolKey, TargetNode
from k8s_topo_mcp.dra.taints import BLOCKING
from k8s_topo_mcp.dra.variants import variant
from k8s_topo_mcp.objects.node import Node
from k8s_topo_mcp.objects.resource_slice import DeviceId, DeviceTaint, ResourceSlice
from k8s_topo_mcp.scheduling.dynamic_resources import inventory as tainted_inventory
from k8s_topo_mcp.view import ClusterView
from k8s_topo_mcp.view.indices import allocated_claims, pods_on

from .domains import places
from .holdings import Hold, Holdings, holdings
from .joins import Kind, Spot, kind, spots
from .partitions import parents
from .plugin import PluginResource, plugin_resources
from .reach import Reach

State = Literal["free", "shared", "held", "zombie", "split", "tainted", "unusable"]
STATES: tuple[State, ...] = ("free", "shared", "held", "zombie", "split", "tainted", "unusable")
"""
free: nobody holds it and a plain request can get it. shared: some of its shares are held. held: by a claim.
zombie: held by a claim whose pods are gone. split: a part of it is held, or other devices took its counters.
tainted: free, but a taint keeps off claims that don't tolerate it. unusable: its pool is incomplete or invalid.
"""


@dataclass(frozen=True, slots=True, eq=False)
class PlacedDevice:
    """A device with its state. `parts` are the partitions folded into it."""

    spot: Spot
    pool: Pool
    state: State
    holds: tuple[Hold, ...]
    taints: tuple[DeviceTaint, ...]
    parts: tuple[PlacedDevice, ...]

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


@dataclass(frozen=True, slots=True, eq=False)
class NodeHardware:
    """One node. `node` is None when slices name a node that isn't there; `closed` says why nothing new starts on it ("" when open).

    `places` are coarse to fine; a level that isn't there isn't labelled. `accelerators` sums the tallies of all accelerators.
    """

    name: str
    node: Node | None
    places: Mapping[str, str]
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
    """All of it. `superseded` counts devices in slices that a newer generation replaced, `unseen` those in slices that no node can use (no
    node matches, or a feature is off), `lost` lists holds on devices that no slice has."""

    nodes: tuple[NodeHardware, ...]
    unbound: tuple[Unbound, ...]
    superseded: int
    unseen: int
    lost: tuple[Hold, ...]

    def node(self, name: str) -> NodeHardware | None:
        """The node of that name."""
        return next((entry for entry in self.nodes if entry.name == name), None)


def hardware(view: ClusterView) -> Hardware:
    """The facts of a view, worked out once."""
    return view.memo("topology.hardware", lambda: _Survey(view).hardware())


class _Survey:
    """One pass over a view."""

    def __init__(self, view: ClusterView) -> None:
        self.view = view
        self.minor = view.release.minor
        self.features = allocator_features(view.release)
        self.variant = variant(self.minor, self.features)
        self.inventory = tainted_inventory(view)
        self.local = replace(self.inventory, shared=())
        self.holdings: Holdings = holdings(view)
        self.nodes = {node.name: node for node in view.all(Node)}
        self.seen: set[int] = set()
        self.located: dict[PoolKey, set[str]] = {}
        self.layouts: dict[tuple[object, ...], Layout] = {}
        self.known_layouts: dict[tuple[tuple[object, ...], ...], Layout] = {}

    @cached_property
    def in_use(self) -> InUse:
        """Only counters need it."""
        return InUse.of(allocated_claims(self.view), "ConsumableCapacity" in self.features)

    def hardware(self) -> Hardware:
        on_node: dict[str, list[PlacedDevice]] = {}
        unbound = self._place_unbound(on_node)
        names = sorted({*self.nodes, *self.inventory.by_node, *on_node})
        nodes = tuple(self._node(name, on_node.get(name, ())) for name in names)
        newest = {key: max(entry.generation for entry in slices) for key, slices in self.inventory.by_pool.items()}
        unused = [entry for entry in self.inventory.slices if entry.devices and id(entry) not in self.seen]
        superseded = sum(len(entry.devices) for entry in unused if entry.generation < newest[entry.driver, entry.pool])
        unseen = sum(len(entry.devices) for entry in unused) - superseded
        lost = tuple(
            hold
            for key, devices in sorted(self.holdings.items())
            for device, holds in sorted(devices.items())
            if device not in self.located.get(key, ())
            for hold in holds
        )
        return Hardware(nodes, unbound, superseded, unseen, lost)

    def _pools(self, inventory: Inventory, node: str) -> tuple[Pool, ...]:
        known = self.nodes.get(node)
        target = TargetNode(node, known.metadata.labels if known is not None else {})
        return gather_pools(inventory, target, self.minor, self.features, self.variant)

    def _node(self, name: str, more: Iterable[PlacedDevice]) -> NodeHardware:
        node = self.nodes.get(name)
        devices: list[PlacedDevice] = []
        if name in self.inventory.by_node:
            for pool in self._pools(self.local, name):
                devices.extend(self._devices(pool, pool.slices))
        devices.extend(more)
        devices.sort(key=_device_order)
        plugin = plugin_resources(node, partial(pods_on, self.view)) if node is not None else ()
        offered = tuple((entry.name, entry.allocatable) for entry in plugin)
        counted = {**tallies(devices), **{kind(entry.role, entry.name, ""): _counted(entry) for entry in plugin}}
        return NodeHardware(
            name=name,
            node=node,
            places=places(node.metadata.labels) if node is not None else {},
            devices=tuple(devices),
            plugin=plugin,
            closed=_closed(node),
            layout=self._layout(offered, devices),
            tallies=counted,
            accelerators=total(tally for kind, tally in counted.items() if kind.is_accelerator),
        )

    def _layout(self, raw: tuple[object, ...], devices: list[PlacedDevice]) -> Layout:
        """Roots renamed to their order of appearance: machines of one model may name them differently."""
        raw = (raw, tuple((device.kind, device.spot.numa, device.spot.roots, len(device.parts)) for device in devices))
        found = self.layouts.get(raw)
        if found is None:
            names: dict[str, int] = {}
            rows: list[tuple[object, ...]] = []
            placed: dict[Kind, tuple[bool, bool]] = {}
            for device in devices:
                spot = device.spot
                roots = None if spot.roots is None else tuple(names.setdefault(root, len(names)) for root in spot.roots)
                rows.append((spot.kind, spot.numa, roots, len(device.parts)))
                numa, root = placed.get(spot.kind, (False, False))
                placed[spot.kind] = (numa or spot.numa is not None, root or spot.roots is not None)
            rows.append(("plugin", raw[0]))
            key = tuple(rows)
            found = self.known_layouts.setdefault(key, Layout(key, placed))
            self.layouts[raw] = found
        return found

    def _place_unbound(self, on_node: dict[str, list[PlacedDevice]]) -> tuple[Unbound, ...]:
        """Pools with slices that name no node: devices that only one node can use go to that node, the others stay apart."""
        groups: dict[PoolKey, list[ResourceSlice]] = {}
        for entry in self.inventory.shared:
            groups.setdefault((entry.driver, entry.pool), []).append(entry)
        if not groups:
            return ()
        reach = Reach(tuple(self.nodes.values()))
        found: list[Unbound] = []
        for slices in (tuple(groups[key]) for key in sorted(groups)):
            reached = {id(entry): self._reached(reach, entry) for entry in slices}
            example = next((names[0] for names in reached.values() if names), "")
            pools = self._pools(replace(self.inventory, by_node={}, shared=slices), example)
            for pool in pools:
                members = [entry for entry in (*pool.slices, *pool.elsewhere) if id(entry) in reached]
                homes = {device.name: entry for entry in members for device in entry.devices}
                by_nodes: dict[tuple[str, ...], list[PlacedDevice]] = {}
                for device in self._devices(pool, members):
                    home = homes[device.name]
                    own = device.spot.device.node_selection
                    names = reach.of(own) if home.per_device_node_selection else reached[id(home)]
                    by_nodes.setdefault(names, []).append(device)
                for names, devices in by_nodes.items():
                    if len(names) == 1:
                        on_node.setdefault(names[0], []).extend(devices)
                    else:
                        found.append(Unbound(pool, names, tuple(devices)))
        return tuple(found)

    def _reached(self, reach: Reach, entry: ResourceSlice) -> tuple[str, ...]:
        if entry.node_selection.stated:
            return reach.of(entry.node_selection)
        if entry.per_device_node_selection:
            return tuple(sorted({name for device in entry.devices for name in reach.of(device.node_selection)}))
        return ()

    def _devices(self, pool: Pool, slices: Iterable[ResourceSlice]) -> list[PlacedDevice]:
        """The devices of a pool in these slices, parts folded into their wholes."""
        key = (pool.driver, pool.name)
        held = self.holdings.get(key, {})
        located = self.located.setdefault(key, set())
        found: list[Spot] = []
        for entry in slices:
            self.seen.add(id(entry))
            found.extend(spots(entry))
        located.update(spot.device.name for spot in found)
        for entry in pool.slices:
            self.seen.add(id(entry))
        whole_of = parents(found)
        counters = None
        if pool.counter_sets:
            counters = PoolCounters(pool, pool.counter_sets, (*pool.slices, *pool.elsewhere), self.in_use, self.minor)
        parts: dict[str, list[PlacedDevice]] = {}
        for spot in found:
            whole = whole_of.get(spot.device.name)
            if whole is not None:
                parts.setdefault(whole, []).append(self._placed(spot, pool, held, counters, ()))
        return [
            self._placed(spot, pool, held, counters, tuple(parts.get(spot.device.name, ())) if parts else ())
            for spot in found
            if spot.device.name not in whole_of
        ]

    def _placed(
        self, spot: Spot, pool: Pool, held: Mapping[str, tuple[Hold, ...]], counters: PoolCounters | None, parts: tuple[PlacedDevice, ...]
    ) -> PlacedDevice:
        device = spot.device
        holds = held.get(device.name, ()) if held else ()
        taints = self._taints(device.taints) if device.taints else ()
        return PlacedDevice(spot, pool, _state(spot, pool, holds, taints, counters, parts), holds, taints, parts)

    def _taints(self, taints: tuple[DeviceTaint, ...]) -> tuple[DeviceTaint, ...]:
        if "DeviceTaints" not in self.features:
            return ()
        return tuple(taint for taint in taints if taint.effect in BLOCKING or self.minor == 34)


def _state(
    spot: Spot,
    pool: Pool,
    holds: tuple[Hold, ...],
    taints: tuple[DeviceTaint, ...],
    counters: PoolCounters | None,
    parts: tuple[PlacedDevice, ...],
) -> State:
    if holds:
        if all(hold.holder.alive is False for hold in holds):
            return "zombie"
        return "shared" if spot.device.allow_multiple_allocations and all(hold.result.share_id for hold in holds) else "held"
    if not pool.usable:
        return "unusable"
    if any(part.holds for part in parts):
        return "split"
    if counters is not None and spot.device.consumes_counters:
        if not counters.take(spot.device):
            return "split"
        counters.give_back(spot.device)
    return "tainted" if taints else "free"


def _closed(node: Node | None) -> str:
    if node is None:
        return "no Node object"
    if node.unschedulable:
        return "cordoned"
    return "" if node.is_ready or not node.conditions else "not ready"


def _counted(entry: PluginResource) -> Tally:
    """A plugin's resource as a tally: numbers alone, no places."""
    taken = min(entry.requested, entry.allocatable)
    states: dict[State, int] = {}
    if entry.free:
        states["free"] = entry.free
    if taken:
        states["held"] = taken
    return Tally(entry.allocatable, states, {}, {})


def _device_order(device: PlacedDevice) -> tuple[object, ...]:
    # Kinds by role; within one kind the order of the slices, which is the allocator's.
    return device.kind.order


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
