"""`"…".format([…])` (ext/formatting.go, the version before 4 that Kubernetes uses)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, NoReturn

from k8s_topo_mcp.cel.errors import CelError
from k8s_topo_mcp.cel.library.times import duration_text, timestamp_text
from k8s_topo_mcp.cel.types import Type
from k8s_topo_mcp.cel.values import LISTS, MAPS, Duration, Timestamp, UInt, Value, plain_key, runtime_type, shortest_double
from k8s_topo_mcp.objects.semver import go_quoted

DEFAULT_PRECISION: Final = 6
WRONG_TYPE: Final = {
    "s": "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, "
    "was given ",
    "d": "decimal clause can only be used on integers, was given ",
    "f": "fixed-point clause can only be used on doubles, was given ",
    "e": "scientific clause can only be used on doubles, was given ",
    "b": "only integers and bools can be formatted as binary, was given ",
    "x": "only integers, byte buffers, and strings can be formatted as hex, was given ",
    "o": "octal clause can only be used on integers, was given ",
}


class FormatError(Exception):
    """A clause that can't be read or applied; `index` is the argument to blame, if one is."""

    def __init__(self, message: str, index: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.index = index


def parsed(text: str, count: int, apply: Callable[[tuple[str, int | None], int], str]) -> list[str]:
    """The parts of the result, each clause applied as soon as it is read, so that errors come in the order of the text."""
    parts: list[str] = []
    index = position = 0
    while position < len(text):
        if text[position] != "%":
            parts.append(text[position])
            position += 1
            continue
        if text[position + 1 : position + 2] == "%":
            parts.append("%")
            position += 2
            continue
        if index >= count:
            raise FormatError(f"index {index} out of range")
        if position + 1 >= len(text):
            raise FormatError("unexpected end of string")
        position, clause = _clause(text, position + 1)
        parts.append(apply(clause, index))
        index += 1
    return parts


def _clause(text: str, position: int) -> tuple[int, tuple[str, int | None]]:
    precision: int | None = None
    if text[position] == ".":
        end = position + 1
        while end < len(text) and text[end] in "0123456789":
            end += 1
        if end >= len(text):
            _unparsed("error while parsing precision: could not find end of precision specifier")
        digits = text[position + 1 : end]
        if not digits:
            _unparsed(
                'error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax'
            )
        if int(digits) > 2**63 - 1:
            _unparsed(
                f"error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing {go_quoted(digits)}: "
                "value out of range"
            )
        precision, position = int(digits), end
    letter = text[position]
    if letter not in "sdfebxXo":
        shown = letter.encode("utf-8", "surrogateescape")[:1].decode("latin-1")
        _unparsed(f'unrecognized formatting clause "{shown}"')
    return position + 1, (letter, precision)


def _unparsed(why: str) -> NoReturn:
    raise FormatError(f"could not parse formatting clause: {why}")


def format_string(text: str, arguments: list[Value]) -> str:
    """The result, or CelError."""

    def apply(clause: tuple[str, int | None], index: int) -> str:
        try:
            return formatted(clause[0], clause[1], arguments[index])
        except FormatError as error:
            raise FormatError(f"error during formatting: {error.message}", index) from None

    try:
        return "".join(parsed(text, len(arguments), apply))
    except FormatError as error:
        raise CelError(error.message) from None


def formatted(letter: str, precision: int | None, value: Value) -> str:
    """One value by one clause."""
    kind = value.__class__
    match letter:
        case "s":
            return _text(value)
        case "d":
            if kind is int or kind is UInt:
                return str(int(value))
        case "f" | "e":
            if kind is float or value in ("NaN", "Infinity", "-Infinity"):
                return _double(letter, DEFAULT_PRECISION if precision is None else precision, float(value))
        case "b":
            if kind is bool:
                return "1" if value else "0"
            if kind is int or kind is UInt:
                return format(int(value), "b")
        case "x" | "X":
            if kind is str or kind is bytes:
                raw = value if kind is bytes else value.encode("utf-8", "surrogateescape")
                return raw.hex().upper() if letter == "X" else raw.hex()
            if kind is int or kind is UInt:
                return format(int(value), letter)
        case _:
            if kind is int or kind is UInt:
                return format(int(value), "o")
    raise FormatError(WRONG_TYPE[letter.lower()] + runtime_type(value).name)


def _double(letter: str, precision: int, value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    precision = min(precision, 100_000)
    if letter == "f":
        return format(value, f",.{precision}f")
    mantissa, exponent = format(value, f".{precision}e").split("e")
    digits = str(abs(int(exponent))).rjust(2, "0")
    sign = "-" if int(exponent) < 0 else ""
    superscript = "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in digits)
    return f"{mantissa}\u202f×\u202f10{'⁻' if sign else ''}{superscript}"


def _text(value: Value) -> str:
    kind = value.__class__
    if kind in LISTS:
        return "[" + ", ".join(_quoted(element, _inside(element)) for element in value) + "]"
    if kind in MAPS:
        pairs = [(_key(plain_key(key)), _quoted(content, _inside(content))) for key, content in value.items()]
        return "{" + ", ".join(f"{key}:{content}" for key, content in sorted(pairs, key=lambda pair: pair[0])) + "}"
    if kind is str:
        return str(value)
    if kind is bool:
        return "true" if value else "false"
    if kind is int or kind is UInt:
        return str(int(value))
    if kind is float:
        return shortest_double(value)
    if kind is bytes:
        try:
            return str(value.decode())
        except UnicodeDecodeError:
            raise FormatError('could not convert argument "invalid UTF-8 in bytes, cannot convert to string" to string') from None
    if kind is Timestamp:
        return timestamp_text(value)
    if kind is Duration:
        return duration_text(value)
    if kind is Type:
        return str(value.name)
    if value is None:
        return "null"
    raise FormatError(WRONG_TYPE["s"] + runtime_type(value).name)


def _inside(value: Value) -> str:
    """How a value looks as an element: as a CEL literal."""
    kind = value.__class__
    if kind is float:
        if math.isnan(value):
            return "NaN"
        if math.isinf(value):
            return "+Inf" if value > 0 else "-Inf"
        return format(value, ".6f")
    if kind is Timestamp:
        return f"timestamp({go_quoted(timestamp_text(value))})"
    if kind is Duration:
        return f"duration({go_quoted(duration_text(value))})"
    if kind in LISTS or kind in MAPS or kind in (int, UInt, str, bytes, bool, type(None), Type):
        return _text(value)
    raise FormatError(f"no formatting function for {runtime_type(value).name}")


def _quoted(value: Value, text: str) -> str:
    kind = value.__class__
    if kind is str or (kind is float and (math.isinf(value) or math.isnan(value))):
        return go_quoted(text)
    return "b" + go_quoted(text) if kind is bytes else text


def _key(key: Value) -> str:
    if type(key) in (str, bool, int, UInt):
        return _quoted(key, _text(key))
    raise FormatError(f"no formatting function for map key of type {runtime_type(key).name}")
