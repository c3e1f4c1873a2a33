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
from ..dra.inventory import PoolKey, kept_for
from ..dra.pools import Pool
from ..dra.prepared import Prepared
from ..dra.selectors import chain
from ..dra.taints import blocking_taint
from ..objects import Device, DeviceId, ExactRequest, ObjectRef, ResourceClaim, ResourceSlice
from .groups import values_in

Amount = int | Fraction
Place = Hashable
Slices = Iterable[tuple[Pool, ResourceSlice]]
Holders = Mapping[PoolKey, tuple[ResourceClaim, ...]] | None
Rank = tuple[int, Amount, Amount]

KEPT = 4
"""So many rooms are kept for a question: those of three zones and of all of them."""


@dataclass(frozen=True, slots=True, eq=False)
class Room:
    """`needed` at one place; what is `free` at each, and what each claim holds there. `divided`: several counters make up the amounts, so
    that enough of it in all may still be too little of one of them."""

    needed: Amount
    free: Mapping[Place, Amount] = field(default_factory=dict[Place, Amount])
    held: Mapping[ObjectRef, Mapping[Place, Amount]] = field(default_factory=dict[ObjectRef, "Mapping[Place, Amount]"])
    divided: bool = False
    _ranks: dict[ObjectRef, Rank] = field(default_factory=dict[ObjectRef, "Rank"])

    def rank(self, claim: ObjectRef) -> Rank:
        """The smaller, the sooner the end of this claim is enough: whether it makes room where there is none (0), room for one more (1) or
        neither (2); then how much it holds; then how much isn't free afterwards, where it holds something."""
        found = self._ranks.get(claim)
        if found is None:
            found = self._ranks[claim] = self._rank(self.held.get(claim, {}))
        return found

    def _rank(self, own: Mapping[Place, Amount]) -> Rank:
        kind = 2
        most: Amount = 0
        for place, amount in own.items():
            free = self.free.get(place, 0)
            most = max(most, free + amount)
            if self.needed and (free + amount) // self.needed > free // self.needed:
                kind = min(kind, 0 if free < self.needed else 1)
        return kind, sum(own.values()), -most


def of_devices(
    prepared: Prepared, slices: Slices, request: ExactRequest, needed: int, attribute: str = "", holders: Holders = None
) -> Room:
    """Whole devices, on a node or by the values of an attribute there. `holders`: the claims that hold devices of each pool, if what is in
    use is what these hold; then what each slice adds is kept for as long as they are the same."""
    problem = prepared.problem
    device_class = problem.classes.get(request.class_name)
    if device_class is None:
        return Room(needed or needed_devices(request))
    tainted = "DeviceTaints" in problem.features
    own = chain(prepared.environment, device_class, request.selectors)
    question = (own, request.tolerations, request.derived_attributes, attribute, needed, problem.minor, tainted)
    kept = kept_for(problem.inventory.passed_on.setdefault("room", {}), question, _Kept)
    if problem.inventory.outgrown_by(len(kept.parts)):
        kept.parts.clear()
    parts: list[_Part] = []
    for pool, entry in slices:
        key = (pool.driver, pool.name)
        names = problem.in_use.by_pool.get(key)
        claims = () if holders is None else holders.get(key, ())
        part = kept.parts.get(id(entry))
        if holders is None or part is None or not part.holds(pool, entry, names, claims):
            part = _Part(pool, entry, names, claims, *_of_slice(prepared, pool, entry, request, attribute))
            if holders is not None:
                kept.parts[id(entry)] = part
        parts.append(part)
    now = {id(part): part for part in parts}
    known = tuple(kept.rooms) if holders is not None else ()
    then, room = max(known, key=lambda entry: len(entry[0].keys() & now.keys()), default=_NOTHING)
    gone, come = then.keys() - now.keys(), now.keys() - then.keys()
    if room is None or len(gone) + len(come) > len(now):
        room = _changed(Room(needed or needed_devices(request)), (), parts)
    elif gone or come:
        room = _changed(room, map(then.__getitem__, gone), map(now.__getitem__, come))
    if holders is not None:
        others = [entry for entry in known if entry[0] is not then]
        kept.rooms[:] = [(now, room), *others][:KEPT]
    return room


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """What one slice adds to a room, while `names` are held of its pool, by these claims."""

    pool: Pool
    entry: ResourceSlice
    names: frozenset[str] | None
    claims: tuple[ResourceClaim, ...]
    free: Mapping[Place, Amount]
    held: Mapping[ObjectRef, Mapping[Place, Amount]]

    def holds(self, pool: Pool, entry: ResourceSlice, names: frozenset[str] | None, claims: tuple[ResourceClaim, ...]) -> bool:
        """Whether it adds the same there."""
        return self.entry is entry and self.names is names and self.claims is claims and self.pool is pool


@dataclass(frozen=True, slots=True, eq=False)
class _Kept:
    """What each slice adds, by its id, and the last rooms, each with the parts of which it is made by their ids."""

    parts: dict[int, _Part] = field(default_factory=dict[int, _Part])
    rooms: list[tuple[Mapping[int, _Part], Room]] = field(default_factory=list["tuple[Mapping[int, _Part], Room]"])


_NOTHING: tuple[Mapping[int, _Part], Room | None] = ({}, None)


def _of_slice(
    prepared: Prepared, pool: Pool, entry: ResourceSlice, request: ExactRequest, attribute: str
) -> tuple[Mapping[Place, Amount], Mapping[ObjectRef, Mapping[Place, Amount]]]:
    """What is free of a slice, and what each claim holds of it."""
    problem = prepared.problem
    tainted = "DeviceTaints" in problem.features
    free: dict[Place, Amount] = {}
    held: dict[ObjectRef, dict[Place, Amount]] = {}
    node = entry.node_selection.node_name or str(pool)
    for found in screened_in(prepared, ((pool, entry),), request):
        if found.held:
            mine = [held.setdefault(taker.claim, {}) for taker in problem.in_use.holders.get(found.id, ())]
        elif not tainted or blocking_taint(found.device.taints, request.tolerations, problem.minor) is None:
            mine = [free]
        else:
            continue
        for place in [(node, value) for value in values_in(prepared, request, found, attribute)] if attribute else [(node, "")]:
            for amounts in mine:
                amounts[place] = amounts.get(place, 0) + 1
    return free, {claim: own for claim, own in held.items() if own}


def _changed(room: Room, gone: Iterable[_Part], come: Iterable[_Part]) -> Room:
    """The room without what some slices added, and with what others add."""
    free, held = dict(room.free), dict(room.held)
    touched: dict[ObjectRef, dict[Place, Amount]] = {}
    for parts, sign in ((gone, -1), (come, 1)):
        for part in parts:
            _add(free, part.free, sign)
            for claim, amounts in part.held.items():
                own = touched.get(claim)
                if own is None:
                    own = touched[claim] = dict(held.get(claim, {}))
                _add(own, amounts, sign)
    for claim, own in touched.items():
        if own:
            held[claim] = own
        else:
            held.pop(claim, None)
    return Room(room.needed, free, held)


def _add(to: dict[Place, Amount], amounts: Mapping[Place, Amount], sign: int) -> None:
    for place, amount in amounts.items():
        now = to.get(place, 0) + sign * amount
        if now:
            to[place] = now
        else:
            del to[place]


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
