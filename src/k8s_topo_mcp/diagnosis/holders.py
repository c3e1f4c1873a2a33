"""Who holds devices: claims, the pods behind them, and whether any of those lives.

The holders of one question are passed on with the slices, in their order: those of a slice are looked for again where what is held of its
pool, or a claim that holds it, is another; a claim is told again where a pod that it is for is another.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from operator import is_not

from ..dra.inventory import PoolKey, kept_for
from ..dra.pools import Pool
from ..dra.prepared import Prepared
from ..dra.problem import InUse, TargetNode
from ..dra.visible import Visible, slices_of
from ..objects import Consumer, DeviceId, Pod, ResourceClaim, ResourceSlice
from ..view import ClusterView
from ..view.indices import claim_keys, consumers_of, holders_of_device, pods_of_claim, pools_held, users_of_claims
from ..view.lately import Mark, mark, others_since
from .held import ClaimKey, Enough, Held, Row, place_of
from .report import Holder

KEPT = 4
"""Sets of nodes for which the holders of a question are kept: three zones and all of them. Where pods of more sets are asked about in turn,
the holders of each are counted anew."""

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


def _row(view: ClusterView, claim: ResourceClaim, users: tuple[Pod, ...] | None, devices: int) -> Row:
    consumers, named = consumers_of(view, claim), users or ()
    all_named = len(consumers) == len(claim.reserved_for) and set(consumers) <= set(named)
    holder = _holder(claim, consumers, named, devices)
    return Row((-devices, claim.full_name), (holder, claim), claim.key, users, None if all_named else consumers)


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """Who holds what is wanted of these slices, as of one moment. `held`, `claims` and `counts` (devices that each claim holds there) have
    one place for each slice; `devices` are those of each claim in all, `rows` the claims by key, `order` the same in their order;
    `enough`: see `Held`. `reserved`: the rows with consumers of their own; `pods`: the pods of that moment."""

    slices: Sequence[Visible]
    held: Sequence[frozenset[str] | None]
    claims: Sequence[tuple[ResourceClaim, ...] | None]
    counts: Sequence[Mapping[ResourceClaim, int]]
    devices: Mapping[ResourceClaim, int]
    rows: Mapping[ClaimKey, Row]
    order: Sequence[Row]
    enough: Mapping[int, Mapping[PoolKey, Enough]]
    reserved: Mapping[ClaimKey, Row]
    pods: Mark


FEW_CHANGES = 16
"""The order is patched where at most one in so many claims is another."""

_NONE: Mapping[ResourceClaim, int] = {}
_NOTHING = _Known((), (), (), (), {}, {}, (), {}, {}, Mark())


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
    before = next((entry for entry in known if _of_the_same(entry.slices, slices)), None)
    same = before
    if before is None:
        before = next((entry for entry in known if len(entry.slices) == len(slices)), known[0] if known else _NOTHING)
    counted = _counted(view, prepared.problem.in_use, slices, before, wanted)
    rows, order, gone, come = _ordered(view, counted, before)
    held = Held(tuple([row.pair for row in order]), rows, view.index(ResourceClaim, pools_held))
    held.follow(before.enough, [row.pair[1] for row in (*gone, *come)])
    reserved = {key: row for key, row in before.reserved.items() if rows.get(key) is row}
    reserved |= {row.key: row for row in come if row.consumers is not None}
    found = _Known(
        slices, counted.held, counted.claims, counted.counts, counted.devices, rows, order, held.enough, reserved, mark(view, Pod)
    )
    kept[:] = [found, *(entry for entry in known if entry is not same)][:KEPT]
    return held


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
        held_otherwise = map(bool.__or__, map(is_not, held, then.held), map(is_not, claims, then.claims))
        # A slice with its pool may be told in a pair that is made anew each time.
        others = compress(range(len(slices)), map(bool.__or__, held_otherwise, map(_other, slices, then.slices)))
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


def _of_the_same(then: Sequence[Visible], now: Sequence[Visible]) -> bool:
    """Whether these are most likely the slices of the same nodes; if not, only more has to be counted again."""
    return len(then) == len(now) and (not now or not _other(now[0], then[0]) or not _other(now[-1], then[-1]))


def _other(now: Visible, then: Visible) -> bool:
    return now is not then and (now[1] is not then[1] or now[0] is not then[0])


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
        {},
        {},
        before.pods,
    )


def _ordered(
    view: ClusterView, counted: _Counted, before: _Known
) -> tuple[Mapping[ClaimKey, Row], Sequence[Row], Collection[Row], Sequence[Row]]:
    """The claims by key, and in their order; those of which something else is told than before, as they were and as they are."""
    users = users_of_claims(view)
    rows, gone = dict(before.rows), dict[int, Row]()
    come: list[Row] = []

    def tell(claim: ResourceClaim) -> None:
        row = rows[claim.key] = _row(view, claim, users.get(claim.key), counted.devices[claim])
        come.append(row)

    for claim in counted.touched:
        known = rows.get(claim.key)
        if known is not None and known.pair[1] is claim:
            gone[id(known)] = known
            del rows[claim.key]
    for row in _of_other_pods(view, before, users):
        if id(row) not in gone:
            gone[id(row)] = row
            tell(row.pair[1])
    for claim in counted.touched:
        if claim in counted.devices:
            tell(claim)
    if not gone and not come:
        return before.rows, before.order, (), ()
    order = list(before.order)
    if (len(gone) + len(come)) * FEW_CHANGES > len(order):
        order = sorted([*(row for row in order if id(row) not in gone), *come], key=place_of)
    else:
        for row in gone.values():
            del order[bisect_left(order, row.place, key=place_of)]
        for row in come:
            insort(order, row, key=place_of)
    return rows, order, gone.values(), come


def _of_other_pods(view: ClusterView, before: _Known, users: Mapping[ClaimKey, tuple[Pod, ...]]) -> Iterable[Row]:
    """Those of which a pod is another now."""
    others = others_since(view, Pod, before.pods)
    if others is None:
        asked: Iterable[Row] = before.order
    else:
        named = {key for pod in others for key in claim_keys(pod)}
        asked = [row for key in named if (row := before.rows.get(key)) is not None]
    for row in asked:
        if users.get(row.key) is not row.users:
            yield row
    for row in before.reserved.values():
        if consumers_of(view, row.pair[1]) != row.consumers:  # pods compare by identity
            yield row


def _consumer(entry: Consumer) -> str:
    """What a claim is reserved for, where it is no pod."""
    return f"{entry.resource}{f'.{entry.api_group}' if entry.api_group else ''} {entry.name}"
