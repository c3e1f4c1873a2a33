"""Types of the checker: what an expression can evaluate to, and which type may stand for which.

The rules are those of cel-go's checker/types.go, including unification of type parameters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal[
    "any", "bool", "bytes", "double", "duration", "dyn", "error", "int", "list", "map", "null", "opaque", "string", "struct",
    "timestamp", "type", "param", "uint",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Type:
    """A type; `name` is the runtime name, which messages use."""

    kind: Kind
    name: str
    parameters: tuple[Type, ...] = ()

    def __str__(self) -> str:
        """As cel-go's Type.String(), used for the output type."""
        if self.kind == "param":
            return f"<{self.name}>"
        if not self.parameters:
            return self.name
        return f"{self.name}({', '.join(str(parameter) for parameter in self.parameters)})"

    @property
    def is_dyn(self) -> bool:
        return self.kind in ("dyn", "any")


ANY: Final = Type("any", "google.protobuf.Any")
BOOL: Final = Type("bool", "bool")
BYTES: Final = Type("bytes", "bytes")
DOUBLE: Final = Type("double", "double")
DURATION: Final = Type("duration", "google.protobuf.Duration")
DYN: Final = Type("dyn", "dyn")
ERROR: Final = Type("error", "error")
INT: Final = Type("int", "int")
NULL: Final = Type("null", "null_type")
STRING: Final = Type("string", "string")
TIMESTAMP: Final = Type("timestamp", "google.protobuf.Timestamp")
TYPE: Final = Type("type", "type")
UINT: Final = Type("uint", "uint")

QUANTITY: Final = Type("struct", "kubernetes.Quantity")
SEMVER: Final = Type("struct", "kubernetes.Semver")
URL: Final = Type("struct", "kubernetes.URL")
FORMAT: Final = Type("struct", "kubernetes.NamedFormat")
IP: Final = Type("opaque", "net.IP")
CIDR: Final = Type("opaque", "net.CIDR")


def list_of(element: Type) -> Type:
    return Type("list", "list", (element,))


def map_of(key: Type, value: Type) -> Type:
    return Type("map", "map", (key, value))


def optional_of(value: Type) -> Type:
    return Type("opaque", "optional_type", (value,))


def type_of(of: Type) -> Type:
    return Type("type", "type", (of,))


def parameter(name: str) -> Type:
    return Type("param", name)


def described(type: Type) -> str:
    """As cel-go's FormatCELType, used in messages of the checker."""
    match type.kind:
        case "any":
            return "any"
        case "duration":
            return "duration"
        case "error":
            return "!error!"
        case "null":
            return "null"
        case "timestamp":
            return "timestamp"
        case "param":
            return type.name
        case _:
            pass
    if not type.parameters:
        return type.name
    return f"{type.name}({', '.join(described(parameter) for parameter in type.parameters)})"


def described_call(arguments: Iterable[Type], member: bool) -> str:
    """The signature in "found no matching overload": "(int, string)", or "string.(int)" for a member call."""
    texts = [described(argument) for argument in arguments]
    target = f"{texts.pop(0)}." if member else ""
    return f"{target}({', '.join(texts)})"


def unwrapped_optional(type: Type) -> tuple[Type, bool]:
    if type.kind == "opaque" and type.name == "optional_type":
        return type.parameters[0], True
    return type, False


def equivalent(one: Type, other: Type) -> bool:
    """Equal, where any type parameter equals any other."""
    if one.kind != other.kind or len(one.parameters) != len(other.parameters):
        return False
    if one.kind != "param" and one.name != other.name:
        return False
    return all(equivalent(left, right) for left, right in zip(one.parameters, other.parameters, strict=True))


class Substitution:
    """What the type parameters of an expression are known to stand for."""

    __slots__ = ("_known",)

    def __init__(self, known: Mapping[Type, Type] | None = None) -> None:
        self._known: dict[Type, Type] = dict(known or {})

    def assign(self, to: Iterable[Type], given: Iterable[Type]) -> bool:
        """Whether each given type fits; what was learned is kept only if all do."""
        before = dict(self._known)
        given = tuple(given)
        to = tuple(to)
        if len(to) == len(given) and all(self._assignable(one, other) for one, other in zip(to, given, strict=True)):
            return True
        self._known = before
        return False

    def resolve(self, type: Type, free_is_dyn: bool = False) -> Type:
        """Replace known parameters; the rest become dyn on request."""
        known = self._known.get(type)
        if known is not None:
            return self.resolve(known, free_is_dyn)
        if type.kind == "param":
            return DYN if free_is_dyn else type
        if not type.parameters:
            return type
        return Type(type.kind, type.name, tuple(self.resolve(parameter, free_is_dyn) for parameter in type.parameters))

    def _assignable(self, one: Type, other: Type) -> bool:
        if other.kind == "param":
            valid, known = self._substitutes(one, other)
            if valid:
                return True
            if known:
                return False
        if one.kind == "param":
            return self._substitutes(other, one)[0]
        if one.is_dyn or other.is_dyn or one.kind == "error" or other.kind == "error":
            return True
        if one.kind == "null":
            return _nullable(other)
        if other.kind == "null":
            return _nullable(one)
        match one.kind:
            case "type":
                return other.kind == "type"
            case "opaque" | "list" | "map":
                return one.kind == other.kind and one.name == other.name and self._all_assignable(one.parameters, other.parameters)
            case _:
                return one.kind == other.kind and one.name == other.name

    def _all_assignable(self, ones: tuple[Type, ...], others: tuple[Type, ...]) -> bool:
        return len(ones) == len(others) and all(self._assignable(one, other) for one, other in zip(ones, others, strict=True))

    def _substitutes(self, type: Type, parameter: Type) -> tuple[bool, bool]:
        """Whether the type can stand for the parameter, and whether the parameter was known before."""
        if type == parameter:
            return True, True
        known = self._known.get(parameter)
        if known is not None:
            if type == known:
                return True, True
            if self._assignable(type, known):
                general = most_general(type, known)
                if self._free_of(parameter, general):
                    self._known[parameter] = general
                return True, True
            return False, True
        if self._free_of(parameter, type):
            self._known[parameter] = type
            return True, False
        return False, False

    def _free_of(self, parameter: Type, within: Type) -> bool:
        if parameter == within:
            return False
        if within.kind == "param":
            known = self._known.get(within)
            return known is None or self._free_of(parameter, known)
        return all(self._free_of(parameter, part) for part in within.parameters)


def _nullable(type: Type) -> bool:
    return type.kind in ("opaque", "struct", "any", "duration", "timestamp", "null")


def most_general(one: Type, other: Type) -> Type:
    return one if _equal_or_less_specific(one, other) else other


def _equal_or_less_specific(one: Type, other: Type) -> bool:
    if one.is_dyn or one.kind == "param":
        return True
    if other.is_dyn or other.kind == "param" or one.kind != other.kind:
        return False
    match one.kind:
        case "opaque" | "list" | "map":
            return (
                one.name == other.name
                and len(one.parameters) == len(other.parameters)
                and all(_equal_or_less_specific(left, right) for left, right in zip(one.parameters, other.parameters, strict=True))
            )
        case "type":
            return True
        case _:
            return one == other
