"""Shared counters: what partitions of one device take from it together.

Rule: checkAvailableCounters in structured/internal/*. Available is what the pool's counter sets state less what allocated devices of the
pool consume, on this node and elsewhere, as their slices say now. After taking a device no counter of the pool may be overdrawn, also not
one that the device doesn't touch.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction

from ..objects import CounterConsumption, CounterSet, Device, ResourceSlice
from .pools import Pool
from .problem import InUse

Amount = int | Fraction


class PoolCounters:
    """The counters of one pool (in 1.34 of one slice) during one attempt. Devices held only by shares count from 1.36 on."""

    def __init__(self, pool: Pool, counter_sets: Iterable[CounterSet], slices: Iterable[ResourceSlice], in_use: InUse, minor: int) -> None:
        self.available: dict[tuple[str, str], Amount] = {
            (counter_set.name, name): amount.value for counter_set in counter_sets for name, amount in counter_set.counters.items()
        }
        held = set(in_use.names_in(pool.driver, pool.name))
        if minor >= 36:
            held |= {device.device for device in in_use.shared if device.driver == pool.driver and device.pool == pool.name}
        for entry in slices:
            for device in entry.devices:
                if device.consumes_counters and device.name in held:
                    for key, amount in _amounts(device.consumes_counters):
                        if key in self.available:
                            self.available[key] -= amount
        self._overdrawn = any(amount < 0 for amount in self.available.values())
        self._consumed: dict[tuple[str, str], Amount] = {}

    def take(self, device: Device) -> bool:
        if self._overdrawn:
            return False
        consumed = self._consumed
        uses = _amounts(device.consumes_counters)
        needed: dict[tuple[str, str], Amount] = {}
        for key, amount in uses:
            needed[key] = needed.get(key, 0) + amount
        for key, amount in needed.items():
            if key in self.available and consumed.get(key, 0) + amount > self.available[key]:
                return False
        for key, amount in needed.items():
            consumed[key] = consumed.get(key, 0) + amount
        return True

    def give_back(self, device: Device) -> None:
        for key, amount in _amounts(device.consumes_counters):
            left = self._consumed.get(key, 0) - amount
            if left:
                self._consumed[key] = left
            else:
                self._consumed.pop(key, None)

    def at_most(self, devices: Iterable[Device]) -> int:
        """How many of these devices the counters may give together: never more, perhaps fewer.

        Each counter of a set is looked at alone, with the devices that take least of it first; what a device takes from a second set isn't
        looked at. For questions of number only: the search itself uses no such bound.
        """
        if self._overdrawn:
            return sum(1 for device in devices if not device.consumes_counters)
        count = 0
        by_set: dict[str, list[dict[tuple[str, str], Amount]]] = {}
        for device in devices:
            if not device.consumes_counters:
                count += 1
                continue
            needed: dict[tuple[str, str], Amount] = {}
            for key, amount in _amounts(device.consumes_counters):
                needed[key] = needed.get(key, 0) + amount
            by_set.setdefault(device.consumes_counters[0].counter_set, []).append(needed)
        left = self.left()
        for name, uses in by_set.items():
            count += min((_fitting(left[key], (use.get(key, 0) for use in uses)) for key in left if key[0] == name), default=len(uses))
        return count

    def state(self) -> Hashable:
        return frozenset(self._consumed.items())

    def left(self) -> Mapping[tuple[str, str], Amount]:
        """What is available now, by (counter set, counter)."""
        return {key: amount - self._consumed.get(key, 0) for key, amount in self.available.items()}


def _fitting(left: Amount, uses: Iterable[Amount]) -> int:
    """How many of these amounts fit in, smallest first."""
    count = 0
    for amount in sorted(uses):
        left -= amount
        if left < 0:
            break
        count += 1
    return count


def _amounts(uses: tuple[CounterConsumption, ...]) -> list[tuple[tuple[str, str], Amount]]:
    return [((use.counter_set, name), amount.value) for use in uses for name, amount in use.counters.items()]


def consumption_key(device: Device) -> Hashable:
    """Equal for two devices of one pool that take exactly the same."""
    return tuple(
        (use.counter_set, tuple(sorted((name, amount.value) for name, amount in use.counters.items())), use.compatibility_groups)
        for use in device.consumes_counters
    )
