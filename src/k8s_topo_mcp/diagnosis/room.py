"""Where the devices that a request needs add up, how much is free at each such place, and what each claim holds there.

Devices add up on a node, or by a value on a node where matchAttribute compares one; shares of a capacity on their device; what partitions
draw in their counter set (each counter as a part of its total, since they have different units). A claim whose end makes room for the
request at one of these places may be enough by itself. That is a rank and no verdict: what else the request demands isn't looked at.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from ..dra.capacity import NotRepresentable, arithmetic_of, consumed_by
from ..dra.counters import PoolCounters
from ..dra.funnel import needed_devices, screened_in
from ..dra.pools import Pool
from ..dra.prepared import Prepared
from ..dra.taints import blocking_taint
from ..objects import Device, DeviceId, ExactRequest, ObjectRef, ResourceClaim, ResourceSlice
from .groups import values_in

Amount = int | Fraction
Place = Hashable
Slices = Iterable[tuple[Pool, ResourceSlice]]


@dataclass(frozen=True, slots=True, eq=False)
class Room:
    """`needed` at one place; what is `free` at each, and what each claim holds there. `divided`: several counters make up the amounts, so
    that enough of it in all may still be too little of one of them."""

    needed: Amount
    free: Mapping[Place, Amount] = field(default_factory=dict[Place, Amount])
    held: Mapping[ObjectRef, Mapping[Place, Amount]] = field(default_factory=dict[ObjectRef, "Mapping[Place, Amount]"])
    divided: bool = False

    def rank(self, claim: ObjectRef) -> tuple[int, Amount, Amount]:
        """The smaller, the sooner the end of this claim is enough: whether it makes room where there is none (0), room for one more (1) or
        neither (2); then how much it holds; then how much isn't free afterwards, where it holds something."""
        own = self.held.get(claim, {})
        kind, most = 2, Fraction(0)
        for place, amount in own.items():
            free = self.free.get(place, 0)
            most = max(most, Fraction(free + amount))
            if self.needed and (free + amount) // self.needed > free // self.needed:
                kind = min(kind, 0 if free < self.needed else 1)
        return kind, sum(own.values()), -most


def of_devices(prepared: Prepared, slices: Slices, request: ExactRequest, needed: int, attribute: str = "") -> Room:
    """Whole devices, on a node or by the values of an attribute there."""
    problem = prepared.problem
    tainted = "DeviceTaints" in problem.features
    free: dict[Place, Amount] = {}
    held: dict[ObjectRef, dict[Place, Amount]] = {}
    for entry in screened_in(prepared, slices, request):
        node = entry.slice.node_selection.node_name or str(entry.pool)
        if entry.held:
            mine = [held.setdefault(taker.claim, {}) for taker in problem.in_use.holders.get(entry.id, ())]
        elif not tainted or blocking_taint(entry.device.taints, request.tolerations, problem.minor) is None:
            mine = [free]
        else:
            continue
        for place in [(node, value) for value in values_in(prepared, request, entry, attribute)] if attribute else [(node, "")]:
            for amounts in mine:
                amounts[place] = amounts.get(place, 0) + 1
    return Room(needed or needed_devices(request), free, held)


def of_capacity(prepared: Prepared, slices: Slices, request: ExactRequest, capacity: str, claims: Iterable[ResourceClaim]) -> Room:
    """What is left of a capacity of each device that several share, and what these claims have of it."""
    problem = prepared.problem
    needed: Amount = 0
    free: dict[Place, Amount] = {}
    for entry in screened_in(prepared, slices, request):
        own = entry.device.capacity
        if entry.held or capacity not in own:
            continue
        try:
            asked = consumed_by(request.capacity, own, arithmetic_of(problem))[capacity]
        except NotRepresentable:
            continue
        taken = problem.in_use.capacity.get(entry.id, {}).get(capacity)
        free[entry.id] = Fraction(own[capacity].value.value) - (Fraction(taken.value) if taken is not None else 0)
        needed = min(needed, Fraction(asked.value)) if needed else Fraction(asked.value)
    held: dict[ObjectRef, dict[Place, Amount]] = {}
    for claim in claims:
        for result in claim.allocation.results if claim.allocation is not None else ():
            amount = (result.consumed_capacity or {}).get(capacity)
            if amount is not None and result.id in free:
                mine = held.setdefault(claim.ref, {})
                mine[result.id] = mine.get(result.id, 0) + Fraction(amount.value)
    return Room(needed, free, held)


def of_counters(prepared: Prepared, slices: Slices, request: ExactRequest) -> Room:
    """What is left of each counter set, as parts of the totals."""
    problem = prepared.problem
    known = tuple(slices)
    free: dict[Place, Amount] = {}
    held: dict[ObjectRef, dict[Place, Amount]] = {}
    totals: dict[tuple[Place, str], Fraction] = {}
    for pool, entry in known:
        sets = entry.shared_counters if problem.minor == 34 else pool.counter_sets
        beside = (entry,) if problem.minor == 34 else (*pool.slices, *pool.elsewhere)
        if not sets or (pool.driver, pool.name, sets[0].name) in free:
            continue
        left = PoolCounters(pool, sets, beside, problem.in_use, problem.minor).left()
        for own in sets:
            place = (pool.driver, pool.name, own.name)
            totals.update({(place, name): Fraction(amount.value) for name, amount in own.counters.items()})
            free[place] = sum((Fraction(left[own.name, name]) / (totals[place, name] or 1) for name in own.counters), Fraction(0))
        for device in (device for other in beside for device in other.devices if device.consumes_counters):
            for taker in problem.in_use.holders.get(DeviceId(pool.driver, pool.name, device.name), ()):
                for place, amount in _drawn(pool, device, totals).items():
                    mine = held.setdefault(taker.claim, {})
                    mine[place] = mine.get(place, 0) + amount
    found = screened_in(prepared, known, request)
    least = min((amount for entry in found for amount in _drawn(entry.pool, entry.device, totals).values()), default=Fraction(0))
    return Room(least * needed_devices(request), free, held, divided=True)


def _drawn(pool: Pool, device: Device, totals: Mapping[tuple[Place, str], Fraction]) -> dict[Place, Fraction]:
    """What a device draws of each counter set, as parts of the totals."""
    found: dict[Place, Fraction] = {}
    for use in device.consumes_counters:
        place = (pool.driver, pool.name, use.counter_set)
        parts = (Fraction(amount.value) / (totals.get((place, name)) or 1) for name, amount in use.counters.items())
        found[place] = found.get(place, Fraction(0)) + sum(parts, Fraction(0))
    return found
