"""Operators: arithmetic with overflow, relations across number types, `in`, size and the logical ones
(common/stdlib/standard.go, common/types/overflow.go)."""

from __future__ import annotations

from typing import Final

from k8s_topo_mcp.cel import cost
from k8s_topo_mcp.cel.equality import compare, contains
from k8s_topo_mcp.cel.errors import CelError, no_such_overload
from k8s_topo_mcp.cel.library.declaration import LIST_A, MAP_AB, A, B, Function, Overload, function, member, overload
from k8s_topo_mcp.cel.types import BOOL, BYTES, DOUBLE, DURATION, INT, STRING, TIMESTAMP, UINT, Type
from k8s_topo_mcp.cel.values import (
    INT64_MAX,
    INT64_MIN,
    LISTS,
    MAPS,
    UINT64_MAX,
    Duration,
    MutableList,
    Timestamp,
    UInt,
    Value,
    key_in,
    mismatch,
)

MIN_SECONDS: Final = -62135596800
MAX_SECONDS: Final = 253402300799
_BILLION: Final = 10**9


def _int(value: int) -> int:
    if INT64_MIN <= value <= INT64_MAX:
        return value
    raise CelError("integer overflow", "overflow")


def _uint(value: int) -> UInt:
    if 0 <= value <= UINT64_MAX:
        return UInt(value)
    raise CelError("unsigned integer overflow", "overflow")


def _duration(nanoseconds: int) -> Duration:
    if INT64_MIN <= nanoseconds <= INT64_MAX:
        return Duration(nanoseconds)
    raise CelError("integer overflow", "overflow")


def _timestamp(nanoseconds: int, offset: int) -> Timestamp:
    if MIN_SECONDS * _BILLION <= nanoseconds < (MAX_SECONDS + 1) * _BILLION:
        return Timestamp(nanoseconds, offset)
    raise CelError("timestamp overflow", "overflow")


def add(left: Value, right: Value) -> Value:
    kind = left.__class__
    other = right.__class__
    if kind is int and other is int:
        return _int(left + right)
    if kind is other:
        if kind is str or kind is bytes or kind is float:
            return left + right
        if kind is UInt:
            return _uint(int(left) + int(right))
        if kind is Duration:
            return _duration(left.nanoseconds + right.nanoseconds)
    if kind in LISTS and other in LISTS:
        if kind is MutableList:
            left.extend(list(right) if right is left else right)
            return left
        return [*left, *right]
    if kind is Timestamp and other is Duration:
        return _timestamp(left.nanoseconds + right.nanoseconds, left.offset)
    if kind is Duration and other is Timestamp:
        return _timestamp(left.nanoseconds + right.nanoseconds, right.offset)
    raise mismatch("_+_", left)


def subtract(left: Value, right: Value) -> Value:
    kind = left.__class__
    other = right.__class__
    if kind is other:
        if kind is int:
            return _int(left - right)
        if kind is float:
            return left - right
        if kind is UInt:
            return _uint(int(left) - int(right))
        if kind is Duration or kind is Timestamp:
            return _duration(left.nanoseconds - right.nanoseconds)
    if kind is Timestamp and other is Duration:
        return _timestamp(left.nanoseconds - right.nanoseconds, left.offset)
    raise mismatch("_-_", left)


def multiply(left: Value, right: Value) -> Value:
    kind = left.__class__
    if kind is type(right):
        if kind is int:
            return _int(left * right)
        if kind is float:
            return left * right
        if kind is UInt:
            return _uint(int(left) * int(right))
    raise mismatch("_*_", left)


def divide(left: Value, right: Value) -> Value:
    kind = left.__class__
    if kind is type(right):
        if kind is float:
            return _divided(left, right)
        if kind is int or kind is UInt:
            if right == 0:
                raise CelError("division by zero")
            quotient = abs(left) // abs(right)
            return _int(quotient if (left < 0) == (right < 0) else -quotient) if kind is int else UInt(quotient)
    raise mismatch("_/_", left)


def _divided(left: float, right: float) -> float:
    if right:
        return left / right
    if left != left or not left or right != right:
        return float("nan")
    negative = str(left).startswith("-") != str(right).startswith("-")
    return float("-inf") if negative else float("inf")


def modulo(left: Value, right: Value) -> Value:
    kind = left.__class__
    if kind is type(right) and (kind is int or kind is UInt):
        if right == 0:
            raise CelError("modulus by zero")
        if kind is UInt:
            return UInt(int(left) % int(right))
        if left == INT64_MIN and right == -1:
            raise CelError("integer overflow", "overflow")
        remainder = abs(left) % abs(right)
        return remainder if left >= 0 else -remainder
    raise mismatch("_%_", left)


def negate(value: Value) -> Value:
    kind = value.__class__
    if kind is int:
        return _int(-value)
    if kind is float:
        return -value
    if kind is Duration:
        return _duration(-value.nanoseconds)
    raise no_such_overload() if kind is bool else mismatch("-_", value)


def logical_not(value: Value) -> Value:
    if type(value) is bool:
        return not value
    raise no_such_overload()


def less(left: Value, right: Value) -> Value:
    return compare("_<_", left, right) < 0


def less_or_equal(left: Value, right: Value) -> Value:
    return compare("_<=_", left, right) <= 0


def greater(left: Value, right: Value) -> Value:
    return compare("_>_", left, right) > 0


def greater_or_equal(left: Value, right: Value) -> Value:
    return compare("_>=_", left, right) >= 0


def is_in(value: Value, container: Value) -> Value:
    kind = container.__class__
    if kind in MAPS:
        return key_in(container, value) in container
    if kind in LISTS:
        return contains(container, value)
    raise no_such_overload()


def length(value: Value) -> Value:
    kind = value.__class__
    if kind is str or kind is bytes or kind in LISTS or kind in MAPS:
        return len(value)
    raise mismatch("size", value)


def not_strictly_false(value: Value) -> Value:
    return value if type(value) is bool else True


_SHORT: Final[dict[Type, str]] = {
    BOOL: "bool", INT: "int64", UINT: "uint64", DOUBLE: "double", STRING: "string", BYTES: "bytes", TIMESTAMP: "timestamp",
    DURATION: "duration",
}  # fmt: skip
_ORDERED: Final = (
    (BOOL, BOOL), (INT, INT), (INT, DOUBLE), (INT, UINT), (UINT, UINT), (UINT, DOUBLE), (UINT, INT), (DOUBLE, DOUBLE), (DOUBLE, INT),
    (DOUBLE, UINT), (STRING, STRING), (BYTES, BYTES), (TIMESTAMP, TIMESTAMP), (DURATION, DURATION),
)  # fmt: skip


def _relation(name: str, prefix: str, implement: object) -> Function:
    rows: list[Overload] = []
    for left, right in _ORDERED:
        identifier = f"{prefix}_{_SHORT[left]}" + ("" if left == right else f"_{_SHORT[right]}")
        rows.append(overload(identifier, (left, right), BOOL, cost=cost.shorter_traversal if left in (STRING, BYTES) else None))
    return Function(name, tuple(rows), implement)  # pyright: ignore[reportArgumentType]


def _arithmetic(name: str, prefix: str, implement: object, *signatures: tuple[str, Type, Type, Type]) -> Function:
    rows = tuple(
        overload(
            f"{prefix}_{suffix}", (left, right), result, cost=cost.both_traversals if prefix == "add" and left in (STRING, BYTES) else None
        )
        for suffix, left, right, result in signatures
    )
    return Function(name, rows, implement)  # pyright: ignore[reportArgumentType]


FUNCTIONS: Final = (
    function("_?_:_", overload("conditional", (BOOL, A, A), A)),
    function("_&&_", overload("logical_and", (BOOL, BOOL), BOOL)),
    function("_||_", overload("logical_or", (BOOL, BOOL), BOOL)),
    function("!_", overload("logical_not", (BOOL,), BOOL), implement=logical_not),
    function("@not_strictly_false", overload("not_strictly_false", (BOOL,), BOOL), implement=not_strictly_false),
    function("_==_", overload("equals", (A, A), BOOL), cost=cost.equality),
    function("_!=_", overload("not_equals", (A, A), BOOL), cost=cost.shorter_traversal),
    _arithmetic(
        "_+_", "add", add,
        ("bytes", BYTES, BYTES, BYTES), ("double", DOUBLE, DOUBLE, DOUBLE), ("duration_duration", DURATION, DURATION, DURATION),
        ("duration_timestamp", DURATION, TIMESTAMP, TIMESTAMP), ("timestamp_duration", TIMESTAMP, DURATION, TIMESTAMP),
        ("int64", INT, INT, INT), ("list", LIST_A, LIST_A, LIST_A), ("string", STRING, STRING, STRING), ("uint64", UINT, UINT, UINT),
    ),
    _arithmetic("_/_", "divide", divide, ("double", DOUBLE, DOUBLE, DOUBLE), ("int64", INT, INT, INT), ("uint64", UINT, UINT, UINT)),
    _arithmetic("_%_", "modulo", modulo, ("int64", INT, INT, INT), ("uint64", UINT, UINT, UINT)),
    _arithmetic("_*_", "multiply", multiply, ("double", DOUBLE, DOUBLE, DOUBLE), ("int64", INT, INT, INT), ("uint64", UINT, UINT, UINT)),
    function("-_", overload("negate_double", (DOUBLE,), DOUBLE), overload("negate_int64", (INT,), INT), implement=negate),
    _arithmetic(
        "_-_", "subtract", subtract,
        ("double", DOUBLE, DOUBLE, DOUBLE), ("duration_duration", DURATION, DURATION, DURATION), ("int64", INT, INT, INT),
        ("timestamp_duration", TIMESTAMP, DURATION, TIMESTAMP), ("timestamp_timestamp", TIMESTAMP, TIMESTAMP, DURATION),
        ("uint64", UINT, UINT, UINT),
    ),
    _relation("_<_", "less", less),
    _relation("_<=_", "less_equals", less_or_equal),
    _relation("_>_", "greater", greater),
    _relation("_>=_", "greater_equals", greater_or_equal),
    function("_[_]", overload("index_list", (LIST_A, INT), A), overload("index_map", (MAP_AB, A), B)),
    function("@in", overload("in_list", (A, LIST_A), BOOL, cost=cost.membership), overload("in_map", (A, MAP_AB), BOOL), implement=is_in),
    function(
        "size",
        overload("size_bytes", (BYTES,), INT), member("bytes_size", (BYTES,), INT),
        overload("size_list", (LIST_A,), INT), member("list_size", (LIST_A,), INT),
        overload("size_map", (MAP_AB,), INT), member("map_size", (MAP_AB,), INT),
        overload("size_string", (STRING,), INT), member("string_size", (STRING,), INT),
        implement=length,
    ),
)  # fmt: skip
