"""Conversions between types: int(), string(), bool() and the others, type() and dyn()."""

from __future__ import annotations

import re
from math import isinf, isnan
from typing import Final

from k8s_topo_mcp.cel import cost
from k8s_topo_mcp.cel.errors import CelError
from k8s_topo_mcp.cel.library.declaration import A, function, overload
from k8s_topo_mcp.cel.library.operators import MAX_SECONDS, MIN_SECONDS
from k8s_topo_mcp.cel.library.times import duration_text, parse_duration, parse_timestamp, timestamp_text
from k8s_topo_mcp.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    STRING,
    TIMESTAMP,
    UINT,
    type_of,
)
from k8s_topo_mcp.cel.values import (
    INT64_MAX,
    INT64_MIN,
    UINT64_MAX,
    Duration,
    Timestamp,
    UInt,
    Value,
    runtime_type,
    shortest_double,
)

NAMES: Final = frozenset(("bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"))
"""Conversions of a constant are done when the program is made; if that fails there is no program."""

_BOOLEANS: Final = {
    **dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True),
    **dict.fromkeys(("0", "f", "F", "FALSE", "false", "False"), False),
}
_FLOAT: Final = re.compile(
    r"[+-]?(?:(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9][0-9_]*)?|inf(?:inity)?|nan"
    r"|0x[0-9a-f_]*\.?[0-9a-f_]*p[+-]?[0-9]+)\Z",
    re.ASCII | re.IGNORECASE,
)


def _failed(source: str, target: str) -> CelError:
    return CelError(f"type conversion error from '{source}' to '{target}'", "conversion")


def _same(value: Value) -> Value:
    return value


def _string_to_bool(value: str) -> Value:
    try:
        return _BOOLEANS[value]
    except KeyError:
        raise _failed("string", "bool") from None


def _string_to_int(value: str) -> Value:
    if re.fullmatch(r"[+-]?[0-9]+", value, re.ASCII) and len(value) < 64 and INT64_MIN <= int(value) <= INT64_MAX:
        return int(value)
    raise _failed("string", "int")


def _string_to_uint(value: str) -> Value:
    if re.fullmatch(r"[0-9]+", value, re.ASCII) and len(value) < 64 and int(value) <= UINT64_MAX:
        return UInt(int(value))
    raise _failed("string", "uint")


def _string_to_double(value: str) -> Value:
    match = _FLOAT.match(value)
    if match is None or "_" in value:
        raise _failed("string", "double")
    if "x" in value.lower():
        try:
            return float.fromhex(value)
        except (ValueError, OverflowError):
            raise _failed("string", "double") from None
    number = float(value)
    if isinf(number) and "inf" not in value.lower():
        raise _failed("string", "double")
    return number


def _double_to_int(value: float) -> Value:
    if isnan(value) or isinf(value) or value <= INT64_MIN or value >= INT64_MAX:
        raise CelError("integer overflow", "overflow")
    return int(value)


def _double_to_uint(value: float) -> Value:
    if isnan(value) or isinf(value) or value < 0 or value >= 2.0**64:
        raise CelError("unsigned integer overflow", "overflow")
    return UInt(int(value))


def _int_to_uint(value: int) -> Value:
    if value < 0:
        raise CelError("unsigned integer overflow", "overflow")
    return UInt(value)


def _uint_to_int(value: UInt) -> Value:
    if value > INT64_MAX:
        raise CelError("integer overflow", "overflow")
    return int(value)


def _to_double(value: int) -> Value:
    return float(value)


def _bytes_to_string(value: bytes) -> Value:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise CelError("invalid UTF-8 in bytes, cannot convert to string", "conversion") from None


def _string_to_bytes(value: str) -> Value:
    return value.encode("utf-8", "surrogateescape")


def _string_to_duration(value: str) -> Value:
    duration = parse_duration(value)
    if duration is None:
        raise _failed("string", "google.protobuf.Duration")
    return duration


def _string_to_timestamp(value: str) -> Value:
    timestamp = parse_timestamp(value)
    if timestamp is None:
        raise _failed("string", "google.protobuf.Timestamp")
    return timestamp


def _int_to_timestamp(value: int) -> Value:
    if not MIN_SECONDS <= value <= MAX_SECONDS:
        raise CelError("timestamp overflow", "overflow")
    return Timestamp(value * 10**9)


def _bool_to_string(value: bool) -> Value:
    return "true" if value else "false"


def _number_to_string(value: int) -> Value:
    return str(int(value))


def _int_to_duration(_value: int) -> Value:
    raise _failed("int", "google.protobuf.Duration")


def _duration_to_int(value: Duration) -> Value:
    return value.nanoseconds


def _timestamp_to_int(value: Timestamp) -> Value:
    return value.nanoseconds // 10**9


OLD_FUNCTIONS: Final = (function("duration", overload("int64_to_duration", (INT,), DURATION, _int_to_duration)),)
"""Declared by cel-go before 0.29 (1.37), though the conversion itself always failed."""

FUNCTIONS: Final = (
    function("type", overload("type", (A,), type_of(A)), implement=runtime_type),
    function("bool", overload("bool_to_bool", (BOOL,), BOOL, _same), overload("string_to_bool", (STRING,), BOOL, _string_to_bool)),
    function(
        "bytes",
        overload("bytes_to_bytes", (BYTES,), BYTES, _same),
        overload("string_to_bytes", (STRING,), BYTES, _string_to_bytes, cost=cost.argument_traversal(0)),
    ),
    function(
        "double",
        overload("double_to_double", (DOUBLE,), DOUBLE, _same),
        overload("int64_to_double", (INT,), DOUBLE, _to_double),
        overload("string_to_double", (STRING,), DOUBLE, _string_to_double),
        overload("uint64_to_double", (UINT,), DOUBLE, _to_double),
    ),
    function(
        "duration",
        overload("duration_to_duration", (DURATION,), DURATION, _same),
        overload("string_to_duration", (STRING,), DURATION, _string_to_duration),
    ),
    function("dyn", overload("to_dyn", (A,), DYN), implement=_same),
    function(
        "int",
        overload("int64_to_int64", (INT,), INT, _same),
        overload("double_to_int64", (DOUBLE,), INT, _double_to_int),
        overload("duration_to_int64", (DURATION,), INT, _duration_to_int),
        overload("string_to_int64", (STRING,), INT, _string_to_int),
        overload("timestamp_to_int64", (TIMESTAMP,), INT, _timestamp_to_int),
        overload("uint64_to_int64", (UINT,), INT, _uint_to_int),
    ),
    function(
        "string",
        overload("string_to_string", (STRING,), STRING, _same),
        overload("bool_to_string", (BOOL,), STRING, _bool_to_string),
        overload("bytes_to_string", (BYTES,), STRING, _bytes_to_string, cost=cost.argument_traversal(0)),
        overload("double_to_string", (DOUBLE,), STRING, shortest_double),
        overload("duration_to_string", (DURATION,), STRING, duration_text),
        overload("int64_to_string", (INT,), STRING, _number_to_string),
        overload("timestamp_to_string", (TIMESTAMP,), STRING, timestamp_text),
        overload("uint64_to_string", (UINT,), STRING, _number_to_string),
    ),
    function(
        "timestamp",
        overload("timestamp_to_timestamp", (TIMESTAMP,), TIMESTAMP, _same),
        overload("int64_to_timestamp", (INT,), TIMESTAMP, _int_to_timestamp),
        overload("string_to_timestamp", (STRING,), TIMESTAMP, _string_to_timestamp),
    ),
    function(
        "uint",
        overload("uint64_to_uint64", (UINT,), UINT, _same),
        overload("double_to_uint64", (DOUBLE,), UINT, _double_to_uint),
        overload("int64_to_uint64", (INT,), UINT, _int_to_uint),
        overload("string_to_uint64", (STRING,), UINT, _string_to_uint),
    ),
)
