"""The devices of one pool with their states, parts folded into their wholes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from k8s_topo_mcp.dra.counters import Amount, PoolCounters
from k8s_topo_mcp.dra.pools import Pool
from k8s_topo_mcp.dra.problem import InUse
from k8s_topo_mcp.dra.taints import BLOCKING
from k8s_topo_mcp.objects.record import record
from k8s_topo_mcp.objects.resource_slice import Device, DeviceTaint, ResourceSlice

from .holdings import Held, Hold, Holder
from .partitions import Seated, parents
from .placed import PlacedDevice, State
from .spots import Spots


@record()
class Rules:
    """What devices are read by, and what of the release decides their states. `in_use` is asked only for pools with counters."""

    spots: Spots
    minor: int
    features: frozenset[str]
    in_use: Callable[[], InUse]

    def blocking(self, taints: tuple[DeviceTaint, ...]) -> tuple[DeviceTaint, ...]:
        """The taints that keep claims off which don't tolerate them."""
        if "DeviceTaints" not in self.features:
            return ()
        return tuple(taint for taint in taints if taint.effect in BLOCKING or self.minor == 34)


def placed_devices(pool: Pool, slices: Iterable[ResourceSlice], held: Held, rules: Rules) -> list[PlacedDevice]:
    """The devices of a pool in these slices; a part is with its whole."""
    found = [seated for entry in slices for seated in zip(entry.devices, rules.spots.of(entry).spots, strict=True)]
    if not (pool.counter_sets or any([spot.part or device.consumes_counters for device, spot in found])):  # noqa: C419 a list is faster
        return [_placed(seated, pool, held.get(seated[0].name, ()), rules) for seated in found]
    whole_of = parents(found)
    counters = None
    if pool.counter_sets:
        counters = PoolCounters(pool, pool.counter_sets, (*pool.slices, *pool.elsewhere), rules.in_use(), rules.minor)
    parts: dict[str, list[PlacedDevice]] = {}
    for seated in found:
        name = seated[0].name
        whole = whole_of.get(name)
        if whole is not None:
            parts.setdefault(whole, []).append(_placed(seated, pool, held.get(name, ()), rules, counters))
    return [
        _placed(seated, pool, held.get(name, ()), rules, counters, tuple(parts.get(name, ())))
        for seated in found
        if (name := seated[0].name) not in whole_of
    ]


def _placed(
    seated: Seated,
    pool: Pool,
    holds: tuple[Hold, ...],
    rules: Rules,
    counters: PoolCounters | None = None,
    parts: tuple[PlacedDevice, ...] = (),
) -> PlacedDevice:
    device, spot = seated
    taints = device.taints and rules.blocking(device.taints)
    shared = _counters_of(device, pool, counters) if parts and counters is not None else None
    return PlacedDevice(device, spot, pool, _state(device, pool, holds, taints, counters, parts), holds, taints, parts, shared)


def _state(
    device: Device,
    pool: Pool,
    holds: tuple[Hold, ...],
    taints: tuple[DeviceTaint, ...],
    counters: PoolCounters | None,
    parts: tuple[PlacedDevice, ...],
) -> State:
    if holds:
        return _held(device, holds)
    if not pool.usable:
        return "unusable"
    if any(part.holds for part in parts):
        return "split"
    if counters is not None and device.consumes_counters:
        if not counters.take(device):
            return "split"
        counters.give_back(device)
    return "tainted" if taints else "free"


def held_by(holder: Holder) -> State:
    """The state of a device that one claim holds whole."""
    return "zombie" if holder.alive is False else "held"


def _held(device: Device, holds: tuple[Hold, ...]) -> State:
    if all(held_by(hold.holder) == "zombie" for hold in holds):
        return "zombie"
    return "shared" if device.allow_multiple_allocations and all(hold.result.share_id for hold in holds) else "held"


def _counters_of(device: Device, pool: Pool, counters: PoolCounters) -> Mapping[str, tuple[Amount, Amount]] | None:
    """What is left of the counters that a whole device shares with its parts."""
    own = {use.counter_set for use in device.consumes_counters}
    left = counters.left()
    found = {
        name: (left[counter_set.name, name], amount.value)
        for counter_set in pool.counter_sets
        if counter_set.name in own
        for name, amount in counter_set.counters.items()
    }
    return found or None
