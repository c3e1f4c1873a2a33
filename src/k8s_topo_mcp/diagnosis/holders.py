"""Who holds devices: claims, the pods behind them, and whether any of those lives.

The holders of one question are passed on with the slices, in their order: those of a slice are looked for again where what is held of its
pool, or a claim that holds it, is another; a claim is told again where a pod that it is for is another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, filterfalse
from operator import is_not

from ..dra.inventory import PoolKey, kept_for
from ..dra.pools import Pool
from ..dra.prepared import Prepared
from ..dra.problem import InUse, TargetNode
from ..dra.visible import Visible, slices_of
from ..objects import DeviceId, Pod, ResourceClaim, ResourceSlice
from ..scheduling import dynamic_resources
from ..view import ClusterView
from ..view.indices import claim_keys, consumers_of, holders_of_device, pools_held, users_of_claims
from ..view.lately import Mark, mark, others_since
from .held import Held
from .places import Places
from .rows import ClaimKey, Row, of_the_same_pods, row_of

KEPT = 4
"""Sets of nodes for which the holders of a question are kept: three zones and all of them. Where pods of more sets are asked about in turn,
the holders of each are counted anew."""

IN_THE_WAY = frozenset({"DEVICES_IN_USE", "COUNTERS_EXHAUSTED", "CAPACITY_SHORT"})
"""Causes in which holders may be what keeps the pod."""


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """Who holds what is wanted of some slices, as of one moment. `counts` (devices that each claim holds there) have one place for each
    slice. `in_use`, `by_pool`: what was held of each pool then (None where there were shares), and by which
    claims; `source`: see `_source`. `claims`, `pods`: those of that moment. `reserved`: the rows with consumers of their own."""

    held: Held
    counts: Sequence[Mapping[ResourceClaim, int]]
    in_use: Mapping[PoolKey, frozenset[str]] | None
    by_pool: Mapping[PoolKey, tuple[ResourceClaim, ...]]
    source: Hashable
    claims: Mark
    reserved: Mapping[ClaimKey, Row]
    pods: Mark


_NONE: Mapping[ResourceClaim, int] = {}
_NOTHING = _Known(Held(), (), {}, {}, None, Mark(), {}, Mark())


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
    before = next((entry for entry in known if _of_the_same(entry.held.places.slices, slices)), None)
    same = before
    if before is None:
        before = next((entry for entry in known if len(entry.counts) == len(slices)), known[0] if known else _NOTHING)
    in_use = prepared.problem.in_use
    by_pool, source = view.index(ResourceClaim, pools_held), _source(view, in_use)
    pools = _of_other_holders(view, in_use, by_pool, source, before)
    counted = _counted(view, in_use, slices, before, pools, wanted)
    rows, gone, come = _told(view, counted, before)
    held = _after(before.held, rows, gone, come, by_pool, counted.places)
    reserved = before.reserved
    if gone or come:
        reserved = {key: row for key, row in reserved.items() if rows.get(key) is row}
        reserved |= {row.key: row for row in come if row.consumers is not None}
    claims, pods = mark(view, ResourceClaim), mark(view, Pod)
    held_whole = None if in_use.shared else in_use.by_pool
    found = _Known(held, counted.counts, held_whole, by_pool, source, claims, reserved, pods)
    kept[:] = [found, *(entry for entry in known if entry is not same)][:KEPT]
    return held


def _source(view: ClusterView, in_use: InUse) -> Hashable:
    """How what is in use was told of the claims of the view; None where it wasn't told of these."""
    return view.release.enabled("DRAConsumableCapacity") if in_use is dynamic_resources.in_use(view) else None


def _of_other_holders(
    view: ClusterView,
    in_use: InUse,
    by_pool: Mapping[PoolKey, tuple[ResourceClaim, ...]],
    source: Hashable,
    before: _Known,
) -> Collection[PoolKey] | None:
    """Pools of which something else may be held than before, or by others; None if it may be all of them."""
    if source is not None and source == before.source:
        others = others_since(view, ResourceClaim, before.claims)
        if others is not None:
            return {pool for claim in others for pool in pools_held(claim)}
    if in_use.shared or before.in_use is None:
        return None
    return {*_differing(before.in_use, in_use.by_pool), *_differing(before.by_pool, by_pool)}


def _differing(then: Mapping[PoolKey, object], now: Mapping[PoolKey, object]) -> Iterator[PoolKey]:
    """Under which keys other objects stand."""
    if now is not then:
        yield from compress(now, map(is_not, map(then.get, now), now.values()))
        yield from filterfalse(now.__contains__, then)


@dataclass(frozen=True, slots=True, eq=False)
class _Counted:
    """How many devices each claim holds of each slice, as `_Known` has it; `devices`: in all, of claims that hold more or fewer than
    before, 0 of those that hold nothing any more."""

    places: Places
    counts: Sequence[Mapping[ResourceClaim, int]]
    devices: Mapping[ResourceClaim, int]


def _counted(
    view: ClusterView,
    in_use: InUse,
    slices: Sequence[Visible],
    before: _Known,
    pools: Collection[PoolKey] | None,
    wanted: Callable[[Pool, ResourceSlice], Iterable[DeviceId]],
) -> _Counted:
    then = before.held.places
    aligned = len(slices) == len(then.slices)
    if aligned:
        counts, differing = list(before.counts), then.differing(slices)
        places = then.followed(slices, differing)
    else:
        places = Places.of(slices)
        counts, differing = _aligned(before, slices)
    others = range(len(slices)) if pools is None else sorted({*differing, *places.in_pools(pools)})
    by_device = holders_of_device(view)
    more: dict[ResourceClaim, int] = {}
    for place in others:
        pool, entry = slices[place]
        there = (pool.driver, pool.name) in in_use.by_pool or in_use.shared
        now = Counter(claim for device in wanted(pool, entry) for claim, _ in by_device.get(device, ())) if there else _NONE
        was, counts[place] = counts[place], now
        if now != was:  # claims compare by identity
            _add(more, now, 1)
            _add(more, was, -1)
    if not aligned:
        for (_, entry), was in zip(then.slices, before.counts, strict=True):
            if id(entry) not in places.at:
                _add(more, was, -1)
    return _Counted(places, counts, {claim: _devices(before, claim) + number for claim, number in more.items() if number})


def _add(more: dict[ResourceClaim, int], counts: Mapping[ResourceClaim, int], sign: int) -> None:
    for claim, number in counts.items():
        more[claim] = more.get(claim, 0) + sign * number


def _devices(known: _Known, claim: ResourceClaim) -> int:
    """How many devices a claim held in all."""
    row = known.held.rows.get(claim.key)
    return row.devices if row is not None and row.pair[1] is claim else 0


def _of_the_same(then: Sequence[Visible], now: Sequence[Visible]) -> bool:
    """Whether these are most likely the slices of the same nodes; if not, only more has to be counted again."""
    return len(then) == len(now) and (not now or now[0][1] is then[0][1] or now[-1][1] is then[-1][1])


def _aligned(before: _Known, slices: Sequence[Visible]) -> tuple[list[Mapping[ResourceClaim, int]], list[int]]:
    """What was counted of each of these slices, and where those stand of which nothing was."""
    known = before.held.places.at
    at = [known.get(id(entry), -1) for _, entry in slices]
    counts = [before.counts[place] if place >= 0 else _NONE for place in at]
    return counts, [place for place, then in enumerate(at) if then < 0]


def _told(view: ClusterView, counted: _Counted, before: _Known) -> tuple[Mapping[ClaimKey, Row], Collection[Row], Sequence[Row]]:
    """The claims by key; those of which something else is told than before, as they were and as they are."""
    users = users_of_claims(view)
    rows, gone = dict(before.held.rows), dict[int, Row]()
    come: list[Row] = []

    def tell(claim: ResourceClaim, devices: int, known: Row | None = None) -> None:
        now = users.get(claim.key)
        if known is not None and of_the_same_pods(known, now):
            row = known._replace(users=now)
        else:
            row = row_of(view, claim, now, devices)
            if known is not None and row.pair[0] == known.pair[0]:
                row = row._replace(pair=known.pair)
        rows[claim.key] = row
        come.append(row)

    for claim in counted.devices:
        known = rows.get(claim.key)
        if known is not None and known.pair[1] is claim:
            gone[id(known)] = known
            del rows[claim.key]
    for row in _of_other_pods(view, before, users):
        if id(row) not in gone:
            gone[id(row)] = row
            tell(row.pair[1], row.devices, row)
    for claim, devices in counted.devices.items():
        if devices:
            tell(claim, devices)
    if not gone and not come:
        return before.held.rows, (), ()
    return rows, gone.values(), come


def _after(
    before: Held,
    rows: Mapping[ClaimKey, Row],
    gone: Collection[Row],
    come: Sequence[Row],
    of_pool: Mapping[PoolKey, tuple[ResourceClaim, ...]],
    places: Places,
) -> Held:
    """The holders of the moment after, of which these rows are others."""
    held = Held(
        before.all.changed(gone, come),
        before.dead.changed([row for row in gone if not row.alive], [row for row in come if not row.alive]),
        before.living.changed([row for row in gone if row.alive], [row for row in come if row.alive]),
        rows,
        of_pool,
        places,
    )
    told = {id(row.pair) for row in come}.intersection([id(row.pair) for row in gone])
    held.follow(before.enough, [row.pair[1] for row in (*gone, *come) if id(row.pair) not in told])
    return held


def _of_other_pods(view: ClusterView, before: _Known, users: Mapping[ClaimKey, tuple[Pod, ...]]) -> Iterable[Row]:
    """Those of which a pod is another now."""
    known = before.held.rows
    others = others_since(view, Pod, before.pods)
    if others is None:
        asked: Iterable[Row] = before.held.all.rows
    else:
        named = {key for pod in others for key in claim_keys(pod)}
        asked = [row for key in named if (row := known.get(key)) is not None]
    for row in asked:
        if users.get(row.key) is not row.users:
            yield row
    for row in before.reserved.values():
        if consumers_of(view, row.pair[1]) != row.consumers:  # pods compare by identity
            yield row
