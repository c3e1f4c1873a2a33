"""What an allocation is decided from: the claims, the classes, every slice, what is in use, and the release.

A problem holds no node; `dra.allocation.allocate(problem, node)` asks it for one node at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..objects import DeviceClass, DeviceId, DeviceResult, ObjectRef, ResourceClaim
from ..objects.quantity import Quantity
from ..view.trail import Trail
from .inventory import Inventory, PoolKey
from .variants import Variant, variant


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a device: the claim, and which of its requests."""

    claim: ObjectRef
    request: str


@dataclass(frozen=True, slots=True, eq=False)
class InUse:
    """What allocated claims hold (schedulerapi.AllocatedState). Results with adminAccess hold nothing.

    `devices` are held whole; `shared` are held by one or more shares; `capacity` sums the shares. `holders` names the claims of both.
    `trail`: the pools of which other devices were held whole at each of the last revisions.
    """

    devices: frozenset[DeviceId] = frozenset()
    shared: frozenset[DeviceId] = frozenset()
    capacity: Mapping[DeviceId, Mapping[str, Quantity]] = field(default_factory=dict[DeviceId, Mapping[str, Quantity]])
    holders: Mapping[DeviceId, tuple[Holder, ...]] = field(default_factory=dict[DeviceId, tuple[Holder, ...]])
    by_pool: Mapping[PoolKey, frozenset[str]] = field(default_factory=dict[PoolKey, frozenset[str]])
    trail: Trail[Sequence[PoolKey]] = field(default_factory=lambda: Trail[Sequence[PoolKey]].begun(tuple))

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
        """The same, but each device of `held` is held by exactly those that it lists there, in the order of the claims. This very object
        where they held it before: of a claim it is mostly the reservation that changes."""
        devices: set[DeviceId] = set()
        shared: set[DeviceId] = set()
        capacity: dict[DeviceId, Mapping[str, Quantity]] = {}
        holders: dict[DeviceId, tuple[Holder, ...]] = {}
        for device, holdings in held.items():
            holders[device] = tuple([Holder(claim.ref, result.request) for claim, result in holdings])
            shares = [result for _, result in holdings if result.share_id is not None and consumable_capacity]
            if len(shares) < len(holdings):
                devices.add(device)
            if shares:
                shared.add(device)
                total = _total(shares)
                if total is not None:
                    capacity[device] = total
        if not self.holders:
            return InUse(frozenset(devices), frozenset(shared), capacity, {device: own for device, own in holders.items() if own})
        others = {device: own for device, own in holders.items() if self.holders.get(device, ()) != own}
        whole = {device for device in held if (device in devices) is not (device in self.devices)}
        parts = {device for device in held if (device in shared) is not (device in self.shared)}
        consumed = bool(capacity) or any(device in self.capacity for device in held)
        if not others and not whole and not parts and not consumed:
            return self
        if consumed:
            capacity = {**{device: amounts for device, amounts in self.capacity.items() if device not in held}, **capacity}
        return InUse(
            self.devices ^ whole,
            self.shared ^ parts,
            capacity if consumed else self.capacity,
            self._holders_with(others),
            self._pools_with(whole),
            self.trail.after(tuple(_names_by_pool(whole))),
        )

    def _holders_with(self, others: Mapping[DeviceId, tuple[Holder, ...]]) -> Mapping[DeviceId, tuple[Holder, ...]]:
        """With these devices held by others."""
        if not others:
            return self.holders
        holders = {**self.holders, **others}
        for device, own in others.items():
            if not own:
                del holders[device]
        return holders

    def _pools_with(self, whole: Iterable[DeviceId]) -> Mapping[PoolKey, frozenset[str]]:
        """With these devices held that weren't, and not held that were."""
        by_pool = dict(self.by_pool)
        for pool, names in _names_by_pool(whole).items():
            left = by_pool.pop(pool, frozenset[str]()) ^ names
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
