"""Claims that hold what somebody wants, in the orders in which their end is worth trying.

There may be tens of thousands of them, of which a few are tried: only as many are ranked or gathered as decide which these are, and what
is known of the claims of a pool is taken over for as long as none of them is another.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice
from typing import NamedTuple

from ..dra.inventory import PoolKey
from ..objects import ResourceClaim
from ..view.indices import pools_held
from .places import Places
from .report import Holder
from .room import Room
from .rows import ClaimKey, Pair, Row, Rows, claim_of, holder_of, place_of

SMALL_TRIED = 4
"""Claims that may free enough by themselves and come first."""

SMALL_LOOKED_AT = 256
"""Of so many of the smallest it is worked out whether they free enough by themselves."""

KEPT_SHORT = 4
"""For so many numbers of devices that are short what is known of each pool is kept."""

MAX_TOGETHER, MAX_POOLS = 4, 2
"""Claims of one node that are released together, and on how many nodes that is tried."""


class Enough(NamedTuple):
    """Claims of one pool that hold as many devices as are short. Smaller: fewer claims, then the pool that the largest holder of any of its
    devices names first. No two pools are equal in that."""

    claims: int
    place: tuple[int, str]
    at: int
    chosen: tuple[Pair, ...]


class Enoughs(NamedTuple):
    """Of each pool in which some claims hold so many, and these in their order."""

    of_pool: Mapping[PoolKey, Enough]
    order: Sequence[Enough]

    def changed(self, pools: Iterable[PoolKey], found: Mapping[PoolKey, Enough]) -> Enoughs:
        """With what is found now of these pools in place of what was."""
        of_pool, order = dict(self.of_pool), list(self.order)
        left = dict(found)
        for pool in pools:
            then = of_pool.pop(pool, None)
            if then is None:
                continue
            at, now = bisect_left(order, then), left.get(pool)
            if now is not None and now[:3] == then[:3]:
                of_pool[pool] = order[at] = left.pop(pool)
            else:
                del order[at]
        for pool, now in left.items():
            of_pool[pool] = now
            order.insert(bisect_left(order, now), now)
        return Enoughs(of_pool, order)


@dataclass(frozen=True, eq=False)
class Held:
    """Claims that hold devices which are wanted, most devices first; what is worked out of all of them is worked out once. `dead`: those
    whose pods are gone, `living`: the others, both as holders; `rows`: all by key; `of_pool`: the claims that hold devices of each pool;
    `places`: the slices that were looked at. `enough`: by how many devices are short, the fewest claims of each pool that hold them."""

    all: Rows[ResourceClaim] = field(default_factory=lambda: Rows(claim_of))
    dead: Rows[Holder] = field(default_factory=lambda: Rows(holder_of))
    living: Rows[Holder] = field(default_factory=lambda: Rows(holder_of))
    rows: Mapping[ClaimKey, Row] = field(default_factory=dict[ClaimKey, Row])
    of_pool: Mapping[PoolKey, tuple[ResourceClaim, ...]] = field(default_factory=dict[PoolKey, "tuple[ResourceClaim, ...]"])
    places: Places = field(default_factory=Places)
    enough: dict[int, Enoughs] = field(default_factory=dict[int, Enoughs])

    @cached_property
    def claims(self) -> tuple[ResourceClaim, ...]:
        """The claims alone."""
        return tuple(self.all.told)

    @cached_property
    def smallest(self) -> tuple[ResourceClaim, ...]:
        """Those that hold the fewest devices and whose pods live."""
        living, found = self.living.rows, list[Row]()
        end = len(living)
        while end and len(found) < SMALL_LOOKED_AT:  # those of as many devices stand together
            start = bisect_left(living, living[end - 1].place[0], hi=end, key=lambda row: row.place[0])
            found += living[start : min(end, start + SMALL_LOOKED_AT - len(found))]
            end = start
        return tuple(map(claim_of, found))

    def in_order(self, lacking: Callable[[], Room], most: int) -> tuple[Pair, ...]:
        """The first of those whose pods are gone, then of a few that may free enough by themselves, the smallest first, then of the
        others: of counters those after which the most is left, else the largest. `lacking`: where what lacks adds up, if that decides."""
        if len(self.dead) >= most:
            return tuple([row.pair for row in self.dead.rows[:most]])
        room = lacking()
        known = self._in_order.get((id(room), most))
        if known is None or known[0] is not room:
            known = self._in_order[id(room), most] = (room, tuple(islice(self._by_room(room), most)))
        return known[1]

    def _by_room(self, room: Room) -> Iterable[Pair]:
        # Who holds nothing at these places frees nothing there: all of these rank alike, behind the others.
        there = [self.rows.get((about.namespace, about.name)) for about in room.held]
        inside = sorted([row for row in there if row is not None and row.alive and row.pair[0].about in room.held], key=place_of)
        ranked = [(room.rank(row.pair[0].about), row.pair) for row in inside]
        first = [pair for _, pair in sorted((own for own in ranked if own[0][0] < 2), key=lambda own: own[0])[:SMALL_TRIED]]
        chosen = set(map(id, first))
        if room.divided:
            left = sorted((own for own in ranked if own[0][2] < 0 and id(own[1]) not in chosen), key=lambda own: own[0][2])
            first += [pair for _, pair in left]
            chosen.update(map(id, first))
        others = (row.pair for row in self.living.rows if id(row.pair) not in chosen)
        return chain([row.pair for row in self.dead.rows], first, others)

    _in_order: dict[tuple[int, int], tuple[Room, tuple[Pair, ...]]] = field(
        default_factory=dict[tuple[int, int], "tuple[Room, tuple[Pair, ...]]"]
    )

    @cached_property
    def holders(self) -> tuple[Holder, ...]:
        """These, without the claims themselves: those whose pods are gone first, since nobody misses them; then by devices."""
        return (*self.dead.told, *self.living.told)

    def sets(self, short_by: int) -> tuple[tuple[Pair, ...], ...]:
        """Of the pools with the fewest holders in the way as many of these as hold `short_by` devices together."""
        known = self.enough.get(short_by)
        if known is None:
            found = self._enough_of({pool for claim in self.all.told for pool in pools_held(claim)}, (short_by,))[short_by]
            known = self.enough[short_by] = Enoughs(found, sorted(found.values()))
        return tuple([found.chosen for found in known.order[:MAX_POOLS]])

    def follow(self, before: Mapping[int, Enoughs], touched: Iterable[ResourceClaim]) -> None:
        """Take over what was known of each pool; of those of which these claims hold, or held, devices it is worked out anew."""
        pools = {pool for claim in touched for pool in pools_held(claim)}
        kept = dict(tuple(before.items())[-KEPT_SHORT:])
        found = self._enough_of(pools, kept)
        self.enough.update({short_by: known.changed(pools, found[short_by]) if pools else known for short_by, known in kept.items()})

    def _enough_of(self, pools: Iterable[PoolKey], short_by: Collection[int]) -> dict[int, dict[PoolKey, Enough]]:
        """The pools of which some claims hold so many devices together."""
        found: dict[int, dict[PoolKey, Enough]] = {number: {} for number in short_by}
        for pool in pools:
            there = [row for claim in self.of_pool.get(pool, ()) if (row := self.rows.get(claim.key)) is not None]
            if len(there) < 2:
                continue
            # Those whose pods are gone first, then by devices.
            members = [row.pair for row in sorted(there, key=lambda row: (row.alive, row.place))]
            first = min(there, key=place_of)
            at = pools_held(first.pair[1]).index(pool)
            for number, own in found.items():
                chosen = _enough(members, number)
                if chosen:
                    own[pool] = Enough(len(chosen), first.place, at, chosen)
        return found


def _enough(members: Sequence[Pair], short_by: int) -> tuple[Pair, ...]:
    """The first of `members` that hold so many devices, if they are several and not too many; else nothing."""
    devices = 0
    for place, (holder, _) in enumerate(members[:MAX_TOGETHER]):
        devices += holder.devices
        if devices >= short_by:
            return tuple(members[: place + 1]) if place else ()
    return ()
