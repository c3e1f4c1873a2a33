"""Compatibility groups: which partitions may draw from one counter set together (KEP 5963, alpha in 1.37).

Rule: compatibilityGroupIntersection in structured/internal/experimental/compatibility_groups.go. All devices on a counter set must have a
group in common; devices without groups only go with their like. Devices that are already allocated count by what their slice says now.
"""

from __future__ import annotations

from collections.abc import Hashable

from ..objects import CounterConsumption, Device
from .pools import Pool
from .problem import InUse

UNGROUPED = frozenset({""})
"""The groups of a device that names none: it goes with its like, as if that were a group (no real one has an empty name)."""

Common = frozenset[str] | None
"""The groups that all members share; None: no member yet. Empty where what is already there has nothing in common: nothing may join."""


def groups_of(use: CounterConsumption) -> frozenset[str]:
    """What the device brings to that counter set."""
    return frozenset(use.compatibility_groups) or UNGROUPED


def admits(common: Common, groups: frozenset[str]) -> bool:
    return common is None or bool(common & groups)


def joined(common: Common, groups: frozenset[str]) -> Common:
    """The state after a device joins. Of members with and without groups (a slice changed under an allocation) the first decide."""
    if common is None:
        return groups
    return common if UNGROUPED in (common, groups) else common & groups


class PoolGroups:
    """The counter sets of one pool during one attempt."""

    def __init__(self, pool: Pool, in_use: InUse) -> None:
        self._common: dict[str, Common] = {}
        self._before: list[dict[str, Common]] = []
        whole = in_use.names_in(pool.driver, pool.name)
        shared = {device.device for device in in_use.shared if device.driver == pool.driver and device.pool == pool.name}
        for entry in (*pool.slices, *pool.elsewhere):
            for device in entry.devices:
                if device.name in whole or device.name in shared:
                    for use in device.consumes_counters:
                        self._common[use.counter_set] = joined(self._common.get(use.counter_set), groups_of(use))

    def take(self, device: Device) -> bool:
        if not all(admits(self._common.get(use.counter_set), groups_of(use)) for use in device.consumes_counters):
            return False
        self._before.append(dict(self._common))
        for use in device.consumes_counters:
            self._common[use.counter_set] = joined(self._common.get(use.counter_set), groups_of(use))
        return True

    def give_back(self) -> None:
        self._common = self._before.pop()

    def state(self) -> Hashable:
        return frozenset(self._common.items())
