"""The cluster's hardware as facts: node by node, every device with its place, its state and its holders.

Pools are judged by the allocator's own rules (`dra.pools`), so a device counts here when it counts there: slices of an older generation
give no devices, incomplete and invalid pools give devices that can't be used.

A node whose objects are those of the view before (its Node, its slices, the claims on them, their pods) is not worked out again: it is
the same `NodeHardware`, so what is derived from one (`view.derived`) is kept, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from k8s_topo_mcp.dra.features import allocator_features
from k8s_topo_mcp.dra.inventory import Inventory, PoolKey
from k8s_topo_mcp.dra.pools import Pool, gather_pools
from k8s_topo_mcp.dra.problem import TargetNode
from k8s_topo_mcp.dra.variants import variant
from k8s_topo_mcp.objects.node import INSTANCE_TYPE, OLD_INSTANCE_TYPE, Node
from k8s_topo_mcp.objects.pod import Pod
from k8s_topo_mcp.objects.record import record
from k8s_topo_mcp.objects.resource_slice import ResourceSlice
from k8s_topo_mcp.scheduling.dynamic_resources import in_use, inventory
from k8s_topo_mcp.view import ClusterView
from k8s_topo_mcp.view.indices import pods_on

from ..scaleup.group_labels import groups
from .columns import Columns, plain_columns
from .domains import Places, level_names, levels
from .frames import Counts, Frame, Frames
from .holdings import Held, Hold, Holder, Holders, held_in, others
from .joins import kind
from .nodes import Hardware, NodeHardware, Unbound
from .placed import STATES, PlacedDevice, State, Tally, total
from .plugin import PluginResource, is_extended, plugin_resources
from .reach import Reach
from .spots import Spots
from .states import Rules, placed_devices

__all__ = ["STATES", "Hardware", "NodeHardware", "PlacedDevice", "State", "Unbound", "hardware"]


def hardware(view: ClusterView) -> Hardware:
    """The facts of a view, worked out once; of a view much like the one before only what changed."""
    return view.memo("topology.hardware", lambda: _surveyed(view))


@record()
class _Entry:
    """A node as it was found, with what it was made of: its Node, its slices, their pools, the pods on it where it offers resources of
    device plugins. `alone`: it has no devices of pools that other nodes see, too. `seen` are the ids of the slices that gave devices,
    `spare` holds in its pools on devices that it doesn't have."""

    node: Node | None
    slices: tuple[ResourceSlice, ...]
    pools: tuple[PoolKey, ...]
    offers: bool
    pods: tuple[Pod, ...]
    alone: bool
    seen: tuple[int, ...]
    spare: tuple[Hold, ...]
    found: NodeHardware


@record()
class _Last:
    """What a survey found, for the next one to start from: the nodes, by which rules, and the slices and holders that they were made of."""

    rules: tuple[object, ...]
    inventory: Inventory
    holders: Holders
    places: Places
    entries: Mapping[str, _Entry]


@dataclass(slots=True)
class _Kept:
    """`last` is put in at once and never changed: several threads may make surveys at a time."""

    last: _Last | None = None
    frames: Frames = field(default_factory=Frames)
    spots: Spots = field(default_factory=Spots)


def _nothing_kept(_: tuple[Node, ...]) -> _Kept:
    return _Kept()


def _surveyed(view: ClusterView) -> Hardware:
    kept = view.carried(Node, _nothing_kept)
    survey = _Survey(view, kept)
    found = survey.hardware()
    kept.last = _Last(survey.rules, survey.inventory, survey.holders, survey.places, survey.entries)
    return found


class _Survey:
    """One pass over a view."""

    def __init__(self, view: ClusterView, kept: _Kept) -> None:
        last = kept.last
        self.view = view
        self.minor = view.release.minor
        self.features = allocator_features(view.release)
        self.variant = variant(self.minor, self.features)
        self.state_rules = Rules(kept.spots, self.minor, self.features, lambda: in_use(view))
        self.inventory = inventory(view)
        self.local = replace(self.inventory, shared=())
        self.nodes = {node.metadata.name: node for node in view.all(Node)}
        self.frames = kept.frames
        self.frames.trim(len(self.nodes))
        self.holders = Holders(view, None if last is None else last.holders)
        self.entries: dict[str, _Entry] = {}
        self.seen: set[int] = set()
        known = levels(view)
        self.told = view.unknown(ResourceSlice.KIND) is None
        self.rules: tuple[object, ...] = (self.minor, self.features, known, self.told)
        if last is not None and last.rules == self.rules:
            self.places, self.known = last.places, last.entries
            self.touched = self.holders.touched | others(last.inventory.by_pool, self.inventory.by_pool)
        else:  # what another release, other levels or no slices found doesn't hold here
            self.places, self.known, self.touched = Places(known), dict[str, _Entry](), set[PoolKey]()

    def hardware(self) -> Hardware:
        on_node: dict[str, list[PlacedDevice]] = {}
        unbound = self._place_unbound(on_node)
        names = sorted(dict.fromkeys((*self.nodes, *self.inventory.by_node, *on_node)))
        nodes = tuple([self._entry(name, on_node.get(name, ())).found for name in names])
        self.seen.update(*[entry.seen for entry in self.entries.values()])
        unused = [entry for entry in self.inventory.slices if id(entry) not in self.seen and entry.devices]
        superseded = sum(len(entry.devices) for entry in unused if entry.generation < self._newest(entry))
        unseen = sum(len(entry.devices) for entry in unused) - superseded
        return Hardware(
            nodes,
            unbound,
            superseded,
            unseen,
            self._lost(unbound),
            level_names(where.places for where in dict.fromkeys([node.where for node in nodes])),
        )

    def _newest(self, entry: ResourceSlice) -> int:
        return max(other.generation for other in self.inventory.by_pool[entry.driver, entry.pool])

    def _lost(self, unbound: Sequence[Unbound]) -> tuple[Hold, ...]:
        """Holds that no node has the device for: of what nodes spare, and of pools that no node has."""
        found = [hold for entry in self.entries.values() if entry.spare for hold in entry.spare]
        pools = set[PoolKey]().union(*[entry.pools for entry in self.entries.values()])
        for key in self.holders.pools:
            if key not in pools:
                found.extend(hold for holds in held_in(key, self.holders.in_pool(key)).values() for hold in holds)
        if not found:
            return ()
        wanted = {(hold.result.driver, hold.result.pool) for hold in found}
        near = [entry.found for entry in self.entries.values() if not entry.alone or not wanted.isdisjoint(entry.pools)]
        there = {part.id for placed in (*near, *unbound) for device in placed.devices for part in (device, *device.parts)}
        lost = {(hold.result.id, hold.holder.claim): hold for hold in found if hold.result.id not in there}
        return tuple(sorted(lost.values(), key=lambda hold: (hold.result.driver, hold.result.pool, hold.result.device, hold.holder.name)))

    def _pools(self, given: Inventory, node: str) -> tuple[Pool, ...]:
        known = self.nodes.get(node)
        target = TargetNode(node, known.metadata.labels if known is not None else {})
        return gather_pools(given, target, self.minor, self.features, self.variant)

    def _entry(self, name: str, more: Sequence[PlacedDevice]) -> _Entry:
        node = self.nodes.get(name)
        slices = self.inventory.by_node.get(name, ())
        known = self.known.get(name)
        if known is not None and not known.offers and not more and self._holds_still(known, node, slices, ()):
            self.entries[name] = known
            return known
        offers = known.offers if known is not None and known.node is node else _offers(node)
        pods = pods_on(self.view, name) if offers else ()
        if known is not None and not more and self._holds_still(known, node, slices, pods):
            self.entries[name] = known
            return known
        pools: tuple[PoolKey, ...] = tuple(dict.fromkeys([(entry.driver, entry.pool) for entry in slices]))
        holders = {key: own for key in pools if (own := self.holders.in_pool(key))}
        seen_by_it = self._pools(self.local, name) if slices else ()
        frame, devices, spare = self._placed(seen_by_it, holders, more)
        entry = self.entries[name] = _Entry(
            node=node,
            slices=slices,
            pools=pools,
            offers=offers,
            pods=pods,
            alone=not more,
            seen=tuple([id(entry) for pool in seen_by_it for entry in pool.slices]),
            spare=spare,
            found=self._node(name, node, slices, frame, devices, offers),
        )
        return entry

    def _placed(
        self, pools: Iterable[Pool], holders: Mapping[PoolKey, Sequence[Holder]], more: Sequence[PlacedDevice]
    ) -> tuple[Frame, Columns, tuple[Hold, ...]]:
        """The devices of a node in their order, `more` among them, and the holds in its pools on devices that it doesn't have."""
        plain = None if more else plain_columns(pools, holders, self.state_rules.spots)
        if plain is not None:
            return *self.frames.seated(*plain), ()
        held = {key: held_in(key, own) for key, own in holders.items()}
        own: list[PlacedDevice] = []
        for pool in pools:
            own.extend(placed_devices(pool, pool.slices, held.get((pool.driver, pool.name), {}), self.state_rules))
        return *self.frames.arranged(Columns.of((*own, *more))), _spare(held, own)

    def _holds_still(self, known: _Entry, node: Node | None, slices: tuple[ResourceSlice, ...], pods: tuple[Pod, ...]) -> bool:
        """Whether all that a node was made of is the same now."""
        return (
            known.alone
            and known.node is node
            and known.slices == slices
            and known.pods == pods
            and (not self.touched or self.touched.isdisjoint(known.pools))
        )

    def _node(
        self, name: str, node: Node | None, slices: tuple[ResourceSlice, ...], frame: Frame, devices: Columns, offers: bool
    ) -> NodeHardware:
        plugin = plugin_resources(node, partial(pods_on, self.view)) if node is not None and offers else ()
        labels: Mapping[str, str] = node.metadata.labels if node is not None else {}
        counts = frame.counts(devices.states)
        if plugin:
            counts = _with_plugin(counts, plugin)
        return NodeHardware(
            name=name,
            node=node,
            model=labels.get(INSTANCE_TYPE) or labels.get(OLD_INSTANCE_TYPE) or "",
            where=self.places.of(labels, slices),
            groups=groups(labels),
            columns=devices,
            plugin=plugin,
            closed=_closed(node),
            frame=frame,
            layout=self.frames.layout(frame, tuple((entry.name, entry.allocatable) for entry in plugin)),
            tallies=counts.tallies,
            accelerators=counts.accelerators,
            told=self.told,
        )

    def _place_unbound(self, on_node: dict[str, list[PlacedDevice]]) -> tuple[Unbound, ...]:
        """Pools with slices that name no node: devices that only one node can use go to that node, the others stay apart."""
        pieces: dict[PoolKey, list[ResourceSlice]] = {}
        for entry in self.inventory.shared:
            pieces.setdefault((entry.driver, entry.pool), []).append(entry)
        if not pieces:
            return ()
        reach = Reach(tuple(self.nodes.values()))
        found: list[Unbound] = []
        for slices in (tuple(pieces[key]) for key in sorted(pieces)):
            reached = {id(entry): self._reached(reach, entry) for entry in slices}
            example = next((names[0] for names in reached.values() if names), "")
            pools = self._pools(replace(self.inventory, by_node={}, shared=slices), example)
            for pool in pools:
                members = [entry for entry in (*pool.slices, *pool.elsewhere) if id(entry) in reached]
                self.seen.update(id(entry) for entry in (*pool.slices, *members))
                homes = {device.name: entry for entry in members for device in entry.devices}
                by_nodes: dict[tuple[str, ...], list[PlacedDevice]] = {}
                held = held_in((pool.driver, pool.name), self.holders.in_pool((pool.driver, pool.name)))
                for device in placed_devices(pool, members, held, self.state_rules):
                    home = homes[device.name]
                    own = device.device.node_selection
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


def _spare(held: Mapping[PoolKey, Held], devices: Iterable[PlacedDevice]) -> tuple[Hold, ...]:
    """The holds on devices that aren't among these."""
    if not held:
        return ()
    there = {(part.pool.driver, part.pool.name, part.name) for device in devices for part in (device, *device.parts)}
    return tuple(
        hold for key, own in held.items() for device, found in own.items() if (*key, device) not in there for hold in found
    )  # fmt: skip


def _with_plugin(counts: Counts, plugin: Iterable[PluginResource]) -> Counts:
    tallies = {**counts.tallies, **{kind(entry.role, entry.name, ""): _counted(entry) for entry in plugin}}
    return Counts(tallies, total(tally for kind, tally in tallies.items() if kind.is_accelerator))


def _counted(entry: PluginResource) -> Tally:
    """A plugin's resource as a tally: numbers alone, no places."""
    taken = min(entry.requested, entry.allocatable)
    states: dict[State, int] = {}
    if entry.free:
        states["free"] = entry.free
    if taken:
        states["held"] = taken
    return Tally(entry.allocatable, states, {}, {})


def _offers(node: Node | None) -> bool:
    """Whether the node has resources of device plugins."""
    return node is not None and any(map(is_extended, [name for name in node.allocatable if "/" in name]))


def _closed(node: Node | None) -> str:
    if node is None:
        return "no Node object"
    if node.unschedulable:
        return "cordoned"
    return "" if node.is_ready or not node.conditions else "not ready"
