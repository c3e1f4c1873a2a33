"""What an allocation is decided from: the claims, the classes, every slice, what is in use, and the release.

A problem holds no node; `dra.allocation.allocate(problem, node)` asks it for one node at a time.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..objects import DeviceClass, DeviceId, DeviceResult, ObjectRef, ResourceClaim, ResourceSlice
from ..objects.quantity import Quantity
from .variants import Variant, variant

PoolKey = tuple[str, str]
"""(driver, pool name)."""


@dataclass(frozen=True, slots=True, eq=False)
class Inventory:
    """All slices of the cluster, arranged as the allocator looks at them. Order within each list is the order given.

    `places` is the position of a slice by its id(); `named_counters` are slices with counter sets that name a node. `kept` holds facts that
    others derive from these slices alone, for as long as the slices are the same.
    """

    slices: tuple[ResourceSlice, ...]
    by_node: Mapping[str, tuple[ResourceSlice, ...]]
    shared: tuple[ResourceSlice, ...]
    by_pool: Mapping[PoolKey, tuple[ResourceSlice, ...]]
    places: Mapping[int, int]
    named_counters: Mapping[PoolKey, tuple[ResourceSlice, ...]]
    kept: dict[Hashable, dict[Any, Any]] = field(default_factory=dict[Hashable, dict[Any, Any]])

    @classmethod
    def of(cls, slices: Iterable[ResourceSlice]) -> Inventory:
        everything = tuple(slices)
        by_node: dict[str, list[ResourceSlice]] = {}
        shared: list[ResourceSlice] = []
        by_pool: dict[PoolKey, list[ResourceSlice]] = {}
        for entry in everything:
            node = entry.node_selection.node_name
            if node:
                by_node.setdefault(node, []).append(entry)
            else:
                shared.append(entry)
            by_pool.setdefault((entry.driver, entry.pool), []).append(entry)
        return cls(
            everything,
            {node: tuple(found) for node, found in by_node.items()},
            tuple(shared),
            {pool: tuple(found) for pool, found in by_pool.items()},
            {id(entry): place for place, entry in enumerate(everything)},
            {
                pool: counters
                for pool, found in by_pool.items()
                if (counters := tuple(entry for entry in found if entry.shared_counters and entry.node_selection.node_name))
            },
        )

    def near(self, node_name: str, as_listed: bool = False) -> tuple[ResourceSlice, ...]:
        """The slices to look at for one node: its own, then those without a node name; or both in the order in which they were given."""
        own = self.by_node.get(node_name, ())
        if not self.shared:
            return own
        if not as_listed:
            return own + self.shared
        return tuple(sorted(own + self.shared, key=lambda entry: self.places[id(entry)]))


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a device: the claim, and which of its requests."""

    claim: ObjectRef
    request: str


@dataclass(frozen=True, slots=True, eq=False)
class InUse:
    """What allocated claims hold (schedulerapi.AllocatedState). Results with adminAccess hold nothing.

    `devices` are held whole; `shared` are held by one or more shares; `capacity` sums the shares. `holders` names the claims of both.
    """

    devices: frozenset[DeviceId] = frozenset()
    shared: frozenset[DeviceId] = frozenset()
    capacity: Mapping[DeviceId, Mapping[str, Quantity]] = field(default_factory=dict[DeviceId, Mapping[str, Quantity]])
    holders: Mapping[DeviceId, tuple[Holder, ...]] = field(default_factory=dict[DeviceId, tuple[Holder, ...]])
    by_pool: Mapping[PoolKey, frozenset[str]] = field(default_factory=dict[PoolKey, frozenset[str]])

    def __post_init__(self) -> None:
        if not self.by_pool:
            object.__setattr__(self, "by_pool", _names_by_pool(self.devices))

    @classmethod
    def of(cls, claims: Iterable[ResourceClaim], consumable_capacity: bool) -> InUse:
        """Collect what every allocated claim holds, whoever reserved it. With consumable capacity off a share takes the whole device."""
        held: dict[DeviceId, list[tuple[ResourceClaim, DeviceResult]]] = {}
        for claim in claims:
            if claim.allocation is not None:
                for result in claim.allocation.results:
                    if not result.admin_access:
                        held.setdefault(result.id, []).append((claim, result))
        return cls().revised(held, consumable_capacity)

    def revised(self, held: Mapping[DeviceId, Sequence[tuple[ResourceClaim, DeviceResult]]], consumable_capacity: bool) -> InUse:
        """The same, but each device of `held` is held by exactly those that it lists there, in the order of the claims."""
        if not held:
            return self
        devices: set[DeviceId] = set()
        shared: set[DeviceId] = set()
        capacity = {device: amounts for device, amounts in self.capacity.items() if device not in held}
        holders = dict(self.holders)
        for device, holdings in held.items():
            if not holdings:
                holders.pop(device, None)
                continue
            holders[device] = tuple(Holder(claim.ref, result.request) for claim, result in holdings)
            shares = [result for _, result in holdings if result.share_id is not None and consumable_capacity]
            if len(shares) < len(holdings):
                devices.add(device)
            if shares:
                shared.add(device)
                total = _total(shares)
                if total is not None:
                    capacity[device] = total
        whole = self.devices.difference(held) | devices
        by_pool = _names_by_pool(whole) if not self.devices else self._pools_after(held, devices)
        return InUse(whole, self.shared.difference(held) | shared, capacity, holders, by_pool)

    def _pools_after(self, held: Iterable[DeviceId], devices: Iterable[DeviceId]) -> Mapping[PoolKey, frozenset[str]]:
        by_pool = dict(self.by_pool)
        gone, come = _names_by_pool(held), _names_by_pool(devices)
        for pool, names in gone.items():
            left = by_pool.pop(pool, frozenset[str]()) - names | come.get(pool, frozenset())
            if left:
                by_pool[pool] = left
        return by_pool

    def names_in(self, driver: str, pool: str) -> frozenset[str]:
        """Device names of one pool that are held whole."""
        return self.by_pool.get((driver, pool), _NO_NAMES)


_NO_NAMES: frozenset[str] = frozenset()


def _names_by_pool(devices: Iterable[DeviceId]) -> Mapping[PoolKey, frozenset[str]]:
    groups: dict[PoolKey, set[str]] = {}
    for device in devices:
        groups.setdefault((device.driver, device.pool), set()).add(device.device)
    return {key: frozenset(names) for key, names in groups.items()}


NOTHING_HELD = InUse()
"""As if no claim held anything: one object, so that what is kept for it is found again."""


def _total(shares: Iterable[DeviceResult]) -> Mapping[str, Quantity] | None:
    """What the shares of a device consume together; None where none of them says."""
    total: dict[str, Quantity] | None = None
    for share in shares:
        if share.consumed_capacity is not None:
            total = {} if total is None else total
            for name, amount in share.consumed_capacity.items():
                total[name] = total[name] + amount if name in total else amount
    return total


@dataclass(frozen=True, slots=True)
class TargetNode:
    """What the allocator reads of a node."""

    name: str
    labels: Mapping[str, str]
    declared_features: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class AllocationProblem:
    """The claims are tried in this order (the pod's). `features` are the allocator's switches (dra.features); `variant` is the copy of the
    allocator that runs with them, None when none supports them. `cel_lists`: selectors understand attributes that are lists (the 1.36
    scheduler tells only them of it, not the allocator)."""

    claims: tuple[ResourceClaim, ...]
    classes: Mapping[str, DeviceClass]
    inventory: Inventory
    in_use: InUse
    minor: int
    features: frozenset[str]
    variant: Variant | None
    cel_lists: bool = False

    @classmethod
    def of(
        cls,
        claims: Iterable[ResourceClaim],
        classes: Mapping[str, DeviceClass],
        inventory: Inventory,
        in_use: InUse,
        minor: int,
        features: frozenset[str],
        cel_lists: bool,
    ) -> AllocationProblem:
        """The problem as this release would judge it."""
        return cls(tuple(claims), classes, inventory, in_use, minor, features, variant(minor, features), cel_lists)
