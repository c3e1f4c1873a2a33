"""Values at run time: what stands for each CEL type in Python, and size and text of them. How they compare: `equality`.

bool, int, float, str, bytes, None and list stand for themselves; a map is a dict whose string keys are plain and whose
other keys are `(tag, value)` pairs, because Python would take 1, 1.0 and True for one key. Quantity and SemVer are those
of `objects`.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, TypeAlias

from k8s_topo_mcp.cel import types
from k8s_topo_mcp.cel.errors import Abort, CelError, no_such_overload
from k8s_topo_mcp.cel.types import Type
from k8s_topo_mcp.objects.quantity import Quantity
from k8s_topo_mcp.objects.semver import SemVer

INT64_MAX: Final = 2**63 - 1
INT64_MIN: Final = -(2**63)
UINT64_MAX: Final = 2**64 - 1

Value: TypeAlias = Any
"""Any of the above; the checker of the language is what keeps them apart, so Python's has little to say here."""


class UInt(int):
    """An unsigned integer."""

    __slots__ = ()


class MutableList(list[Value]):
    """The accumulator of a comprehension that began as an empty list: adding to it changes it, as in cel-go."""

    __slots__ = ()


class MutableMap(dict[Value, Value]):
    """The same for maps."""

    __slots__ = ()


class StringMap(dict[Value, Value]):
    """A map that comes from the device: in Go a native one with string keys, which other keys just aren't in."""

    __slots__ = ()


class Domains(dict[Value, Value]):
    """`device.attributes` and `device.capacity`: an unknown domain is an empty map when it is read, but isn't `in` it."""

    __slots__ = ()

    def __missing__(self, key: Value) -> Value:
        return StringMap()


class SumQuantity(Quantity):
    """A quantity that came from add() or sub(). Go holds it as a pointer, which `==` refuses on its right side."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, eq=False)
class Optional:
    """An optional value."""

    present: bool
    content: Value = None


NONE: Final = Optional(False)


class _ByIdentity:
    """A key that Go holds by pointer: equal only to itself."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByIdentity) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


@dataclass(frozen=True, slots=True)
class Duration:
    """A length of time."""

    nanoseconds: int


@dataclass(frozen=True, slots=True)
class Timestamp:
    """Nanoseconds since the epoch, and the offset in seconds that it was written with."""

    nanoseconds: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class IPAddress:
    """An IPv4 or IPv6 address, without zone."""

    address: ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True, slots=True)
class Network:
    """An address with a prefix length; the address may have bits beyond the prefix."""

    address: ipaddress.IPv4Address | ipaddress.IPv6Address
    bits: int


@dataclass(frozen=True, slots=True)
class Location:
    """A parsed URL."""

    text: str
    scheme: str
    host: str
    escaped_path: str
    query: str


@dataclass(frozen=True, slots=True)
class NamedFormat:
    """A format by its name in Go, its name in expressions, and the size of its regular expression for the cost."""

    name: str
    key: str
    regex_size: int


GO_TYPES: Final[dict[type, str]] = {
    bool: "types.Bool", int: "types.Int", UInt: "types.Uint", float: "types.Double", str: "types.String", bytes: "types.Bytes",
    type(None): "types.Null", Optional: "*types.Optional", Duration: "types.Duration", Timestamp: "types.Timestamp",
    Quantity: "cel.Quantity", SumQuantity: "*cel.Quantity", SemVer: "cel.Semver", IPAddress: "cel.IP", Network: "cel.CIDR",
    Location: "cel.URL", NamedFormat: "cel.Format", Type: "*types.Type", list: "*types.baseList", dict: "*types.baseMap",
    StringMap: "*types.baseMap", Domains: "cel.mapper",
}  # fmt: skip
"""What Go's messages call the values."""


def go_type(value: Value) -> str:
    """What Go's messages call the value; what is none of CEL's here is an error there."""
    kind = value.__class__
    return GO_TYPES.get(kind, "*types.Err")


_TYPES: Final[dict[type, Type]] = {
    bool: types.BOOL,
    int: types.INT,
    UInt: types.UINT,
    float: types.DOUBLE,
    str: types.STRING,
    bytes: types.BYTES,
    type(None): types.NULL,
    list: types.list_of(types.DYN),
    MutableList: types.list_of(types.DYN),
    dict: types.map_of(types.DYN, types.DYN),
    MutableMap: types.map_of(types.DYN, types.DYN),
    StringMap: types.map_of(types.DYN, types.DYN),
    Domains: types.map_of(types.DYN, types.DYN),
    Optional: types.optional_of(types.DYN),
    Duration: types.DURATION,
    Timestamp: types.TIMESTAMP,
    Quantity: types.QUANTITY,
    SumQuantity: types.QUANTITY,
    SemVer: types.SEMVER,
    IPAddress: types.IP,
    Network: types.CIDR,
    Location: types.URL,
    NamedFormat: types.FORMAT,
    Type: types.TYPE,
}
LISTS: Final = frozenset((list, MutableList))
MAPS: Final = frozenset((dict, MutableMap, StringMap, Domains))
NATIVE_MAPS: Final = frozenset((StringMap, Domains))
NUMBERS: Final = frozenset((int, UInt, float))
QUANTITIES: Final = frozenset((Quantity, SumQuantity))

_ADDER, _COMPARER, _DIVIDER, _MATCHER, _MODDER, _MULTIPLIER, _NEGATOR, _RECEIVER, _SUBTRACTOR = (1 << bit for bit in range(9))
_TRAITS: Final[dict[type, int]] = {
    bool: _COMPARER | _NEGATOR,
    bytes: _ADDER | _COMPARER,
    float: _ADDER | _COMPARER | _DIVIDER | _MULTIPLIER | _NEGATOR | _SUBTRACTOR,
    int: _ADDER | _COMPARER | _DIVIDER | _MODDER | _MULTIPLIER | _NEGATOR | _SUBTRACTOR,
    UInt: _ADDER | _COMPARER | _DIVIDER | _MODDER | _MULTIPLIER | _SUBTRACTOR,
    str: _ADDER | _COMPARER | _MATCHER | _RECEIVER,
    Duration: _ADDER | _COMPARER | _NEGATOR | _RECEIVER | _SUBTRACTOR,
    Timestamp: _ADDER | _COMPARER | _RECEIVER | _SUBTRACTOR,
    list: _ADDER,
    MutableList: _ADDER,
}
NEEDED_TRAIT: Final[dict[str, int]] = {
    "_+_": _ADDER,
    "_-_": _SUBTRACTOR,
    "_*_": _MULTIPLIER,
    "_/_": _DIVIDER,
    "_%_": _MODDER,
    "-_": _NEGATOR,
    "_<_": _COMPARER,
    "_<=_": _COMPARER,
    "_>_": _COMPARER,
    "_>=_": _COMPARER,
    "matches": _MATCHER,
}


def mismatch(function: str, first: Value) -> CelError:
    """The error of an operator whose left operand's type has nothing to offer for it."""
    kind = first.__class__
    traits = _TRAITS.get(kind, 0)
    if traits & NEEDED_TRAIT.get(function, 0) or traits & _RECEIVER:
        return no_such_overload()
    return CelError(f"no such overload: {function}", "overload")


def runtime_type(value: Value) -> Type:
    """The type of a value, as `type(value)` gives it."""
    return _TYPES[type(value)]


def is_assignable(type: Type, value: Value) -> bool:
    """Whether a value may be an argument of the declared type; of lists and maps only the first entry is looked at."""
    if type.kind in ("dyn", "any", "param"):
        return True
    actual = runtime_type(value)
    if type.name != actual.name:
        return False
    if type.kind == "list" and value:
        return is_assignable(type.parameters[0], value[0])
    if type.kind == "map" and value:
        key = next(iter(value))
        return is_assignable(type.parameters[0], plain_key(key)) and is_assignable(type.parameters[1], value[key])
    return True


# --- maps ----------------------------------------------------------------------------------------------------------------


def map_key(value: Value) -> Value:
    """The form in which a value is the key of a map."""
    kind = value.__class__
    if kind is str:
        return value
    if kind in NUMBERS:
        return ("number", value)
    if kind is bool:
        return ("bool", value)
    unhashable(value)
    return ("other", _ByIdentity(value) if kind in LISTS or kind in MAPS or kind is Optional else value)


def key_in(map: dict[Value, Value], value: Value) -> Value:
    """The form in which a value would be the key of this map; an empty one asks for no hash."""
    if type(value) is str:
        return value
    return ("foreign", None) if not map or type(map) in NATIVE_MAPS else map_key(value)


def plain_key(key: Value) -> Value:
    """The value that a key stands for."""
    if type(key) is str:
        return key
    return key[1].value if type(key[1]) is _ByIdentity else key[1]


def keys(map: dict[Value, Value]) -> Iterator[Value]:
    return (plain_key(key) for key in map)


def unhashable(value: Value) -> None:
    """Go panics when it hashes these, and cel-go makes an internal error of the panic."""
    if isinstance(value, SemVer | bytes | NamedFormat):
        raise Abort(f"internal error: runtime error: hash of unhashable type {go_type(value)}", "internal")


# --- size -------------------------------------------------------------------------------------------------------------------


def size(value: Value) -> int | None:
    """The length of what has one."""
    kind = value.__class__
    if kind is str or kind is bytes or kind in LISTS or kind in MAPS:
        return len(value)
    if kind is IPAddress:
        return 4 if value.address.version == 4 else 16
    if kind is Network:
        return -(-value.bits // 8)
    return None


# --- text ----------------------------------------------------------------------------------------------------------------


def shortest_double(value: float) -> str:
    """Go's %g and %v: the shortest digits, with an exponent below 1e-4 and from 1e6 on, unless the digits need the places."""
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "+Inf" if value > 0 else "-Inf"
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    text = "".join(map(str, digits))
    power = len(text) - 1 + int(exponent)
    minus = "-" if sign else ""
    if value and (power < -4 or power >= 6):
        mantissa = text[0] + (f".{text[1:]}" if len(text) > 1 else "")
        return f"{minus}{mantissa}e{'+' if power >= 0 else '-'}{abs(power):02d}"
    return minus + plain_double(abs(value))


def plain_double(value: float) -> str:
    """Go's FormatFloat(value, 'f', -1, 64)."""
    if value != value or value in (float("inf"), float("-inf")):
        return shortest_double(value)
    text = format(Decimal(repr(value)), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def shown(value: Value) -> str:
    """The value as Go's %v prints it in messages."""
    kind = value.__class__
    if kind is bool:
        return "true" if value else "false"
    if kind is float:
        return shortest_double(value)
    if kind is bytes:
        return "[" + " ".join(str(byte) for byte in value) + "]"
    if value is None:
        return "NULL_VALUE"
    if kind in LISTS:
        return "[" + ", ".join(shown(element) for element in value) + "]"
    if kind in MAPS:
        return "{" + ", ".join(f"{shown(plain_key(key))}: {shown(content)}" for key, content in value.items()) + "}"
    if kind is Optional:
        return f"optional({shown(value.content)})" if value.present else "optional.none()"
    if kind is IPAddress:
        return str(value.address)
    if kind is Network:
        return f"{value.address}/{value.bits}"
    if kind is Location:
        return str(value.text)
    return str(value)
