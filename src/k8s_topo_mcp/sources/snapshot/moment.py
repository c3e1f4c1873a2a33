"""The moment that a snapshot stands for, when nobody says it: the newest plausible time in its objects.

Plausible: between 2014 and 2100, and not more than a year newer than every other time in the dump (a machine with a wrong clock, or a date
in the far future, must not make everything else look old).
"""

from __future__ import annotations

from collections.abc import Iterable

from ...objects import ApiObject, Event, Lease, Node, Pod, PodGroup, ResourceClaim, Timestamp

_OLDEST, _NEWEST = 1_388_534_400.0, 4_102_444_800.0
_YEAR = 366 * 86_400.0
_BUCKET = 30 * 86_400.0


def times_of(item: ApiObject) -> Iterable[Timestamp | None]:
    """The times that an object carries."""
    yield item.metadata.created
    if isinstance(item, Pod):
        yield item.start_time
        for condition in item.conditions:
            yield condition.changed
        for container in item.containers:
            yield container.state.since
    elif isinstance(item, Node):
        for condition in item.conditions:
            yield condition.changed
            yield condition.seen
    elif isinstance(item, Event):
        yield item.last
    elif isinstance(item, Lease):
        yield item.renewed
    elif isinstance(item, ResourceClaim):
        if item.allocation is not None:
            yield item.allocation.allocated_at
    elif isinstance(item, PodGroup):
        for condition in item.conditions:
            yield condition.changed


class NewestTime:
    """Collects times and gives the newest plausible one."""

    def __init__(self) -> None:
        self._newest: dict[int, Timestamp] = {}  # per month: that is enough to see a gap of a year

    def see(self, item: ApiObject) -> None:
        """Take the times of one more object."""
        for moment in times_of(item):
            if moment is not None and _OLDEST <= moment < _NEWEST:
                bucket = int(moment // _BUCKET)
                if moment > self._newest.get(bucket, 0.0):
                    self._newest[bucket] = moment

    @property
    def moment(self) -> Timestamp | None:
        """None when there is no time at all."""
        times = sorted(self._newest.values())
        while len(times) > 1 and times[-1] - times[-2] > _YEAR:
            times.pop()
        return times[-1] if times else None
