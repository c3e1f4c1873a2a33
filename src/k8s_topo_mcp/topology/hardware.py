"""The cluster's hardware as facts: node by node, every device with its place, its state and its holders.

Pools are judged by the allocator's own rules (`dra.pools`), so a device counts here when it counts there: slices of an older generation
give no devices, incomplete and invalid pools give devices that can't be used.

A node whose objects are those of the view before (its Node, its slices, the claims on them, their pods) is not worked out again: it is
the same `NodeHardware`, so what is derived from one (`view.derived`) is kept, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial

from k8s_topo_mcp.dra.counters import Amount, PoolCounters
from k8s_topo_mcp.dra.features import allocator_features
from k8s_topo_mcp.dra.pools import Pool, gather_pools
from k8s_topo_mcp.dra.problem import InUse, Inventory, PoolKey, TargetNode
from k8s_topo_mcp.dra.taints import BLOCKING
from k8s_topo_mcp.dra.variants import variant
from k8s_topo_mcp.objects.node import Node
from k8s_topo_mcp.objects.pod import Pod
from k8s_topo_mcp.objects.resource_slice import DeviceTaint, ResourceSlice
from k8s_topo_mcp.scheduling.dynamic_resources import in_use as claims_in_use
from k8s_topo_mcp.scheduling.dynamic_resources import inventory as tainted_inventory
from k8s_topo_mcp.view import ClusterView, derived
from k8s_topo_mcp.view.indices import pods_on

from ..scaleup.group_labels import groups
from .domains import level_names, levels, places
from .holdings import Held, Hold, Holder, Holders, held_in
from .joins import Kind, Spot, kind, spots
from .partitions import parents
from .placed import STATES, Hardware, Layout, NodeHardware, PlacedDevice, State, Tally, Unbound, tallies, total
from .plugin import PluginResource, is_extended, plugin_resources
from .reach import Reach

__all__ = ["STATES", "Hardware", "Layout", "NodeHardware", "PlacedDevice", "State", "Tally", "Unbound", "hardware", "tallies", "total"]


def hardware(view: ClusterView) -> Hardware:
    """The facts of a view, worked out once; of a view much like the one before only what changed."""
    return view.memo("topology.hardware", lambda: _surveyed(view))


@dataclass(slots=True)
class _Kept:
    """What the last survey found, for the next one to start from."""

    last: _Survey | None = None


def _nothing_kept(_: tuple[Node, ...]) -> _Kept:
    return _Kept()


def _surveyed(view: ClusterView) -> Hardware:
    kept = view.carried(Node, _nothing_kept)
    survey = _Survey(view, kept.last)
    found = survey.hardware()
    kept.last = survey
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Entry:
    """A node as it was found, with all that it was made of: its Node, its slices, for each of their pools all slices and all holders, the
    pods on it where it has resources of device plugins. `alone`: it has no devices of pools that other nodes see, too. `spare` are holds in
    its pools on devices that it doesn't have."""

    node: Node | None
    slices: tuple[ResourceSlice, ...]
    pools: tuple[PoolKey, ...]
    pool_slices: tuple[tuple[ResourceSlice, ...], ...]
    holders: tuple[tuple[Holder, ...], ...]
    pods: tuple[Pod, ...]
    alone: bool
    seen: frozenset[int]
    located: Mapping[PoolKey, frozenset[str]]
    spare: tuple[Hold, ...]
    found: NodeHardware


@dataclass(slots=True)
class _Trace:
    """Which slices have been looked at, and which devices were found in each pool."""

    seen: set[int]
    located: dict[PoolKey, set[str]]


class _Survey:
    """One pass over a view."""

    def __init__(self, view: ClusterView, before: _Survey | None) -> None:
        self.view = view
        self.minor = view.release.minor
        self.levels = levels(view)
        self.features = allocator_features(view.release)
        self.variant = variant(self.minor, self.features)
        self.inventory = tainted_inventory(view)
        self.local = replace(self.inventory, shared=())
        self.nodes = {node.name: node for node in view.all(Node)}
        self.trace = _Trace(set(), {})
        rules = (self.minor, self.features, self.levels)
        # What another release or other levels found doesn't hold here.
        known = before if before is not None and before.rules == rules else None
        self.rules = rules
        self.holders = Holders(view, None if before is None else before.holders)
        self.known: Mapping[str, _Entry] = {} if known is None else known.entries
        self.entries: dict[str, _Entry] = {}
        # Old layouts go when there are far more than a cluster can have.
        few = known is not None and len(known.layouts) <= 4 * len(self.nodes)
        self.layouts: dict[tuple[object, ...], Layout] = known.layouts if known is not None and few else {}
        self.known_layouts: dict[tuple[tuple[object, ...], ...], Layout] = {} if known is None else known.known_layouts

    @cached_property
    def in_use(self) -> InUse:
        """Only counters need it."""
        return claims_in_use(self.view)

    def hardware(self) -> Hardware:
        on_node: dict[str, list[PlacedDevice]] = {}
        unbound = self._place_unbound(on_node)
        names = sorted({*self.nodes, *self.inventory.by_node, *on_node})
        nodes = tuple([self._entry(name, on_node.get(name, ())).found for name in names])
        for entry in self.entries.values():
            self.trace.seen |= entry.seen
        unused = [entry for entry in self.inventory.slices if id(entry) not in self.trace.seen and entry.devices]
        superseded = sum(len(entry.devices) for entry in unused if entry.generation < self._newest(entry))
        unseen = sum(len(entry.devices) for entry in unused) - superseded
        result = Hardware(nodes, unbound, superseded, unseen, self._lost(), level_names(node.places for node in nodes))
        # The next survey needs the entries alone; the view itself isn't to be kept for it.
        del self.view, self.inventory, self.local, self.nodes, self.known, self.trace
        self.__dict__.pop("in_use", None)
        return result

    def _newest(self, entry: ResourceSlice) -> int:
        return max(other.generation for other in self.inventory.by_pool[entry.driver, entry.pool])

    def _lost(self) -> tuple[Hold, ...]:
        """Holds that no node has the device for: of what nodes spare, and of pools that no node has."""
        pools: set[PoolKey] = set()
        found: list[Hold] = []
        for entry in self.entries.values():
            pools.update(entry.pools)
            found.extend(entry.spare)
        for key in self.holders.pools:
            if key not in pools:
                found.extend(hold for holds in held_in(key, self.holders.in_pool(key)).values() for hold in holds)
        if not found:
            return ()
        located: dict[PoolKey, set[str]] = {}
        for found_there in (self.trace.located, *(entry.located for entry in self.entries.values())):
            for key, names in found_there.items():
                located.setdefault(key, set()).update(names)
        lost = {
            (hold.result.id, hold.holder.claim): hold
            for hold in found
            if hold.result.device not in located.get((hold.result.driver, hold.result.pool), ())
        }
        return tuple(sorted(lost.values(), key=lambda hold: (hold.result.driver, hold.result.pool, hold.result.device, hold.holder.name)))

    def _pools(self, inventory: Inventory, node: str) -> tuple[Pool, ...]:
        known = self.nodes.get(node)
        target = TargetNode(node, known.metadata.labels if known is not None else {})
        return gather_pools(inventory, target, self.minor, self.features, self.variant)

    def _entry(self, name: str, more: Iterable[PlacedDevice]) -> _Entry:
        node = self.nodes.get(name)
        slices = self.inventory.by_node.get(name, ())
        pods = pods_on(self.view, name) if node is not None and _offers(node) else ()
        known = self.known.get(name)
        if known is not None and not more and self._holds_still(known, node, slices, pods):
            self.entries[name] = known
            return known
        pools = tuple(dict.fromkeys((entry.driver, entry.pool) for entry in slices))
        holders = self._holders_of(pools)
        held = {key: held_in(key, own) for key, own in zip(pools, holders, strict=True)}
        trace = _Trace(set(), {})
        found = self._node(name, slices, more, held, trace)
        entry = self.entries[name] = _Entry(
            node=node,
            slices=slices,
            pools=pools,
            pool_slices=self._slices_of(pools),
            holders=holders,
            pods=pods,
            alone=not more,
            seen=frozenset(trace.seen),
            located={key: frozenset(names) for key, names in trace.located.items()},
            spare=tuple(
                hold
                for key, devices in held.items()
                for device, holds in devices.items()
                if device not in trace.located.get(key, ())
                for hold in holds
            ),
            found=found,
        )
        return entry

    def _holds_still(self, known: _Entry, node: Node | None, slices: tuple[ResourceSlice, ...], pods: tuple[Pod, ...]) -> bool:
        """Whether all that a node was made of is the same now."""
        return (
            known.alone
            and known.node is node
            and known.slices == slices
            and known.pods == pods
            and known.pool_slices == self._slices_of(known.pools)
            and known.holders == self._holders_of(known.pools)
        )

    def _slices_of(self, pools: tuple[PoolKey, ...]) -> tuple[tuple[ResourceSlice, ...], ...]:
        return tuple([self.inventory.by_pool.get(key, ()) for key in pools])

    def _holders_of(self, pools: tuple[PoolKey, ...]) -> tuple[tuple[Holder, ...], ...]:
        return tuple([self.holders.in_pool(key) for key in pools])

    def _node(
        self,
        name: str,
        slices: tuple[ResourceSlice, ...],
        more: Iterable[PlacedDevice],
        held: Mapping[PoolKey, Held],
        trace: _Trace,
    ) -> NodeHardware:
        node = self.nodes.get(name)
        devices: list[PlacedDevice] = []
        if slices:
            for pool in self._pools(self.local, name):
                devices.extend(self._devices(pool, pool.slices, held.get((pool.driver, pool.name), {}), trace))
        devices.extend(more)
        devices.sort(key=_device_order)
        plugin = plugin_resources(node, partial(pods_on, self.view)) if node is not None and _offers(node) else ()
        labels: Mapping[str, str] = node.metadata.labels if node is not None else {}
        where = places(labels, self.levels, slices)
        offered = tuple((entry.name, entry.allocatable) for entry in plugin)
        counted = {**tallies(devices), **{kind(entry.role, entry.name, ""): _counted(entry) for entry in plugin}}
        return NodeHardware(
            name=name,
            node=node,
            places={level: place.value for level, place in where.items()},
            placed_by={level: place.by for level, place in where.items()},
            groups=groups(labels),
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
                held = held_in((pool.driver, pool.name), self.holders.in_pool((pool.driver, pool.name)))
                for device in self._devices(pool, members, held, self.trace):
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

    def _devices(self, pool: Pool, slices: Iterable[ResourceSlice], held: Held, trace: _Trace) -> list[PlacedDevice]:
        """The devices of a pool in these slices, parts folded into their wholes."""
        located = trace.located.setdefault((pool.driver, pool.name), set())
        found: list[Spot] = []
        for entry in slices:
            trace.seen.add(id(entry))
            found.extend(spots(entry))
        located.update([spot.device.name for spot in found])
        for entry in pool.slices:
            trace.seen.add(id(entry))
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

    def _placed(self, spot: Spot, pool: Pool, held: Held, counters: PoolCounters | None, parts: tuple[PlacedDevice, ...]) -> PlacedDevice:
        device = spot.device
        holds = held.get(device.name, ()) if held else ()
        taints = self._taints(device.taints) if device.taints else ()
        shared = _counters_of(spot, pool, counters) if parts and counters is not None else None
        return PlacedDevice(spot, pool, _state(spot, pool, holds, taints, counters, parts), holds, taints, parts, shared)

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
        if holds[0].holder.alive is False and all(hold.holder.alive is False for hold in holds):
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


def _counters_of(spot: Spot, pool: Pool, counters: PoolCounters) -> Mapping[str, tuple[Amount, Amount]] | None:
    """What is left of the counters that a whole device shares with its parts."""
    own = {use.counter_set for use in spot.device.consumes_counters}
    left = counters.left()
    found = {
        name: (left[counter_set.name, name], amount.value)
        for counter_set in pool.counter_sets
        if counter_set.name in own
        for name, amount in counter_set.counters.items()
    }
    return found or None


def _offers(node: Node) -> bool:
    """Whether the node has resources of device plugins."""
    return derived(node, "topology.offers", lambda: any("/" in name and is_extended(name) for name in node.allocatable))


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
