"""Consumable capacity: what a request takes of a device that several may share, and whether that much is left.

Rule: consumable_capacity.go in structured/internal/*. The check covers every capacity of the device: a request that names none takes the
policy's default, else the whole value. Requests are rounded up to the policy's range or values; what then breaks the policy, or exceeds
what is left, leaves the device out. On a device that isn't shareable the request is just a lower bound.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from ..objects import CapacityRange, DeviceCapacity, Quantity, RequestPolicy
from .candidates import Candidate
from .problem import AllocationProblem

Amount = int | Fraction
Amounts = Mapping[str, Quantity]
NOTHING: Amounts = {}

_MAX = 2**63 - 1
BEYOND = "capacity request cannot be represented in the device's range arithmetic"


class NotRepresentable(Exception):
    """A request, or what it rounds up to, that the device's range arithmetic can't hold."""


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """How a release rounds. `fractional`: ranges in thousandths are understood. `guarded`: what int64 can't hold is an error; up to 1.36 it
    wraps around, and a rounded value is written in binary units."""

    fractional: bool
    guarded: bool


def arithmetic_of(problem: AllocationProblem) -> Arithmetic:
    return Arithmetic("FractionalCapacityRange" in problem.features, problem.minor >= 37)


@dataclass(frozen=True, slots=True)
class Shortage:
    """Why a device can't give what is asked: the capacity, what was asked (rounded), what is left, or the policy that refuses."""

    capacity: str
    asked: Quantity | None
    left: Quantity | None
    why: str


def consumed_by(requested: Amounts | None, capacity: Mapping[str, DeviceCapacity], rules: Arithmetic) -> dict[str, Quantity]:
    """What a request takes of each capacity, rounded as the policy says. Raises NotRepresentable."""
    found: dict[str, Quantity] = {}
    for name, entry in capacity.items():
        try:
            found[name] = _consumed(requested.get(name) if requested is not None else None, entry, rules)
        except NotRepresentable as error:
            raise NotRepresentable(f'capacity "{name}": {error}') from None
    return found


def shortage(
    requested: Amounts | None,
    capacity: Mapping[str, DeviceCapacity],
    allocated: Amounts,
    in_flight: Mapping[str, Amount],
    rules: Arithmetic,
) -> Shortage | None:
    """None when the device can give it. Raises NotRepresentable."""
    if requested is not None:
        for name in requested:
            if name not in capacity:
                return Shortage(name, requested[name], None, "the device has no such capacity")
    consumed = consumed_by(requested, capacity, rules)
    for name, amount in consumed.items():
        if rules.guarded and amount.value < 0:
            raise NotRepresentable(f'capacity "{name}": capacity value is negative')
    for name, entry in capacity.items():
        amount = consumed[name]
        if entry.policy is not None and _violates(amount, entry.policy, rules.fractional):
            return Shortage(name, amount, entry.value, "its request policy doesn't allow that value")
        taken = (allocated[name].value if name in allocated else 0) + in_flight.get(name, 0)
        if taken + amount.value > entry.value.value:
            return Shortage(name, amount, entry.value, "not enough is left")
    return None


def _consumed(requested: Quantity | None, entry: DeviceCapacity, rules: Arithmetic) -> Quantity:
    policy = entry.policy
    if requested is None:
        return policy.default if policy is not None and policy.default is not None else entry.value
    if policy is None:
        return requested
    if policy.valid_range is not None and policy.valid_range.minimum is not None:
        return _round_to_range(requested, policy.valid_range, rules)
    for value in policy.valid_values:
        if requested <= value:
            return value
    return requested


def _round_to_range(requested: Quantity, valid: CapacityRange, rules: Arithmetic) -> Quantity:
    minimum, step = valid.minimum, valid.step
    assert minimum is not None
    if requested < minimum:
        return minimum
    if step is None:
        return requested
    if not rules.guarded:
        return Quantity.of(_wrapping(requested, minimum, step), "BinarySI")
    if _in_milli(valid, rules.fractional):
        if requested.value * 1000 != int(requested.value * 1000) or abs(requested.value * 1000) > _MAX:
            raise NotRepresentable(f"{BEYOND}: request {requested} is not a representable milli value")
        low, width, own = int(minimum.value * 1000), int(step.value * 1000), int(requested.value * 1000)
        rounded = Fraction(low + width * -(-(own - low) // width), 1000)
        limit, span = Fraction(_MAX, 1000), "the milli-value range"
    else:
        low, width, own = minimum.rounded_up_int(), step.rounded_up_int(), requested.rounded_up_int()
        if requested.value > _MAX:
            raise NotRepresentable(f"{BEYOND}: request {requested} exceeds MaxInt64")
        rounded = Fraction(low + width * -(-(own - low) // width))
        limit, span = Fraction(_MAX), "MaxInt64"
    if rounded > limit:
        raise NotRepresentable(f"{BEYOND}: rounding request {requested} up to the next step passes {span}")
    if rounded.denominator == 1:
        return Quantity.of(int(rounded), step.format)
    return Quantity(int(rounded * 1000), -3, step.format)


def _wrapping(requested: Quantity, minimum: Quantity, step: Quantity) -> int:
    """The rounding of int64 arithmetic that nobody guards, division towards zero included."""
    low, width = minimum.rounded_up_int(), step.rounded_up_int()
    added = _int64(requested.rounded_up_int() - low)
    steps = abs(added) // width * (1 if added >= 0 else -1) + (1 if added % width else 0)
    return _int64(low + _int64(width * steps))


def _int64(number: int) -> int:
    return (number + 2**63) % 2**64 - 2**63


def _in_milli(valid: CapacityRange, fractional: bool) -> bool:
    if not fractional:
        return False
    for part in (valid.minimum, valid.maximum, valid.step):
        if part is not None and (part.value * 1000 != int(part.value * 1000) or abs(part.value * 1000) > _MAX):
            return False
    return valid.step is None or valid.step.value * 1000 >= 1


def _violates(amount: Quantity, policy: RequestPolicy, fractional: bool) -> bool:
    if policy.default is not None and _same_notation(amount, policy.default):
        return False
    if policy.valid_range is not None:
        valid = policy.valid_range
        if valid.maximum is not None and amount > valid.maximum:
            return True
        if valid.step is not None and valid.minimum is not None:
            if _in_milli(valid, fractional):
                if amount.value * 1000 != int(amount.value * 1000):
                    return True
                return int(amount.value * 1000 - valid.minimum.value * 1000) % int(valid.step.value * 1000) != 0
            return (amount.rounded_up_int() - valid.minimum.rounded_up_int()) % valid.step.rounded_up_int() != 0
        return False
    return bool(policy.valid_values) and all(amount != value for value in policy.valid_values)


def _same_notation(one: Quantity, other: Quantity) -> bool:
    """Go compares the structs here, not the values: 1Gi equals a default of 1Gi, 1024Mi doesn't."""
    return (one.mantissa, one.scale, one.format, one.text) == (other.mantissa, other.scale, other.format, other.text)


def capacity_key(candidate: Candidate, problem: AllocationProblem) -> Hashable:
    """What decides about capacity on this device: equal keys, equal answers."""
    device = candidate.device
    allocated = problem.in_use.capacity.get(candidate.id)
    return (
        device.allow_multiple_allocations,
        tuple(sorted((name, entry.value.value, repr(entry.policy)) for name, entry in device.capacity.items())),
        candidate.id in problem.in_use.shared,
        tuple(sorted((name, amount.value) for name, amount in allocated.items())) if allocated is not None else None,
    )
