"""Who holds what a request could use, and where the end of one of them would be enough."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from ..dra.funnel import needed_devices, screened_in
from ..dra.inventory import Inventory, PoolKey
from ..dra.pools import Pool
from ..dra.visible import Visible
from ..objects import DeviceId, ResourceSlice
from ..scheduling import dynamic_resources
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


def _near(held: Held, inventory: Inventory, pools: Iterable[PoolKey]) -> list[Visible]:
    """The slices of these pools, and all others of the nodes that they name: those that were looked at for holders."""
    places = held.places
    found = places.in_pools(pools)
    names = {places.slices[place][1].node_selection.node_name for place in found}
    beside = (places.at.get(id(entry)) for name in names if name for entry in inventory.by_node.get(name, ()))
    found.update(place for place in beside if place is not None)
    return [places.slices[place] for place in sorted(found)]


def short_by(cause: Cause) -> int:
    """How many devices have to be freed at least."""
    if cause.finding.code != "DEVICES_IN_USE":
        return 1
    free = cause.groups.largest_free if cause.groups is not None else cause.finding.number("free")
    return max(1, cause.finding.number("needed") - free)


def room_lacking(subject: Subject, around: Around, cause: Cause, held: Held) -> Room:
    """Where what lacks adds up, for the nodes where the smallest of these claims hold something."""
    code, request = cause.finding.code, around.request
    if code not in IN_THE_WAY or not held.all:
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
        near = _near(held, around.prepared.problem.inventory, {pool for claim in held.smallest for pool in pools_held(claim)})
        if code == "COUNTERS_EXHAUSTED":
            return room.of_counters(around.prepared, near, request)
        if code == "CAPACITY_SHORT":
            return room.of_capacity(around.prepared, near, request, capacity, held.smallest)
        own = around.prepared.problem.in_use is dynamic_resources.in_use(subject.view)
        return room.of_devices(around.prepared, near, request, needed, attribute, held.of_pool if own else None)

    return subject.view.memo(("room", asked, id(held), subject.nodes), found)
