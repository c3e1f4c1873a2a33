"""Of thousands of holders only the first few are looked for: they are those that ranking and sorting all of them would give."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from k8s_topo_mcp.diagnosis.held import MAX_POOLS, MAX_TOGETHER, SMALL_TRIED, Held
from k8s_topo_mcp.diagnosis.report import Holder
from k8s_topo_mcp.diagnosis.room import Amount, Place, Room
from k8s_topo_mcp.diagnosis.rows import Pair, Row, Rows, claim_of, holder_of
from k8s_topo_mcp.dra.inventory import PoolKey
from k8s_topo_mcp.objects import ObjectRef, ResourceClaim
from k8s_topo_mcp.view.indices import pools_held

from .clusters import DRIVER, Item, claim, cluster

LEAST = 100
"""Comparisons in which something was found, or they say little."""


def holding(name: str, dice: random.Random) -> Item:
    """A claim with one to four devices on a pool or two."""
    results = [
        {"request": "r", "driver": DRIVER, "pool": pool, "device": f"{name}-{place}"}
        for pool in dice.sample([f"n{number}" for number in range(6)], dice.choice((1, 1, 1, 2)))
        for place in range(dice.choice((1, 1, 2, 4)))
    ]
    return claim(name, status={"allocation": {"devices": {"results": results}}})


def row(own: ResourceClaim, alive: bool) -> Row:
    devices = len(own.allocation.results) if own.allocation is not None else 0
    return Row((-devices, own.full_name), (Holder(own.ref, (), devices, None, alive), own), own.key, (), None)


def made(dice: random.Random) -> Held:
    view = cluster(*(holding(f"c{number}", dice) for number in range(dice.randrange(1, 30))))
    return of_rows([row(own, dice.random() < 0.8) for own in view.all(ResourceClaim)], view.index(ResourceClaim, pools_held))


def of_rows(rows: Sequence[Row], of_pool: Mapping[PoolKey, tuple[ResourceClaim, ...]]) -> Held:
    dead, living = (Rows.of((own for own in rows if own.alive is alive), holder_of) for alive in (False, True))
    return Held(Rows.of(rows, claim_of), dead, living, {own.key: own for own in rows}, of_pool)


def pairs_of(held: Held) -> list[Pair]:
    return [own.pair for own in held.all.rows]


def room_of(held: Held, dice: random.Random) -> Room:
    """What some of them hold at some places."""
    places = [f"n{number}" for number in range(6)]
    inside = [holder.about for holder, _ in pairs_of(held) if dice.random() < 0.5]
    amounts: dict[ObjectRef, Mapping[Place, Amount]] = {about: {dice.choice(places): dice.randrange(1, 4)} for about in inside}
    free: dict[Place, Amount] = {place: dice.randrange(3) for place in places}
    return Room(Fraction(dice.randrange(1, 5)), free, amounts, dice.random() < 0.5)


def just(room: Room) -> Callable[[], Room]:
    return lambda: room


def all_in_order(held: Held, room: Room) -> list[Pair]:
    """Every one ranked."""
    dead = [pair for pair in pairs_of(held) if not pair[0].alive]
    alive = [pair for pair in pairs_of(held) if pair[0].alive]
    enough = sorted((pair for pair in alive if room.rank(pair[0].about)[0] < 2), key=lambda pair: room.rank(pair[0].about))[:SMALL_TRIED]
    rest = [pair for pair in alive if pair not in enough]
    if room.divided:
        rest.sort(key=lambda pair: room.rank(pair[0].about)[2])
    return [*dead, *enough, *rest]


def fewest_of_all(held: Held, short_by: int) -> list[tuple[Pair, ...]]:
    """The sets of every pool."""
    pools: dict[tuple[str, str], list[Pair]] = {}
    for pair in pairs_of(held):
        for pool in pools_held(pair[1]):
            pools.setdefault(pool, []).append(pair)
    found: list[tuple[Pair, ...]] = []
    for members in pools.values():
        members.sort(key=lambda pair: pair[0].alive)
        for size in range(1, MAX_TOGETHER + 1):
            if sum(holder.devices for holder, _ in members[:size]) >= short_by:
                found += [tuple(members[:size])] if size > 1 else []
                break
    return sorted(found, key=len)[:MAX_POOLS]


def test_the_first_in_order_are_those_of_all_in_order() -> None:
    dice, told = random.Random(5), 0
    for _ in range(300):
        held = made(dice)
        room = room_of(held, dice)
        for most in (1, 8, 40):
            assert list(held.in_order(just(room), most)) == all_in_order(held, room)[:most]
        told += any(room.rank(holder.about)[0] < 2 for holder, _ in pairs_of(held))
    assert told > LEAST


def test_the_sets_of_the_fewest_are_those_of_all_pools() -> None:
    dice, told = random.Random(6), 0
    for _ in range(300):
        held, short_by = made(dice), dice.randrange(1, 12)
        wanted = fewest_of_all(held, short_by)
        assert list(held.sets(short_by)) == wanted
        told += bool(wanted)
    assert told > LEAST


def test_the_sets_follow_the_claims_that_are_others() -> None:
    dice, told = random.Random(8), 0
    for _ in range(300):
        before, short_by = made(dice), dice.randrange(1, 12)
        before.sets(short_by)
        rows = {key: own for key, own in before.rows.items() if dice.random() < 0.9}
        others = [own for key, own in before.rows.items() if key not in rows]
        now = [row(own.pair[1], not own.pair[0].alive) if dice.random() < 0.1 else own for own in rows.values()]
        others += [own for own in now if rows[own.key] is not own]
        held = of_rows(now, before.of_pool)
        held.follow(before.enough, [own.pair[1] for own in others])
        assert held.sets(short_by) == of_rows(now, before.of_pool).sets(short_by)
        told += held.sets(short_by) != before.sets(short_by)
    assert told > LEAST


def test_the_smallest_are_those_of_all_by_devices() -> None:
    dice = random.Random(7)
    for _ in range(100):
        held = made(dice)
        alive = sorted((pair for pair in pairs_of(held) if pair[0].alive), key=lambda pair: pair[0].devices)
        assert list(held.smallest) == [own for _, own in alive]
