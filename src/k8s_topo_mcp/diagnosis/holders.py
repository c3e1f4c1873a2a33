"""Who holds devices: claims, the pods behind them, and whether any of those lives.

The holders of one question are passed on with the slices, in their order: those of a slice are looked for again where what is held of its
pool, or a claim that holds it, is another; a claim is told again where a pod that it is for is another.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, compress, islice
from operator import is_not
from typing import NamedTuple, TypeAlias

from ..dra.inventory import PoolKey, kept_for
from ..dra.pools import Pool
from ..dra.prepared import Prepared
from ..dra.problem import InUse, TargetNode
from ..dra.visible import Visible, slices_of
from ..objects import Consumer, DeviceId, Pod, ResourceClaim, ResourceSlice
from ..view import ClusterView
from ..view.indices import consumers_of, holders_of_device, pods_of_claim, pools_held, users_of_claims
from .report import Holder
from .room import Room

Pair: TypeAlias = tuple[Holder, ResourceClaim]
ClaimKey: TypeAlias = tuple[str, str]

SMALL_TRIED = 4
"""Claims that may free enough by themselves and come first."""

SMALL_LOOKED_AT = 256
"""Of so many of the smallest it is worked out whether they free enough by themselves."""

MAX_TOGETHER, MAX_POOLS = 4, 2
"""Claims of one node that are released together, and on how many nodes that is tried."""

KEPT = 2
"""Sets of nodes for which the holders of a question are kept."""

IN_THE_WAY = frozenset({"DEVICES_IN_USE", "COUNTERS_EXHAUSTED", "CAPACITY_SHORT"})
"""Causes in which holders may be what keeps the pod."""


def holder_of(view: ClusterView, claim: ResourceClaim, devices: int) -> Holder:
    """A claim as a holder. It lives if a pod that it is reserved for, or that names it, exists and hasn't ended."""
    return _holder(claim, consumers_of(view, claim), pods_of_claim(view, claim), devices)


def _holder(claim: ResourceClaim, consumers: tuple[Pod, ...], users: tuple[Pod, ...], devices: int) -> Holder:
    pods = {pod.full_name: pod for pod in (*consumers, *users)}
    ended = [name for name, pod in pods.items() if pod.is_terminal]
    named = (*(name for name in pods if name not in ended), *ended) if ended else tuple(pods)
    living = len(ended) < len(pods)
    alive = living or any(entry.resource != "pods" for entry in claim.reserved_for)
    since = claim.allocation.allocated_at if claim.allocation is not None else None
    others = tuple(_consumer(entry) for entry in claim.reserved_for if entry.resource not in ("pods", "podgroups"))
    return Holder(claim.ref, named, devices, since if since is not None else claim.metadata.created, alive, others, living)


class _Row(NamedTuple):
    """A claim among those that hold something. `place`: most devices first, then by name. `users`: the pods that name it. `consumers`:
    those that it is reserved for; None where each of these names it, so that none is another while `users` is the same."""

    place: tuple[int, str]
    pair: Pair
    key: ClaimKey
    users: tuple[Pod, ...] | None
    consumers: tuple[Pod, ...] | None


def _row(view: ClusterView, claim: ResourceClaim, users: tuple[Pod, ...] | None, devices: int) -> _Row:
    consumers, named = consumers_of(view, claim), users or ()
    all_named = len(consumers) == len(claim.reserved_for) and set(consumers) <= set(named)
    holder = _holder(claim, consumers, named, devices)
    return _Row((-devices, claim.full_name), (holder, claim), claim.key, users, None if all_named else consumers)


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """Who holds what is wanted of these slices, as of one moment. `held`, `claims` and `counts` (devices that each claim holds there) have
    one place for each slice; `devices` are those of each claim in all, `rows` the claims by key, `order` the same in their order."""

    slices: Sequence[Visible]
    held: Sequence[frozenset[str] | None]
    claims: Sequence[tuple[ResourceClaim, ...] | None]
    counts: Sequence[Mapping[ResourceClaim, int]]
    devices: Mapping[ResourceClaim, int]
    rows: Mapping[ClaimKey, _Row]
    order: Sequence[_Row]


_NONE: Mapping[ResourceClaim, int] = {}
_NOTHING = _Known((), (), (), (), {}, {}, ())


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
    slices = slices_of(prepared, nodes)
    kept: list[_Known] = kept_for(prepared.problem.inventory.passed_on.setdefault("holders", {}), question, list)
    known = tuple(kept)
    before = next((entry for entry in known if entry.slices is slices), None)
    if before is None:
        before = next((entry for entry in known if len(entry.slices) == len(slices)), known[0] if known else _NOTHING)
    counted = _counted(view, prepared.problem.in_use, slices, before, wanted)
    rows, order = _ordered(view, counted, before)
    found = _Known(slices, counted.held, counted.claims, counted.counts, counted.devices, rows, order)
    kept[:] = [found, *(entry for entry in known if len(entry.slices) != len(slices))][:KEPT]
    return Held(tuple([row.pair for row in order]), rows, view.index(ResourceClaim, pools_held))


@dataclass(frozen=True, slots=True, eq=False)
class _Counted:
    """How many devices each claim holds, as `_Known` has it; `touched`: claims that hold something else there than before."""

    held: Sequence[frozenset[str] | None]
    claims: Sequence[tuple[ResourceClaim, ...] | None]
    counts: Sequence[Mapping[ResourceClaim, int]]
    devices: Mapping[ResourceClaim, int]
    touched: Iterable[ResourceClaim]


def _counted(
    view: ClusterView, in_use: InUse, slices: Sequence[Visible], before: _Known, wanted: Callable[[Pool, ResourceSlice], Iterable[DeviceId]]
) -> _Counted:
    by_device, by_pool = holders_of_device(view), view.index(ResourceClaim, pools_held)
    pools: list[PoolKey] = [(pool.driver, pool.name) for pool, _ in slices]
    held, claims = list(map(in_use.by_pool.get, pools)), list(map(by_pool.get, pools))
    aligned = len(slices) == len(before.slices)
    then = before if aligned else _aligned(before, slices)
    if in_use.shared:
        others: Iterable[int] = range(len(slices))
    else:
        same_slices = map(is_not, slices, then.slices)
        others = compress(
            range(len(slices)),
            map(bool.__or__, map(bool.__or__, map(is_not, held, then.held), map(is_not, claims, then.claims)), same_slices),
        )
    counts = list(then.counts)
    devices: dict[ResourceClaim, int] = dict(before.devices) if aligned else {}
    touched: dict[ResourceClaim, None] = {}
    for place in others:
        pool, entry = slices[place]
        there = held[place] is not None or in_use.shared
        now = Counter(claim for device in wanted(pool, entry) for claim, _ in by_device.get(device, ())) if there else _NONE
        if aligned:
            for claim, number in counts[place].items():
                devices[claim] -= number
                touched[claim] = None
            for claim, number in now.items():
                devices[claim] = devices.get(claim, 0) + number
                touched[claim] = None
        counts[place] = now
    if not aligned:
        for own in counts:
            for claim, number in own.items():
                devices[claim] = devices.get(claim, 0) + number
        touched = dict.fromkeys(claim for claim in {**before.devices, **devices} if devices.get(claim) != before.devices.get(claim))
    for claim in touched:
        if not devices.get(claim):
            devices.pop(claim, None)
    return _Counted(held, claims, counts, devices, touched)


def _aligned(before: _Known, slices: Sequence[Visible]) -> _Known:
    """What was known of these slices, in their order; of the others that nothing is held there."""
    known = {id(entry): place for place, (_, entry) in enumerate(before.slices)}  # `before` keeps them, so no other has their id
    at = [known.get(id(entry), -1) for _, entry in slices]
    return _Known(
        slices,
        [before.held[place] if place >= 0 else None for place in at],
        [before.claims[place] if place >= 0 else None for place in at],
        [before.counts[place] if place >= 0 else _NONE for place in at],
        {},
        {},
        (),
    )


def _ordered(view: ClusterView, counted: _Counted, before: _Known) -> tuple[Mapping[ClaimKey, _Row], Sequence[_Row]]:
    """The claims by key, and in their order."""
    users = users_of_claims(view)
    rows, gone = dict(before.rows), set[int]()
    come: list[_Row] = []

    def tell(claim: ResourceClaim) -> None:
        row = rows[claim.key] = _row(view, claim, users.get(claim.key), counted.devices[claim])
        come.append(row)

    for claim in counted.touched:
        known = rows.get(claim.key)
        if known is not None and known.pair[1] is claim:
            gone.add(id(known))
            del rows[claim.key]
    for row in _of_other_pods(view, before.order, users):
        if id(row) not in gone:
            gone.add(id(row))
            tell(row.pair[1])
    for claim in counted.touched:
        if claim in counted.devices:
            tell(claim)
    if not gone and not come:
        return before.rows, before.order
    return rows, sorted([*(row for row in before.order if id(row) not in gone), *come], key=_place)


def _of_other_pods(view: ClusterView, order: Sequence[_Row], users: Mapping[ClaimKey, tuple[Pod, ...]]) -> Iterable[_Row]:
    """Those of which a pod is another now."""
    now = map(users.get, [row.key for row in order])
    for row in compress(order, map(is_not, now, [row.users for row in order])):
        yield row
    for row in order:
        if row.consumers is not None and consumers_of(view, row.pair[1]) != row.consumers:  # pods compare by identity
            yield row


def _place(row: _Row) -> tuple[int, str]:
    return row.place


@dataclass(frozen=True, eq=False)
class Held:
    """Claims that hold devices which are wanted, most devices first; what is worked out of all of them is worked out once. `rows`: the same
    by key; `of_pool`: the claims that hold devices of each pool."""

    pairs: tuple[Pair, ...] = ()
    rows: Mapping[ClaimKey, _Row] = field(default_factory=dict[ClaimKey, _Row])
    of_pool: Mapping[PoolKey, tuple[ResourceClaim, ...]] = field(default_factory=dict[PoolKey, "tuple[ResourceClaim, ...]"])

    @cached_property
    def claims(self) -> tuple[ResourceClaim, ...]:
        """The claims alone."""
        return tuple([claim for _, claim in self.pairs])

    @cached_property
    def dead(self) -> tuple[ResourceClaim, ...]:
        """Those whose pods are gone."""
        return tuple([claim for holder, claim in self.pairs if not holder.alive])

    @cached_property
    def _living(self) -> Sequence[Pair]:
        return [pair for pair in self.pairs if pair[0].alive]

    @cached_property
    def expendable(self) -> tuple[Pair, ...]:
        """Those whose pods are gone first, since nobody misses them; then by devices."""
        return (*(pair for pair in self.pairs if not pair[0].alive), *self._living)

    @cached_property
    def smallest(self) -> tuple[ResourceClaim, ...]:
        """Those that hold the fewest devices and whose pods live."""
        living, found = self._living, list[Pair]()
        end = len(living)
        while end and len(found) < SMALL_LOOKED_AT:  # those of as many devices stand together
            start = bisect_left(living, -living[end - 1][0].devices, hi=end, key=lambda pair: -pair[0].devices)
            found += living[start : min(end, start + SMALL_LOOKED_AT - len(found))]
            end = start
        return tuple([claim for _, claim in found])

    def in_order(self, room: Room, most: int) -> tuple[Pair, ...]:
        """The first of those whose pods are gone, then of a few that may free enough by themselves, the smallest first, then of the
        others: of counters those after which the most is left, else the largest."""
        known = self._in_order.get((id(room), most))
        if known is None or known[0] is not room:
            known = self._in_order[id(room), most] = (room, tuple(islice(self._by_room(room, most), most)))
        return known[1]

    def _by_room(self, room: Room, most: int) -> Iterable[Pair]:
        dead = self.expendable[: len(self.dead)]
        if len(dead) >= most:
            return dead
        # Who holds nothing at these places frees nothing there: all of these rank alike, behind the others.
        there = [self.rows.get((about.namespace, about.name)) for about in room.held]
        inside = sorted([row for row in there if row is not None and row.pair[0].alive and row.pair[0].about in room.held], key=_place)
        ranked = [(room.rank(row.pair[0].about), row.pair) for row in inside]
        first = [pair for _, pair in sorted((own for own in ranked if own[0][0] < 2), key=lambda own: own[0])[:SMALL_TRIED]]
        chosen = set(map(id, first))
        if room.divided:
            left = sorted((own for own in ranked if own[0][2] < 0 and id(own[1]) not in chosen), key=lambda own: own[0][2])
            first += [pair for _, pair in left]
            chosen.update(map(id, first))
        return chain(dead, first, (pair for pair in self._living if id(pair) not in chosen))

    _in_order: dict[tuple[int, int], tuple[Room, tuple[Pair, ...]]] = field(
        default_factory=dict[tuple[int, int], "tuple[Room, tuple[Pair, ...]]"]
    )

    @cached_property
    def holders(self) -> tuple[Holder, ...]:
        """These, without the claims themselves."""
        return tuple([holder for holder, _ in self.expendable])

    def sets(self, short_by: int) -> tuple[tuple[Pair, ...], ...]:
        """Of the pools with the fewest holders in the way as many of these as hold `short_by` devices together."""
        known = self._sets.get(short_by)
        if known is None:
            known = self._sets[short_by] = self._fewest(short_by)
        return known

    def _fewest(self, short_by: int) -> tuple[tuple[Pair, ...], ...]:
        """Pools in the order of the largest holder of each: from some on none can have fewer claims that are enough."""
        found: list[tuple[Pair, ...]] = []
        seen: set[PoolKey] = set()
        for holder, claim in self.pairs:
            fewer = MAX_TOGETHER if len(found) < MAX_POOLS else len(found[-1]) - 1
            if fewer < 2 or fewer * holder.devices < short_by:
                break
            for pool in pools_held(claim):
                if pool not in seen:
                    seen.add(pool)
                    chosen = _enough(self._on(pool), short_by)
                    if chosen:
                        found = sorted([*found, chosen], key=len)[:MAX_POOLS]
        return tuple(found)

    def _on(self, pool: PoolKey) -> Sequence[Pair]:
        """The holders on a pool, those whose pods are gone first, then by devices."""
        there = [self.rows[claim.key] for claim in self.of_pool.get(pool, ()) if claim.key in self.rows]
        return [row.pair for row in sorted(there, key=lambda row: (row.pair[0].alive, row.place))]

    _sets: dict[int, tuple[tuple[Pair, ...], ...]] = field(default_factory=dict[int, "tuple[tuple[Pair, ...], ...]"])


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
