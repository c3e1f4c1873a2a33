"""Who holds what a request could use, and where the end of one of them would be enough."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import compress
from operator import itemgetter

from ..dra.funnel import needed_devices, screened_in
from ..dra.inventory import PoolKey
from ..dra.pools import Pool
from ..dra.visible import Visible, slices_of
from ..objects import DeviceId, ResourceSlice
from ..view.indices import pools_held
from . import room
from .changes import Around
from .held import Held
from .holders import IN_THE_WAY, holders_among
from .report import Cause
from .request_changes import find_constraint
from .room import Room
from .trials import Subject


def takers(subject: Subject, around: Around, code: str) -> Held:
    """Who is in the way; found once for all pods that ask for the same on the same nodes."""
    request, counters = around.request, code == "COUNTERS_EXHAUSTED"
    asked = (counters, around.prepared.problem.classes.get(request.class_name), request.selectors, around.prepared.environment)
    wanted = _drawing if counters else _passing
    return subject.view.memo(
        ("holders", asked, subject.nodes),
        lambda: holders_among(subject.view, around.prepared, around.nodes, asked, partial(wanted, around)),
    )


def _drawing(around: Around, pool: Pool, entry: ResourceSlice) -> Iterator[DeviceId]:
    """Devices of a slice that others hold and that draw from counters."""
    in_use = around.prepared.problem.in_use
    for device in entry.devices:
        own = DeviceId(pool.driver, pool.name, device.name)
        if device.consumes_counters and (own in in_use.devices or own in in_use.shared):
            yield own


def _passing(around: Around, pool: Pool, entry: ResourceSlice) -> Iterator[DeviceId]:
    """Devices of a slice that others hold and that the request could use."""
    in_use = around.prepared.problem.in_use
    for found in screened_in(around.prepared, ((pool, entry),), around.request):
        if found.held or (in_use.shared and found.id in in_use.shared):
            yield found.id


def _near(around: Around, pools: Iterable[PoolKey]) -> list[Visible]:
    """The slices of these pools, and all others of the nodes that they name: those that the nodes around see."""
    slices, inventory = slices_of(around.prepared, around.nodes), around.prepared.problem.inventory
    ids = list(map(id, map(itemgetter(1), slices)))
    there = set(ids)
    own = [entry for pool in pools for entry in inventory.by_pool.get(pool, ()) if id(entry) in there]
    names = {entry.node_selection.node_name for entry in own if entry.node_selection.node_name}
    wanted = {id(entry) for entry in (*own, *(other for name in names for other in inventory.by_node.get(name, ())))}
    return list(compress(slices, map(wanted.__contains__, ids)))


def short_by(cause: Cause) -> int:
    """How many devices have to be freed at least."""
    if cause.finding.code != "DEVICES_IN_USE":
        return 1
    free = cause.groups.largest_free if cause.groups is not None else cause.finding.number("free")
    return max(1, cause.finding.number("needed") - free)


def room_lacking(subject: Subject, around: Around, cause: Cause, held: Held) -> Room:
    """Where what lacks adds up, for the nodes where the smallest of these claims hold something."""
    code, request = cause.finding.code, around.request
    if code not in IN_THE_WAY or not held.pairs:
        return Room(0)
    groups = cause.groups
    needed, attribute = needed_devices(request), ""
    if code == "DEVICES_IN_USE":
        index = find_constraint(around.claim, cause.finding.field)
        if index is not None:
            attribute = around.claim.spec.constraints[index].match_attribute or ""
        if groups is None or len(groups.requests) == 1:
            needed = cause.finding.number("needed")
    capacity = cause.capacity.capacity if cause.capacity is not None else ""
    asked = (
        code,
        request.class_name,
        request.selectors,
        request.tolerations,
        tuple((request.capacity or {}).items()),
        needed,
        attribute,
        capacity,
    )

    def found() -> Room:
        near = _near(around, {pool for claim in held.smallest for pool in pools_held(claim)})
        if code == "COUNTERS_EXHAUSTED":
            return room.of_counters(around.prepared, near, request)
        if code == "CAPACITY_SHORT":
            return room.of_capacity(around.prepared, near, request, capacity, held.smallest)
        return room.of_devices(around.prepared, near, request, needed, attribute)

    return subject.view.memo(("room", asked, id(held), subject.nodes), found)
