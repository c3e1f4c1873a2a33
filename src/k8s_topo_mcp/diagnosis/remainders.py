"""What is left for a request where others have taken a part: counters of partitions, capacity of shared devices, devices without taints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from ..dra.capacity import NotRepresentable, arithmetic_of, consumed_by, shortage
from ..dra.counters import PoolCounters
from ..dra.funnel import Screened, screened, screened_in
from ..dra.inventory import kept_for
from ..dra.pools import Pool
from ..dra.prepared import Prepared
from ..dra.problem import InUse, TargetNode
from ..dra.selectors import chain
from ..dra.taints import blocking_taint
from ..dra.visible import slices_of
from ..objects import DeviceId, DeviceTaintRule, ExactRequest, Quantity, RequestPolicy, ResourceSlice
from .report import CapacityLeft, CounterShort, TaintCount

Counters = dict[int, Mapping[tuple[str, str], int | Fraction]]
"""What is left of a pool's counters, by the id of its first slice."""

Tainted = tuple[tuple[tuple[str, str], str], ...]
"""Of devices the taint with the rule that adds it, and their names."""

SHOWN = 3
"""Counters and devices that one fact names."""


def counters_short(prepared: Prepared, nodes: Iterable[TargetNode], request: ExactRequest, count: int) -> tuple[CounterShort, ...]:
    """The counters that keep the closest free device from being taken, or else from being taken `count` times over."""
    best: tuple[tuple[int, Fraction], tuple[CounterShort, ...]] | None = None
    devices = [entry for entry in screened(prepared, nodes, request) if not entry.held and entry.device.consumes_counters]
    known: Counters = {}
    alone = [short for entry in devices if (short := _short(prepared, entry, 1, known))]
    shorts = alone if len(alone) == len(devices) else [short for entry in devices if (short := _short(prepared, entry, count, known))]
    for distance, counters in shorts:
        if best is None or (len(counters), distance) < best[0]:
            best = (len(counters), distance), counters
    return best[1][:SHOWN] if best is not None else ()


def _short(prepared: Prepared, entry: Screened, count: int, known: Counters) -> tuple[Fraction, tuple[CounterShort, ...]] | None:
    """How far the counters are from giving this device `count` times, and which lack."""
    problem = prepared.problem
    by_slice = problem.minor == 34
    pool = entry.pool
    sets = entry.slice.shared_counters if by_slice else pool.counter_sets
    slices = (entry.slice,) if by_slice else (*pool.slices, *pool.elsewhere)
    left = known.get(id(slices[0]))
    if left is None:
        left = known[id(slices[0])] = PoolCounters(pool, sets, slices, problem.in_use, problem.minor).left()
    totals = {(counter_set.name, name): amount for counter_set in sets for name, amount in counter_set.counters.items()}
    found: list[CounterShort] = []
    distance = Fraction(0)
    for use in entry.device.consumes_counters:
        for name, amount in use.counters.items():
            key = (use.counter_set, name)
            if key not in left or amount.value * count <= left[key]:
                continue
            distance += Fraction(amount.value * count - left[key]) / max(Fraction(totals[key].value), Fraction(1))
            takers = tuple(
                (device.name, holder)
                for other in slices
                for device in other.devices
                for holder in _holders(problem.in_use, DeviceId(pool.driver, pool.name, device.name))
                if any(taken.counter_set == use.counter_set and name in taken.counters for taken in device.consumes_counters)
            )
            needed = _amount(amount.value * count, amount)
            found.append(
                CounterShort(
                    entry.device.name, use.counter_set, name, needed, _amount(left[key], totals[key]), str(totals[key]), takers[:SHOWN]
                )
            )
    return (distance, tuple(found)) if found else None


def _holders(in_use: InUse, device: DeviceId) -> tuple[str, ...]:
    """Claims that hold a device; one empty name for a device that is held by nobody known."""
    holders = in_use.holders.get(device, ())
    if holders:
        return tuple(dict.fromkeys(f"{holder.claim.namespace}/{holder.claim.name}" for holder in holders))
    return ("",) if device in in_use.devices or device in in_use.shared else ()


def _amount(value: int | Fraction, like: Quantity) -> str:
    """A computed amount in the notation of another."""
    exact = Fraction(value)
    if exact.denominator == 1:
        return str(Quantity.of(int(exact), like.format))
    return str(Quantity(int(exact * 1000), -3, like.format))


def capacity_left(prepared: Prepared, nodes: Iterable[TargetNode], request: ExactRequest) -> CapacityLeft | None:
    """The matching device, not held whole, that has the most left of the capacity that is short. None: none has such a capacity."""
    problem = prepared.problem
    best: tuple[Fraction, CapacityLeft] | None = None
    for entry in screened(prepared, nodes, request):
        if entry.held:
            continue
        allocated = problem.in_use.capacity.get(entry.id, {})
        capacity = entry.device.capacity
        try:
            short = shortage(request.capacity, capacity, allocated, {}, arithmetic_of(problem))
        except NotRepresentable:
            continue
        if short is None or short.capacity not in capacity:
            continue
        total = capacity[short.capacity].value
        taken = allocated[short.capacity].value if short.capacity in allocated else 0
        left = Fraction(total.value) - Fraction(taken)
        if best is None or left > best[0]:
            asked = (request.capacity or {}).get(short.capacity)
            rounded = consumed_by(request.capacity, capacity, arithmetic_of(problem))[short.capacity]
            refusal = "its request policy doesn't allow that value" if "policy" in short.why else ""
            device = f"{entry.pool.name}/{entry.device.name}"
            own = str(asked) if asked is not None else ""
            grants = _granted(capacity[short.capacity].policy, left, total)
            best = left, CapacityLeft(short.capacity, own, str(rounded), _amount(left, total), device, str(total), grants, refusal)
    return best[1] if best is not None else None


def _granted(policy: RequestPolicy | None, left: Fraction, like: Quantity) -> str:
    """The largest request that a device with so much left grants; "" for none."""
    if policy is None:
        return _amount(left, like)
    if policy.valid_values:
        fitting = [value for value in policy.valid_values if value.value <= left]
        return str(max(fitting)) if fitting else ""
    valid = policy.valid_range
    if valid is None or valid.minimum is None:
        return _amount(left, like)
    most = min(left, Fraction(valid.maximum.value)) if valid.maximum is not None else left
    low = Fraction(valid.minimum.value)
    if most < low:
        return ""
    if valid.step is None or not valid.step.value:
        return _amount(most, like)
    step = Fraction(valid.step.value)
    return _amount(low + (most - low) // step * step, valid.minimum)


def taint_counts(
    prepared: Prepared, nodes: Iterable[TargetNode], request: ExactRequest, rules: Sequence[DeviceTaintRule]
) -> tuple[TaintCount, ...]:
    """Taints that keep free matching devices away, the commonest first, each with the rule that adds it. Of each slice they are kept for as
    long as the slice and what is held of its pool are the same."""
    problem = prepared.problem
    device_class = problem.classes.get(request.class_name)
    if device_class is None:
        return ()
    question = (chain(prepared.environment, device_class, request.selectors), request.tolerations, problem.minor, tuple(rules))
    kept: dict[int, tuple[Pool, ResourceSlice, frozenset[str] | None, Tainted]]
    kept = kept_for(problem.inventory.passed_on.setdefault("taints", {}), question, dict)
    if problem.inventory.outgrown_by(len(kept)):
        kept.clear()
    counts: Counter[tuple[str, str]] = Counter()
    examples: dict[tuple[str, str], list[str]] = {}
    for pool, entry in slices_of(prepared, nodes):
        names = problem.in_use.by_pool.get((pool.driver, pool.name))
        known = kept.get(id(entry))
        if known is None or known[0] is not pool or known[1] is not entry or known[2] is not names:
            known = kept[id(entry)] = (pool, entry, names, _tainted(prepared, pool, entry, request, rules))
        for key, device in known[3]:
            counts[key] += 1
            if counts[key] <= SHOWN:
                examples.setdefault(key, []).append(device)
    return tuple(TaintCount(key[0], count, key[1], tuple(examples[key])) for key, count in counts.most_common())


def _tainted(prepared: Prepared, pool: Pool, entry: ResourceSlice, request: ExactRequest, rules: Sequence[DeviceTaintRule]) -> Tainted:
    """The free matching devices of a slice that a taint keeps away, each with the taint and the rule that adds it."""
    if not any(device.taints for device in entry.devices):
        return ()
    found: list[tuple[tuple[str, str], str]] = []
    for device in screened_in(prepared, ((pool, entry),), request):
        taint = None if device.held else blocking_taint(device.device.taints, request.tolerations, prepared.problem.minor)
        if taint is not None:
            rule = next((rule.name for rule in rules if rule.taint == taint and _names(rule, device)), "")
            found.append(((str(taint), rule), f"{pool.name}/{device.device.name}"))
    return tuple(found)


def _names(rule: DeviceTaintRule, entry: Screened) -> bool:
    """Whether a rule taints this device."""
    return (
        rule.selects
        and rule.driver in (None, entry.pool.driver)
        and rule.pool in (None, entry.pool.name)
        and rule.device in (None, entry.device.name)
    )
