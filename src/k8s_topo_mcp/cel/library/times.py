"""Timestamps and durations: reading and writing them, and the parts of them (common/types/timestamp.go, duration.go)."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from k8s_topo_mcp.cel.errors import CelError
from k8s_topo_mcp.cel.library.declaration import Function, member
from k8s_topo_mcp.cel.library.operators import MAX_SECONDS, MIN_SECONDS
from k8s_topo_mcp.cel.types import DURATION, INT, STRING, TIMESTAMP
from k8s_topo_mcp.cel.values import INT64_MAX, INT64_MIN, Duration, Timestamp, Value, plain_double
from k8s_topo_mcp.objects.semver import go_quoted

_BILLION: Final = 10**9
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS: Final = {"ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": _BILLION, "m": 60 * _BILLION, "h": 3600 * _BILLION}
_DURATION: Final = re.compile(r"([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)", re.ASCII)
_RFC3339: Final = re.compile(r"(\d{4})-(\d{2})-(\d{2})T(\d{1,2}):(\d{2}):(\d{2})(?:[.,](\d+))?(?:(Z)|([+-])(\d{2}):(\d{2}))\Z", re.ASCII)


def parse_duration(text: str) -> Duration | None:
    """Go's time.ParseDuration."""
    rest = text
    negative = rest[:1] == "-"
    if rest[:1] in ("-", "+"):
        rest = rest[1:]
    if rest == "0":
        return Duration(0)
    if not rest:
        return None
    total = 0
    position = 0
    while position < len(rest):
        match = _DURATION.match(rest, position)
        if match is None or not (match[1] or match[2]):
            return None
        unit = _UNITS[match[3]]
        total += int(match[1] or "0") * unit
        if match[2]:
            total += int(Decimal(f"0.{match[2]}") * unit)
        if total > INT64_MAX + negative:
            return None
        position = match.end()
    return Duration(-total if negative else total)


def duration_text(value: Duration) -> str:
    """Seconds with an "s", as CEL prints durations."""
    seconds, rest = divmod(abs(value.nanoseconds), _BILLION)
    number = float(seconds) + rest / 1e9
    return plain_double(-number if value.nanoseconds < 0 else number) + "s"


def parse_timestamp(text: str) -> Timestamp | None:
    """Go's time.Parse(time.RFC3339, text). Raises CelError for what lies outside the years 1 to 9999."""
    match = _RFC3339.match(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(match[index]) for index in range(1, 7))
    offset = 0
    if not match[8]:
        hours, minutes = int(match[10]), int(match[11])
        if hours > 24 or minutes > 60:
            return None
        offset = (hours * 3600 + minutes * 60) * (-1 if match[9] == "-" else 1)
    if hour > 23 or minute > 59 or second > 59:
        return None
    try:
        moment = datetime(year or 4, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
    seconds = (moment - _EPOCH) // timedelta(seconds=1) - offset
    if year == 0 or not MIN_SECONDS <= seconds <= MAX_SECONDS:
        raise CelError("timestamp overflow", "overflow")
    return Timestamp(seconds * _BILLION + int(((match[7] or "") + "0" * 9)[:9]), offset)


def timestamp_text(value: Timestamp) -> str:
    """Go's RFC3339Nano, in the offset that the timestamp came with."""
    seconds, nanoseconds = divmod(value.nanoseconds, _BILLION)
    moment = _EPOCH + timedelta(seconds=seconds) + timedelta(seconds=value.offset) if _fits(seconds + value.offset) else _EPOCH
    fraction = f".{nanoseconds:09d}".rstrip("0") if nanoseconds else ""
    minutes = abs(value.offset) // 60
    zone = f"{'-' if value.offset < 0 else '+'}{minutes // 60:02d}:{minutes % 60:02d}" if value.offset else "Z"
    return f"{moment.year:04d}-{moment:%m-%dT%H:%M:%S}{fraction}{zone}"


def _fits(seconds: int) -> bool:
    return MIN_SECONDS <= seconds <= MAX_SECONDS


def _zone(name: str) -> tzinfo:
    head, colon, tail = name.partition(":")
    if not colon:
        if name in ("", "UTC"):
            return UTC
        if name == "Local":
            return UTC
        try:
            return ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise CelError(f"unknown time zone {name}") from None
    hours, minutes = _atoi(head), _atoi(tail)
    offset = hours * 60 - minutes if name[0] == "-" else hours * 60 + minutes
    try:
        return timezone(timedelta(minutes=offset))
    except ValueError:
        raise CelError(f"unknown time zone {name}") from None


def _atoi(text: str) -> int:
    if not re.fullmatch(r"[+-]?[0-9]+", text, re.ASCII):
        raise CelError(f"strconv.Atoi: parsing {go_quoted(text)}: invalid syntax")
    value = int(text)
    if not INT64_MIN <= value <= INT64_MAX:
        raise CelError(f"strconv.Atoi: parsing {go_quoted(text)}: value out of range")
    return value


def _part(read: Callable[[datetime, int], int]) -> tuple[Callable[[Timestamp], Value], Callable[[Timestamp, str], Value]]:
    def in_zone(value: Timestamp, zone: str) -> Value:
        place = _zone(zone)
        seconds, nanoseconds = divmod(value.nanoseconds, _BILLION)
        moment = _EPOCH + timedelta(seconds=seconds)
        try:
            moment = moment.astimezone(place)
        except OverflowError:
            raise CelError("timestamp overflow", "overflow") from None
        return read(moment, nanoseconds)

    return (lambda value: in_zone(value, "UTC")), in_zone


def _timestamp_function(
    name: str, suffix: str, read: Callable[[datetime, int], int], of_duration: Callable[[Duration], Value] | None = None
) -> Function:
    plain, zoned = _part(read)
    rows = [
        member(f"timestamp_to_{suffix}", (TIMESTAMP,), INT, plain),
        member(f"timestamp_to_{suffix}_with_tz", (TIMESTAMP, STRING), INT, zoned),
    ]
    if of_duration:
        rows.append(member(f"duration_to_{suffix}", (DURATION,), INT, of_duration))
    return Function(name, tuple(rows))


def _whole(unit: int) -> Callable[[Duration], Value]:
    def read(value: Duration) -> Value:
        return abs(value.nanoseconds) // unit * (-1 if value.nanoseconds < 0 else 1)

    return read


FUNCTIONS: Final = (
    _timestamp_function("getFullYear", "year", lambda moment, _: moment.year),
    _timestamp_function("getMonth", "month", lambda moment, _: moment.month - 1),
    _timestamp_function("getDayOfYear", "day_of_year", lambda moment, _: moment.timetuple().tm_yday - 1),
    _timestamp_function("getDayOfMonth", "day_of_month", lambda moment, _: moment.day - 1),
    _timestamp_function("getDate", "day_of_month_1_based", lambda moment, _: moment.day),
    _timestamp_function("getDayOfWeek", "day_of_week", lambda moment, _: moment.isoweekday() % 7),
    _timestamp_function("getHours", "hours", lambda moment, _: moment.hour, _whole(3600 * _BILLION)),
    _timestamp_function("getMinutes", "minutes", lambda moment, _: moment.minute, _whole(60 * _BILLION)),
    _timestamp_function("getSeconds", "seconds", lambda moment, _: moment.second, _whole(_BILLION)),
    _timestamp_function("getMilliseconds", "milliseconds", lambda _, nanoseconds: nanoseconds // 10**6, _whole(10**6)),
)
