"""Reading fields out of decoded JSON or YAML, with one clear error when a field has the wrong type.

Source: the Kubernetes API conventions. An absent field and `null` are the same; an unknown field is ignored; a field of the wrong
type is an error that names its path. Paths are assembled while the error travels up, so reading right input costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from sys import intern
from typing import Any, NoReturn, TypeVar, cast

from .quantity import Quantity

Json = Mapping[str, Any]
T = TypeVar("T")


class DecodeError(ValueError):
    """A field that can't be what the API says it is: `path` (dotted, as in kubectl explain), `problem` (what it is, what it should be)."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path}: {problem}" if path else problem)
        self.path = path
        self.problem = problem

    def under(self, prefix: str) -> DecodeError:
        """The same error, seen from one level further up."""
        if not self.path:
            return DecodeError(prefix, self.problem)
        joint = "" if self.path.startswith("[") else "."
        return DecodeError(f"{prefix}{joint}{self.path}", self.problem)


_NAMES: dict[type, str] = {str: "a string", bool: "a boolean", int: "an integer", float: "a number", list: "a list", dict: "an object"}


def kind_of(value: object) -> str:
    """The JSON type of `value` in words, for error messages."""
    return _NAMES.get(type(value), "null" if value is None else type(value).__name__)


def string(source: Json, key: str, default: str = "") -> str:
    """The text under `key`, `default` when absent."""
    value = source.get(key)
    if type(value) is str:
        return value
    if value is None:
        return default
    raise DecodeError(key, f"must be a string, is {kind_of(value)}")


def optional_string(source: Json, key: str) -> str | None:
    """The text under `key`, None when absent."""
    value = source.get(key)
    if value is None or type(value) is str:
        return value
    raise DecodeError(key, f"must be a string, is {kind_of(value)}")


_INT64 = 2**63


def _too_large(key: str) -> NoReturn:
    raise DecodeError(key, "must be an integer of 64 bits, is beyond that")


def integer(source: Json, key: str, default: int = 0) -> int:
    """The integer under `key`, `default` when absent."""
    value = source.get(key)
    if type(value) is int:
        return value if -_INT64 <= value < _INT64 else _too_large(key)
    if value is None:
        return default
    raise DecodeError(key, f"must be an integer, is {kind_of(value)}")


def optional_integer(source: Json, key: str) -> int | None:
    """The integer under `key`, None when absent."""
    value = source.get(key)
    if value is None:
        return None
    if type(value) is int:
        return value if -_INT64 <= value < _INT64 else _too_large(key)
    raise DecodeError(key, f"must be an integer, is {kind_of(value)}")


def boolean(source: Json, key: str, default: bool = False) -> bool:
    """The boolean under `key`, `default` when absent."""
    value = source.get(key)
    if type(value) is bool:
        return value
    if value is None:
        return default
    raise DecodeError(key, f"must be a boolean, is {kind_of(value)}")


def optional_boolean(source: Json, key: str) -> bool | None:
    """The boolean under `key`, None when absent."""
    value = source.get(key)
    if value is None or type(value) is bool:
        return value
    raise DecodeError(key, f"must be a boolean, is {kind_of(value)}")


_EMPTY: Json = {}


def mapping(source: Json, key: str) -> Json:
    """The object under `key`; an absent one reads as empty."""
    value: Any = source.get(key)
    if value.__class__ is dict:
        return value
    if value is None:
        return _EMPTY
    raise DecodeError(key, f"must be an object, is {kind_of(value)}")


def object_at(source: Json, *path: str) -> Json:
    """The object at `path`, empty when it isn't there or isn't one: for kinds whose schema isn't known."""
    for key in path:
        value = source.get(key)
        if not isinstance(value, dict):
            return {}
        source = cast(Json, value)
    return source


def optional_mapping(source: Json, key: str) -> Json | None:
    """The object under `key`, None when absent."""
    value = source.get(key)
    if value is None:
        return None
    if value.__class__ is dict:
        return value
    raise DecodeError(key, f"must be an object, is {kind_of(value)}")


def sequence(source: Json, key: str) -> Sequence[Any]:
    """The list under `key`; an absent one reads as empty."""
    value: Any = source.get(key)
    if value.__class__ is list:
        return value
    if value is None:
        return ()
    raise DecodeError(key, f"must be a list, is {kind_of(value)}")


def each(source: Json, key: str, decode: Callable[[Json], T]) -> tuple[T, ...]:
    """Decode every object of the list under `key`."""
    items = source.get(key)
    if not items:
        sequence(source, key)  # refuses what is neither a list nor absent
        return ()
    found: list[T] = []
    for item in sequence(source, key):
        if item.__class__ is not dict:
            raise DecodeError(f"{key}[{len(found)}]", f"must be an object, is {kind_of(item)}")
        try:
            found.append(decode(item))
        except DecodeError as error:
            raise error.under(f"{key}[{len(found)}]") from None
    return tuple(found)


def nested(source: Json, key: str, decode: Callable[[Json], T]) -> T | None:
    """Decode the object under `key`, or None when it is absent."""
    value = optional_mapping(source, key)
    if value is None:
        return None
    try:
        return decode(value)
    except DecodeError as error:
        raise error.under(key) from None


def strings(source: Json, key: str) -> tuple[str, ...]:
    """The list of strings under `key`."""
    if source.get(key) is None:
        return ()
    items = sequence(source, key)
    for index, item in enumerate(items):
        if item.__class__ is not str:
            raise DecodeError(f"{key}[{index}]", f"must be a string, is {kind_of(item)}")
    return tuple(items)


def string_map(source: Json, key: str) -> Mapping[str, str]:
    """The object of strings under `key` (labels, annotations, node selectors)."""
    values = mapping(source, key)
    for name, value in values.items():
        if value.__class__ is not str:
            raise DecodeError(f"{key}[{name}]", f"must be a string, is {kind_of(value)}")
    return values


_FIRST_SECOND = datetime(1, 1, 1, tzinfo=UTC).timestamp()
_LAST_SECOND = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp() + 1


@lru_cache(maxsize=8192)
def parse_time(text: str) -> float:
    """RFC 3339 with or without fractions, as seconds since the epoch. Raises ValueError for anything else, and for a moment that isn't in
    the years 1 to 9999 of UTC: no date could be made of it again."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    seconds = moment.timestamp()
    if not _FIRST_SECOND <= seconds < _LAST_SECOND:
        raise ValueError(f"{text[:40]!r} is outside the years 1 to 9999")
    return seconds


def timestamp(source: Json, key: str) -> float | None:
    """A metav1.Time or MicroTime as seconds since the epoch (UTC), None when absent."""
    text = optional_string(source, key)
    if not text:
        return None
    try:
        return parse_time(text)
    except (ValueError, OverflowError):
        raise DecodeError(key, f"must be a time such as 2026-11-29T17:53:12Z, is {text[:40]!r}") from None


def decode_quantity(value: object, path: str) -> Quantity:
    """A quantity in any form that the API takes; `path` names it in the error."""
    if type(value) is not str and type(value) is not int and type(value) is not float:
        raise DecodeError(path, f"must be a quantity such as 80Gi, is {kind_of(value)}")
    try:
        return Quantity.parse(value)
    except ValueError as error:
        raise DecodeError(path, str(error)) from None


def decode_quantities(source: Json, key: str) -> Mapping[str, Quantity]:
    """An object of quantities (resource requests, consumed capacity)."""
    return {intern(name): decode_quantity(value, f"{key}[{name}]") for name, value in mapping(source, key).items()}


def optional_quantity(source: Json, key: str) -> Quantity | None:
    """The quantity under `key`, None when absent."""
    value = source.get(key)
    return None if value is None else decode_quantity(value, key)
