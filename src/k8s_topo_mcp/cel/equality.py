"""Which values are equal, and which comes first. Follows common/types/*.go of cel-go, with its errors: a Quantity compared with anything
else is "no such overload", not false.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from k8s_topo_mcp.cel.errors import CelError, no_such_overload
from k8s_topo_mcp.cel.types import Type
from k8s_topo_mcp.cel.values import (
    INT64_MAX,
    INT64_MIN,
    LISTS,
    MAPS,
    NUMBERS,
    QUANTITIES,
    UINT64_MAX,
    Duration,
    IPAddress,
    Location,
    NamedFormat,
    Network,
    Optional,
    Timestamp,
    UInt,
    Value,
    mismatch,
)
from k8s_topo_mcp.objects.quantity import Quantity
from k8s_topo_mcp.objects.semver import SemVer


def equal(left: Value, right: Value) -> bool:
    """`left == right`, with the errors that the type of `left` raises for foreign types."""
    kind = left.__class__
    other = right.__class__
    if kind is other and (kind is str or kind is int or kind is bool):
        return bool(left == right)
    if left is None or right is None:
        return left is right
    if kind in NUMBERS:
        return other in NUMBERS and compare_numbers(left, right) == 0
    if kind in LISTS:
        return other in LISTS and _equal_lists(left, right)
    if kind in MAPS:
        return other in MAPS and _equal_maps(left, right)
    if kind is Optional:
        if other is not Optional or not left.present or not right.present:
            return other is Optional and left.present == right.present
        if right.content is None and (type(left.content) in _STRICT or type(left.content) in QUANTITIES):
            raise no_such_overload()
        return equal(left.content, right.content)
    if kind in QUANTITIES:
        if other is not Quantity:
            raise no_such_overload()
        return bool(left == right)
    if kind in _STRICT:
        if other is not kind:
            raise no_such_overload()
        return bool(left.text == right.text) if kind is Location else bool(left == right)
    if kind is Timestamp:
        return other is Timestamp and left.nanoseconds == right.nanoseconds
    if kind is Type:
        return other is Type and left.name == right.name
    return kind is other and bool(left == right)


_STRICT: Final = frozenset((SemVer, Location, NamedFormat, IPAddress, Network))


def equals_without_error(left: Value, right: Value) -> bool:
    """Whether `left == right` is true; where it is an error it isn't."""
    try:
        return equal(left, right)
    except CelError:
        return False


def _unequal_for_sure(left: Value, right: Value) -> bool:
    """In lists and maps, cel-go looks for a false and passes over an error."""
    try:
        return not equal(left, right)
    except CelError:
        return False


def _equal_lists(left: list[Value], right: list[Value]) -> bool:
    return len(left) == len(right) and not any(_unequal_for_sure(one, other) for one, other in zip(left, right, strict=True))


def _equal_maps(left: dict[Value, Value], right: dict[Value, Value]) -> bool:
    if len(left) != len(right):
        return False
    for key, value in left.items():
        try:
            other = right[key]
        except KeyError:
            return False
        if _unequal_for_sure(value, other):
            return False
    return True


def contains(list: list[Value], value: Value) -> bool:
    return any(equals_without_error(value, element) for element in list)


def alike(elements: Iterable[Value]) -> frozenset[tuple[type, Value]]:
    """Every (type, value) that is in a list of constant scalars, as cel-go's lookup has them (optimizeSetMembership): a number also in the
    other types into which it converts without an error and without loss, which isn't quite what `equal` says at the ends of the ranges."""
    found: set[tuple[type, Value]] = set()
    for element in elements:
        if element != element:  # no lookup finds a NaN
            continue
        kind: type[Any] = element.__class__
        found.add((kind, element))
        if type(element) is float:
            if INT64_MIN < element < float(INT64_MAX) and element == int(element):
                found.add((int, int(element)))
            if 0 <= element < float(UINT64_MAX) and element == int(element):
                found.add((UInt, UInt(int(element))))
        elif type(element) is int:
            found.add((float, float(element)))
            if element >= 0:
                found.add((UInt, UInt(element)))
        elif type(element) is UInt:
            found.add((float, float(element)))
            if element <= INT64_MAX:
                found.add((int, int(element)))
    return frozenset(found)


def compare_numbers(left: float, right: float) -> int:
    """-1, 0 or 1 across int, uint and double; 2 where a NaN is involved."""
    if type(left) is float or type(right) is float:
        if left != left or right != right:
            return 2
        if type(left) is float and type(right) is float:
            return (left > right) - (left < right)
        if type(left) is float:
            return _compare_double(left, right)
        return -_compare_double(right, left)
    return (left > right) - (left < right)


def _compare_double(double: float, integer: float) -> int:
    """Compare as cel-go does: beyond the integer's range at once, within it as doubles. The range's ends are doubles, too: its upper one
    is the next power of two."""
    low, high = (0, UINT64_MAX) if type(integer) is UInt else (INT64_MIN, INT64_MAX)
    if double < float(low):
        return -1
    if double > float(high):
        return 1
    other = float(integer)
    return (double > other) - (double < other)


def compare(function: str, left: Value, right: Value) -> int:
    """The order of two values for `<` and its kin, isSorted, min, max and sort."""
    kind = left.__class__
    other = right.__class__
    if kind in NUMBERS:
        if other not in NUMBERS:
            if kind is float and left != left:
                raise CelError("NaN values cannot be ordered")
            raise no_such_overload()
        order = compare_numbers(left, right)
        if order == 2:
            raise CelError("NaN values cannot be ordered")
        return order
    if kind is other and kind in (str, bytes, bool):
        return (left > right) - (left < right)
    if kind is other and kind in (Duration, Timestamp):
        return (left.nanoseconds > right.nanoseconds) - (left.nanoseconds < right.nanoseconds)
    raise mismatch(function, left)
