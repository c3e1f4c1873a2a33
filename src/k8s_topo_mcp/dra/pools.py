"""Which pools a node sees, which of their devices count, and why a pool can't be used.

Rule: GatherPools in structured/internal/*/pools_*.go. Only the newest generation of a pool counts. If fewer slices than the pool announces
match the node, the slices of the whole cluster are counted (from 1.35 on; 1.34 looks at the node's alone). A pool that lacks slices is
incomplete, one with contradictions (a device name twice, a counter set twice, a counter that isn't there) is invalid. Neither gives
devices.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from operator import is_
from typing import Any, Literal
from weakref import ref

from ..objects import CounterSet, ResourceSlice
from ..objects.record import record
from ..view import derived
from .inventory import Inventory, PoolKey
from .problem import TargetNode
from .variants import Variant

PoolState = Literal["usable", "incomplete", "invalid"]


@record()
class Pool:
    """One pool as one node sees it.

    `slices` carry devices for this node, `elsewhere` are slices of the pool that don't select it (they matter for counters). An incomplete
    or invalid pool keeps its slices for the explanation; the allocator gets none of them. `seen` of `announced` slices exist.
    """

    driver: str
    name: str
    generation: int
    state: PoolState
    reason: str
    slices: tuple[ResourceSlice, ...]
    elsewhere: tuple[ResourceSlice, ...] = ()
    counter_sets: tuple[CounterSet, ...] = ()
    seen: int = 0
    announced: int = 0
    has_binding_conditions: bool = False

    @property
    def usable(self) -> bool:
        return self.state == "usable"

    @property
    def incomplete(self) -> bool:
        """Slices are missing; in 1.34 and the stable variant of 1.35 an invalid pool may be that too."""
        return self.seen != self.announced

    def __str__(self) -> str:
        return f"{self.driver}/{self.name}"


def newest_of(slices: Iterable[ResourceSlice]) -> tuple[ResourceSlice, ...]:
    """Those of the newest generation among slices of one pool: older ones don't count any more."""
    known = tuple(slices)
    newest = max((entry.generation for entry in known), default=0)
    return tuple(entry for entry in known if entry.generation == newest)


def uses_compatibility_groups(entry: ResourceSlice) -> bool:
    return any(use.compatibility_groups for device in entry.devices for use in device.consumes_counters)


def _selects(entry: ResourceSlice, node: TargetNode) -> bool:
    """Whether any device of the slice can be used on the node; a selection that isn't stated (or isn't known) selects nothing."""
    if entry.node_selection.stated:
        return entry.node_selection.matches(node.name, node.labels)
    if entry.per_device_node_selection:
        return any(device.node_selection.matches(node.name, node.labels) for device in entry.devices)
    return False


def _skipped(entry: ResourceSlice, minor: int, features: frozenset[str], hides_counters: bool) -> bool:
    """Slices that a switched-off feature hides."""
    if "PartitionableDevices" not in features and (entry.per_device_node_selection or (hides_counters and entry.shared_counters)):
        return True
    return minor >= 37 and "CompatibilityGroups" not in features and uses_compatibility_groups(entry)


def _has_binding_conditions(slices: Iterable[ResourceSlice]) -> bool:
    return any(device.binding_conditions for entry in slices for device in entry.devices)


def _repeated_device(slices: Iterable[ResourceSlice]) -> str | None:
    listed = [device.name for entry in slices for device in entry.devices]
    if len(set(listed)) == len(listed):
        return None
    names: set[str] = set()
    for name in listed:
        if name in names:
            return name
        names.add(name)
    return None


def _counters_problem(counter_sets: Mapping[str, CounterSet], slices: Iterable[ResourceSlice]) -> str | None:
    for entry in slices:
        for device in entry.devices:
            for use in device.consumes_counters:
                counter_set = counter_sets.get(use.counter_set)
                if counter_set is None:
                    return f"counter set {use.counter_set} not found"
                for counter in use.counters:
                    if counter not in counter_set.counters:
                        return f"counter {counter} not found in counter set {use.counter_set}"
    return None


def gather_pools(inventory: Inventory, node: TargetNode, minor: int, features: frozenset[str], variant: Variant | None) -> tuple[Pool, ...]:
    """All pools with a slice for this node, usable or not, in the order in which the allocator tries them.

    Where the order isn't defined it is the order of first appearance.
    """
    ordered = variant is not None and variant.ordered
    everywhere = counters_everywhere(minor, variant)
    if not inventory.shared and not (everywhere and inventory.named_counters):
        own = inventory.by_node.get(node.name, ())
        if _simple(own):
            built = [_whole(entry) or _build((entry.driver, entry.pool), [entry], inventory, minor, features, ordered) for entry in own]
            simple = [pool for pool in built if pool is not None]
            return tuple(sorted(simple, key=_order)) if ordered and len(simple) > 1 else tuple(simple)
    hides_counters = minor >= 36 or (minor == 35 and variant is not None and variant.name != "stable")
    found: dict[PoolKey, list[ResourceSlice]] = {}
    near = inventory.near(node.name, as_listed=not ordered)
    if everywhere and inventory.named_counters:
        near = (*near, *_foreign_counters(inventory, node, near, minor, features, ordered))
    if variant is not None and variant.binding_slices_last:
        near = tuple(sorted(near, key=lambda entry: _has_binding_conditions((entry,))))
    for entry in near:
        if _skipped(entry, minor, features, hides_counters):
            continue
        # Up to 1.36, and in 1.37's stable copy, a slice with counter sets belongs to every node.
        if not (everywhere and entry.shared_counters) and not _selects(entry, node):
            continue
        key = (entry.driver, entry.pool)
        known = found.get(key)
        if known is None or entry.generation > known[0].generation:
            found[key] = [entry]
        elif entry.generation == known[0].generation:
            known.append(entry)
    plain: list[Pool] = []
    binding: list[Pool] = []
    for key, slices in found.items():
        pool = _build(key, slices, inventory, minor, features, ordered)
        if pool is not None:
            (binding if pool.has_binding_conditions and variant is not None and variant.binding_pools_last else plain).append(pool)
    if ordered:
        plain.sort(key=_order)
        binding.sort(key=_order)
    return (*plain, *binding)


def _simple(own: tuple[ResourceSlice, ...]) -> bool:
    """Whether these slices of a node are of a pool each, and have neither counters nor binding conditions, on which it turns what is left
    out and what comes last: nearly every node is like this, and there is nothing to group."""
    if len(own) > 1 and len({(entry.driver, entry.pool) for entry in own}) < len(own):
        return False
    for entry in own:
        if entry.shared_counters or entry.per_device_node_selection:
            return False
        if any([device.consumes_counters or device.binding_conditions for device in entry.devices]):  # noqa: C419 a list is faster
            return False
    return True


def _whole(entry: ResourceSlice) -> Pool | None:
    """The pool of a `_simple` slice that is all of it and has nothing wrong; None where the general rules have to say."""
    devices = entry.devices
    if entry.slice_count != 1 or len({device.name for device in devices}) < len(devices):
        return None
    return Pool(entry.driver, entry.pool, entry.generation, "usable", "", (entry,), seen=1, announced=1)


def counters_everywhere(minor: int, variant: Variant | None) -> bool:
    """Whether a slice with counter sets belongs to every node, also if it names one."""
    return minor in (35, 36) or (minor == 37 and variant is not None and variant.name == "stable")


def _foreign_counters(
    inventory: Inventory, node: TargetNode, near: tuple[ResourceSlice, ...], minor: int, features: frozenset[str], ordered: bool
) -> list[ResourceSlice]:
    """Slices with counter sets that name other nodes: those of pools that this node sees, and those of pools that are in trouble.

    To this release they belong to every node. A sound pool of which a node sees only counters gives it nothing, so it is left out.
    """
    seen = {(entry.driver, entry.pool) for entry in near}
    found: list[ResourceSlice] = []
    for key, counters in inventory.named_counters.items():
        if key in seen or _in_trouble(inventory, key, minor, features, ordered):
            found.extend(entry for entry in counters if entry.node_selection.node_name != node.name)
    return found


def shown_to_all(inventory: Inventory, minor: int, features: frozenset[str], variant: Variant | None) -> frozenset[PoolKey]:
    """The pools of which any node sees something, whatever its name and labels: those with slices that name no node, and those in trouble
    whose counter sets this release shows to every node. A new node sees them too."""
    seen = {(entry.driver, entry.pool) for entry in inventory.shared}
    if counters_everywhere(minor, variant):
        ordered = variant is not None and variant.ordered
        seen.update(key for key in inventory.named_counters if _in_trouble(inventory, key, minor, features, ordered))
    return frozenset(seen)


def _in_trouble(inventory: Inventory, key: PoolKey, minor: int, features: frozenset[str], ordered: bool) -> bool:
    """Whether a node that sees nothing but the pool's counters would find it incomplete or invalid."""
    counters, everything = inventory.named_counters[key], inventory.by_pool[key]
    known: dict[Hashable, tuple[tuple[ref[ResourceSlice], ...], bool]] = derived(counters[0], "counters alone", dict[Any, Any])
    question = (minor, features, ordered)
    found = known.get(question)
    if found is None or len(found[0]) != len(everything) or not all(map(is_, (seen() for seen in found[0]), everything)):
        pool = _build(key, [*newest_of(counters)], inventory, minor, features, ordered)
        found = known[question] = (tuple(map(ref, everything)), pool is not None and not pool.usable)
    return found[1]


def _order(pool: Pool) -> PoolKey:
    return (pool.driver, pool.name)


def _slice_name(entry: ResourceSlice) -> str:
    return entry.metadata.name


def _build(
    key: PoolKey, slices: list[ResourceSlice], inventory: Inventory, minor: int, features: frozenset[str], ordered: bool
) -> Pool | None:
    """The pool from its newest slices for this node; None when a newer generation elsewhere makes it obsolete."""
    driver, name = key
    generation, announced = slices[0].generation, slices[0].slice_count
    everything: list[ResourceSlice] = slices
    if len(slices) != announced and minor >= 35:
        everything = []
        for entry in inventory.by_pool.get(key, ()):
            if entry.generation > generation:
                return None
            if entry.generation == generation:
                everything.append(entry)
        if minor >= 37 and "CompatibilityGroups" not in features:
            everything = [entry for entry in everything if not uses_compatibility_groups(entry)]
    if ordered:
        slices = sorted(slices, key=_slice_name)
    partitionable = "PartitionableDevices" in features and minor >= 35
    with_devices = tuple(entry for entry in slices if not (partitionable and entry.shared_counters))
    names = {entry.metadata.name for entry in slices}
    elsewhere_all = tuple(entry for entry in everything if entry.metadata.name not in names) if everything is not slices else ()
    elsewhere = tuple(entry for entry in elsewhere_all if not (partitionable and entry.shared_counters))
    counter_sets: dict[str, CounterSet] = {}
    state: PoolState = "usable"
    reason = ""
    repeated = _repeated_device(with_devices)
    if len(everything) != announced:
        state, reason = "incomplete", f"{len(everything)} of {announced} slices of generation {generation}"
    looks_on = minor == 34 or (minor == 35 and not features)  # 1.34, and the stable variant of 1.35, judge incomplete pools too
    if repeated is not None and (state == "usable" or looks_on):
        state, reason = "invalid", f"duplicate device name {repeated}"
    elif partitionable and state == "usable":
        problem: str | None = None
        for entry in (*slices, *elsewhere_all):
            for counter_set in entry.shared_counters:
                if counter_set.name in counter_sets and problem is None:
                    problem = f"duplicate counter set name {counter_set.name}"
                counter_sets[counter_set.name] = counter_set
        problem = problem or _counters_problem(counter_sets, with_devices) or _counters_problem(counter_sets, elsewhere)
        if problem is not None:
            state, reason = "invalid", problem
    return Pool(
        driver=driver,
        name=name,
        generation=generation,
        state=state,
        reason=reason,
        slices=with_devices,
        elsewhere=elsewhere,
        counter_sets=tuple(counter_sets.values()),
        seen=len(everything),
        announced=announced,
        # An unusable pool has no devices to the allocator, so it sorts with the plain ones (1.34 keeps them).
        has_binding_conditions=_has_binding_conditions(with_devices) and (state == "usable" or minor == 34),
    )
