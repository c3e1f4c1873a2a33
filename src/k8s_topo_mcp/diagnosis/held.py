"""Claims that hold what somebody wants, in the orders in which their end is worth trying.

There may be tens of thousands of them, of which a few are tried: only as many are ranked or gathered as decide which these are.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from heapq import nsmallest
from itertools import chain, islice
from typing import NamedTuple, TypeAlias

from ..dra.inventory import PoolKey
from ..objects import Pod, ResourceClaim
from ..view.indices import pools_held
from .report import Holder
from .room import Room

Pair: TypeAlias = tuple[Holder, ResourceClaim]
ClaimKey: TypeAlias = tuple[str, str]

SMALL_TRIED = 4
"""Claims that may free enough by themselves and come first."""

SMALL_LOOKED_AT = 256
"""Of so many of the smallest it is worked out whether they free enough by themselves."""

KEPT_SHORT = 4
"""For so many numbers of devices that are short what is known of each pool is kept."""

MAX_TOGETHER, MAX_POOLS = 4, 2
"""Claims of one node that are released together, and on how many nodes that is tried."""


class Row(NamedTuple):
    """A claim among those that hold something. `place`: most devices first, then by name. `users`: the pods that name it. `consumers`:
    those that it is reserved for; None where each of these names it, so that none is another while `users` is the same."""

    place: tuple[int, str]
    pair: Pair
    key: ClaimKey
    users: tuple[Pod, ...] | None
    consumers: tuple[Pod, ...] | None


def place_of(row: Row) -> tuple[int, str]:
    """By what rows are put in order."""
    return row.place


class Enough(NamedTuple):
    """Claims of one pool that hold as many devices as are short. Smaller: fewer claims, then the pool that the largest holder of any of its
    devices names first."""

    claims: int
    place: tuple[int, str]
    at: int
    chosen: tuple[Pair, ...]


@dataclass(frozen=True, eq=False)
class Held:
    """Claims that hold devices which are wanted, most devices first; what is worked out of all of them is worked out once. `rows`: the same
    by key; `of_pool`: the claims that hold devices of each pool. `enough`: by how many devices are short, the fewest claims of each
    pool that hold them."""

    pairs: tuple[Pair, ...] = ()
    rows: Mapping[ClaimKey, Row] = field(default_factory=dict[ClaimKey, Row])
    of_pool: Mapping[PoolKey, tuple[ResourceClaim, ...]] = field(default_factory=dict[PoolKey, "tuple[ResourceClaim, ...]"])
    enough: dict[int, Mapping[PoolKey, Enough]] = field(default_factory=dict[int, Mapping[PoolKey, Enough]])

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
        inside = sorted([row for row in there if row is not None and row.pair[0].alive and row.pair[0].about in room.held], key=place_of)
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
        known = self.enough.get(short_by)
        if known is None:
            known = self.enough[short_by] = self._enough_of({pool for _, claim in self.pairs for pool in pools_held(claim)}, short_by)
        return tuple([found.chosen for found in nsmallest(MAX_POOLS, known.values())])

    def follow(self, before: Mapping[int, Mapping[PoolKey, Enough]], touched: Iterable[ResourceClaim]) -> None:
        """Take over what was known of each pool; of those of which these claims hold, or held, devices it is worked out anew."""
        pools = {pool for claim in touched for pool in pools_held(claim)}
        for short_by, known in tuple(before.items())[-KEPT_SHORT:]:
            kept = {pool: found for pool, found in known.items() if pool not in pools}
            self.enough[short_by] = {**kept, **self._enough_of(pools, short_by)}

    def _enough_of(self, pools: Iterable[PoolKey], short_by: int) -> dict[PoolKey, Enough]:
        """The pools of which some claims hold so many devices together."""
        found: dict[PoolKey, Enough] = {}
        for pool in pools:
            there = [row for claim in self.of_pool.get(pool, ()) if (row := self.rows.get(claim.key)) is not None]
            # Those whose pods are gone first, then by devices.
            chosen = _enough([row.pair for row in sorted(there, key=lambda row: (row.pair[0].alive, row.place))], short_by)
            if chosen:
                first = min(there, key=place_of)
                found[pool] = Enough(len(chosen), first.place, pools_held(first.pair[1]).index(pool), chosen)
        return found


def _enough(members: Sequence[Pair], short_by: int) -> tuple[Pair, ...]:
    """The first of `members` that hold so many devices, if they are several and not too many; else nothing."""
    devices = 0
    for place, (holder, _) in enumerate(members[:MAX_TOGETHER]):
        devices += holder.devices
        if devices >= short_by:
            return tuple(members[: place + 1]) if place else ()
    return ()
