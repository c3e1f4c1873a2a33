"""Reading: variables, and what is selected or indexed from them (cel-go's interpreter/attributes.go)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from k8s_topo_mcp.cel.cost import LIMIT
from k8s_topo_mcp.cel.errors import Abort, CelError
from k8s_topo_mcp.cel.values import (
    INT64_MAX,
    INT64_MIN,
    LISTS,
    MAPS,
    NONE,
    Domains,
    Optional,
    UInt,
    Value,
    go_type,
    key_in,
    runtime_type,
    shown,
)

Frame: TypeAlias = "list[Any]"
"""The state of one evaluation: the device, the cost so far, then one slot for each local variable."""

Evaluate: TypeAlias = Callable[[Frame], Value]

DEVICE_SLOT: Final = 0
COST_SLOT: Final = 1
FIRST_SLOT: Final = 2

_MISSING: Final = object()
KEYS: Final = frozenset((str, int, UInt, bool, float))


def charge(frame: Frame, amount: int) -> None:
    """Add to the cost; past the limit (and below zero, where an unsigned number is enormous) nothing more is evaluated."""
    frame[COST_SLOT] += amount
    if not 0 <= frame[COST_SLOT] <= LIMIT:
        raise Abort("operation cancelled: actual cost limit exceeded", "cost")


def no_such_key(key: Value, offset: int) -> CelError:
    text = shown(key)
    error = CelError(f"no such key: {text}", "no such key", text)
    error.offset = offset
    return error


def _at(error: CelError, offset: int) -> CelError:
    error.offset = offset
    return error


def _position(key: Value, offset: int) -> int:
    """The index into a list that a key means."""
    if type(key) is int:
        return key
    if type(key) is UInt or type(key) is float:
        if (type(key) is float and INT64_MIN <= key < INT64_MAX and key == int(key)) or (type(key) is UInt and key <= INT64_MAX):
            return int(key)
        raise _at(CelError(f"unsupported index value {shown(key)} in list", "index"), offset)
    raise _at(CelError(f"unsupported index type '{runtime_type(key)}' in list", "index"), offset)


def qualified(value: Value, key: Value, offset: int) -> Value:
    """`value.key` or `value[key]`."""
    kind = value.__class__
    if kind in MAPS:
        try:
            return value[key_in(value, key)]
        except KeyError:
            raise no_such_key(key, offset) from None
    if kind in LISTS:
        index = _position(key, offset)
        if 0 <= index < len(value):
            return value[index]
        raise _at(CelError(f"index out of bounds: {shown(key)}", "index"), offset)
    raise no_such_key(key, offset)


def qualified_if_present(value: Value, key: Value, offset: int) -> Value:
    """The same, or a marker where there is nothing; a domain is always there."""
    kind = value.__class__
    if kind in MAPS:
        if kind is Domains:
            return value[key_in(value, key)]
        return value.get(key_in(value, key), _MISSING)
    if kind in LISTS:
        index = _position(key, offset)
        return value[index] if 0 <= index < len(value) else _MISSING
    return _MISSING


@dataclass(frozen=True, slots=True)
class Qualifier:
    """One step: a constant key or one that is computed; computed keys come with whether they cost nothing of their own."""

    offset: int
    optional: bool
    constant: bool
    key: Value = None
    compute: Evaluate | None = None

    def resolved(self, frame: Frame) -> Value:
        if self.compute is None:
            return self.key
        key = self.compute(frame)
        if type(key) not in KEYS:
            raise _at(CelError(f"invalid qualifier type: {go_type(key)}"), self.offset)
        return key


def chain(root: Evaluate, qualifiers: tuple[Qualifier, ...], test: bool, counting: bool, observed: bool) -> Evaluate:
    """Read the root and follow the qualifiers; once one is optional, or the root is, the result is an optional too.

    `test` asks only whether the last one is there. `observed` reads cost 1 besides 1 for each step.
    """
    last = len(qualifiers) - 1

    def follow(frame: Frame) -> Value:
        value = root(frame)
        optional = type(value) is Optional
        if optional:
            if not value.present:
                return False if test else NONE
            value = value.content
        for index, qualifier in enumerate(qualifiers):
            optional = optional or qualifier.optional
            try:
                key = qualifier.resolved(frame)
            except CelError:
                if counting and not optional:
                    charge(frame, 1)
                raise
            if optional or (test and index == last):
                value = qualified_if_present(value, key, qualifier.offset)
                if counting and (value is not _MISSING or (test and index == last and not optional)):
                    charge(frame, 1)
                if value is _MISSING:
                    return False if test else NONE
            else:
                if counting:
                    charge(frame, 1)
                value = qualified(value, key, qualifier.offset)
        if test:
            return True
        return Optional(True, value) if optional else value

    if not (counting and observed and not test):
        return follow

    def counted(frame: Frame) -> Value:
        try:
            return follow(frame)
        finally:
            charge(frame, 1)

    return counted


def device_field(name: str) -> Evaluate:
    """`device.name`."""
    return lambda frame: frame[DEVICE_SLOT][name]


def device_entry(field: str, domain: str, name: str, offset: int) -> Evaluate:
    """`device.attributes["domain"].name` in one step: the read that selectors are made of."""

    def read(frame: Frame) -> Value:
        try:
            return frame[DEVICE_SLOT][field][domain][name]
        except KeyError:
            raise no_such_key(name, offset) from None

    return read
