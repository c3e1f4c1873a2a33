"""Who holds devices: claims, the pods behind them, and whether any of those lives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import TypeAlias

from ..dra.funnel import slices_of
from ..dra.inventory import PoolKey, kept_for
from ..dra.pools import Pool
from ..dra.prepared import Prepared
from ..dra.problem import TargetNode
from ..objects import Consumer, DeviceId, Pod, ResourceClaim, ResourceSlice
from ..view import ClusterView, derived
from ..view.indices import consumers_of, holders_of_device, pods_of_claim, pools_held, users_of_claims
from .report import Holder
from .room import Room

Pair: TypeAlias = tuple[Holder, ResourceClaim]

SMALL_TRIED = 4
"""Claims that may free enough by themselves and come first."""

SMALL_LOOKED_AT = 256
"""Of so many of the smallest it is worked out whether they free enough by themselves."""

MAX_TOGETHER, MAX_POOLS = 4, 2
"""Claims of one node that are released together, and on how many nodes that is tried."""

IN_THE_WAY = frozenset({"DEVICES_IN_USE", "COUNTERS_EXHAUSTED", "CAPACITY_SHORT"})
"""Causes in which holders may be what keeps the pod."""


def holder_of(view: ClusterView, claim: ResourceClaim, devices: int) -> Holder:
    """A claim as a holder. It lives if a pod that it is reserved for, or that names it, exists and hasn't ended."""
    return _holder(view, claim, pods_of_claim(view, claim), devices)[1]


def _holder(view: ClusterView, claim: ResourceClaim, users: tuple[Pod, ...], devices: int) -> tuple[tuple[Pod, ...] | None, Holder]:
    """The holder, and the pods that name it if they decide: where every pod that it is reserved for names it. None: look again."""
    consumers = consumers_of(view, claim)
    pods = {pod.full_name: pod for pod in (*consumers, *users)}
    ended = [name for name, pod in pods.items() if pod.is_terminal]
    named = (*(name for name in pods if name not in ended), *ended) if ended else tuple(pods)
    living = len(ended) < len(pods)
    alive = living or any(entry.resource != "pods" for entry in claim.reserved_for)
    since = claim.allocation.allocated_at if claim.allocation is not None else None
    others = tuple(_consumer(entry) for entry in claim.reserved_for if entry.resource not in ("pods", "podgroups"))
    holder = Holder(claim.ref, named, devices, since if since is not None else claim.metadata.created, alive, others, living)
    return users if len(consumers) == len(claim.reserved_for) and set(consumers) <= set(users) else None, holder


_Row: TypeAlias = tuple[tuple[Pod, ...] | None, Pair, tuple[str, str], tuple[int, str]]
"""The pods that name a claim (`_holder`), its pair, its key, and its place among others: most devices first, then by name."""


@dataclass(slots=True, eq=False)
class _HeldOf:
    """Who holds what is wanted of a slice, for as long as the slice, what is held of its pool and the claims that hold it are the same."""

    entry: ResourceSlice
    held: frozenset[str]
    claims: tuple[ResourceClaim, ...]
    rows: list[_Row]


@dataclass(slots=True, eq=False)
class _Known:
    """What is known for one question: by the id of a slice who holds it, and the claims in the order in which they were told last, in which
    nearly all of them still are."""

    slices: dict[int, _HeldOf] = field(default_factory=dict[int, _HeldOf])
    order: list[ResourceClaim] = field(default_factory=list[ResourceClaim])


def holders_among(
    view: ClusterView,
    prepared: Prepared,
    nodes: Iterable[TargetNode],
    question: Hashable,
    wanted: Callable[[Pool, ResourceSlice], Iterable[DeviceId]],
) -> Held:
    """Who holds devices that these nodes see, most devices first: those that `wanted` yields of each slice.

    What `question` names decides what is wanted; the holders of a slice are kept for it, for as long as no claim on its pool changes.
    """
    by_device, in_use, inventory = holders_of_device(view), prepared.problem.in_use, prepared.problem.inventory
    last: _Known = kept_for(inventory.passed_on.setdefault("holders", {}), question, _Known)
    kept = last.slices
    if inventory.outgrown_by(len(kept)):
        kept.clear()
    found_of: dict[ResourceClaim, _Row] = {}
    several: Counter[ResourceClaim] = Counter()
    users, by_pool = users_of_claims(view), view.index(ResourceClaim, pools_held)

    def known(claim: ResourceClaim, devices: int) -> _Row:
        seen, holder = _holder(view, claim, users.get(claim.key, ()), devices)
        return seen, (holder, claim), claim.key, (-devices, claim.full_name)

    for pool, entry in slices_of(prepared, nodes):
        held = in_use.names_in(pool.driver, pool.name)
        if not held and not in_use.shared:
            continue
        found, claims = kept.get(id(entry)), by_pool.get((entry.driver, entry.pool), ())
        same = found is not None and found.entry is entry and found.held is held and found.claims is claims
        if found is None or not same or in_use.shared:
            own = Counter(claim for device in wanted(pool, entry) for claim, _ in by_device.get(device, ()))
            found = kept[id(entry)] = _HeldOf(entry, held, claims, [known(claim, count) for claim, count in own.items()])
        for place, row in enumerate(found.rows):
            seen, (holder, claim), key, _ = row
            if seen is None or seen is not users.get(key, ()):
                row = found.rows[place] = known(claim, holder.devices)
            if claim in found_of:
                several[claim] += holder.devices
            else:
                found_of[claim] = row
    for claim, more in several.items():
        found_of[claim] = known(claim, found_of[claim][1][0].devices + more)
    there = [found_of.pop(claim) for claim in last.order if claim in found_of]
    ordered = sorted([*there, *found_of.values()], key=itemgetter(3))
    last.order = [row[1][1] for row in ordered]
    return Held(tuple([row[1] for row in ordered]))


@dataclass(frozen=True, eq=False)
class Held:
    """Claims that hold devices which are wanted, most devices first; what is worked out of all of them is worked out once."""

    pairs: tuple[Pair, ...] = ()

    @cached_property
    def claims(self) -> tuple[ResourceClaim, ...]:
        """The claims alone."""
        return tuple(claim for _, claim in self.pairs)

    @cached_property
    def dead(self) -> tuple[ResourceClaim, ...]:
        """Those whose pods are gone."""
        return tuple(claim for holder, claim in self.pairs if not holder.alive)

    @cached_property
    def expendable(self) -> tuple[Pair, ...]:
        """Those whose pods are gone first, since nobody misses them; then by devices."""
        return tuple(sorted(self.pairs, key=lambda pair: pair[0].alive))

    @cached_property
    def smallest(self) -> tuple[ResourceClaim, ...]:
        """Those that hold the fewest devices and whose pods live."""
        alive = sorted(self.expendable[len(self.dead) :], key=lambda pair: pair[0].devices)
        return tuple(claim for _, claim in alive[:SMALL_LOOKED_AT])

    def in_order(self, room: Room) -> tuple[Pair, ...]:
        """Those whose pods are gone, then a few that may free enough by themselves, the smallest first, then the others: of counters
        those after which the most is left, else the largest."""
        known = self._in_order.get(id(room))
        if known is None or known[0] is not room:
            dead, alive = self.expendable[: len(self.dead)], self.expendable[len(self.dead) :]
            ranks = {id(pair): room.rank(pair[0].about) for pair in alive}
            enough = sorted((pair for pair in alive if ranks[id(pair)][0] < 2), key=lambda pair: ranks[id(pair)])[:SMALL_TRIED]
            chosen = {id(pair) for pair in enough}
            rest = [pair for pair in alive if id(pair) not in chosen]
            if room.divided:
                rest.sort(key=lambda pair: ranks[id(pair)][2])
            known = self._in_order[id(room)] = (room, (*dead, *enough, *rest))
        return known[1]

    _in_order: dict[int, tuple[Room, tuple[Pair, ...]]] = field(default_factory=dict[int, "tuple[Room, tuple[Pair, ...]]"])

    @cached_property
    def holders(self) -> tuple[Holder, ...]:
        """These, without the claims themselves."""
        return tuple(holder for holder, _ in self.expendable)

    @cached_property
    def by_pool(self) -> tuple[tuple[Pair, ...], ...]:
        """Those of one pool together, in that order; only pools of two or more."""
        pools: dict[PoolKey, list[Pair]] = {}  # in the order of the first of each
        abandoned: set[PoolKey] = set()
        for pair in self.pairs:
            for pool in _pools_of(pair[1]):
                pools.setdefault(pool, []).append(pair)
                if not pair[0].alive:
                    abandoned.add(pool)
        for pool in abandoned:
            pools[pool].sort(key=lambda pair: pair[0].alive)
        return tuple([tuple(members) for members in pools.values() if len(members) > 1])

    def sets(self, short_by: int) -> tuple[tuple[Pair, ...], ...]:
        """Of the pools with the fewest holders in the way as many of these as hold `short_by` devices together."""
        known = self._sets.get(short_by)
        if known is None:
            found = [chosen for members in self.by_pool if (chosen := _enough(members, short_by))]
            known = self._sets[short_by] = tuple(sorted(found, key=len)[:MAX_POOLS])
        return known

    _sets: dict[int, tuple[tuple[Pair, ...], ...]] = field(default_factory=dict[int, "tuple[tuple[Pair, ...], ...]"])


def _pools_of(claim: ResourceClaim) -> tuple[PoolKey, ...]:
    return derived(claim, "pools", lambda: _pools(claim))


def _pools(claim: ResourceClaim) -> tuple[PoolKey, ...]:
    results = claim.allocation.results if claim.allocation is not None else ()
    return tuple({(result.driver, result.pool): None for result in results})


def _enough(members: Sequence[Pair], short_by: int) -> tuple[Pair, ...]:
    """The first of `members` that hold so many devices, if they are several and not too many; else nothing."""
    devices = 0
    for place, (holder, _) in enumerate(members[:MAX_TOGETHER]):
        devices += holder.devices
        if devices >= short_by:
            return tuple(members[: place + 1]) if place else ()
    return ()


def _consumer(entry: Consumer) -> str:
    """What a claim is reserved for, where it is no pod."""
    return f"{entry.resource}{f'.{entry.api_group}' if entry.api_group else ''} {entry.name}"
