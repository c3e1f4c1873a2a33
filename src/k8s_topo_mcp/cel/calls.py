"""Calls: how a function's overloads are bound to a place in an expression, and what a call does there.

The guards are those of cel-go's common/decls, the evaluation that of evalUnary, evalBinary and evalVarArgs.
"""

from __future__ import annotations

from collections.abc import Callable

from k8s_topo_mcp.cel import cost
from k8s_topo_mcp.cel.attributes import Evaluate, Frame, charge
from k8s_topo_mcp.cel.errors import CelError, no_such_overload
from k8s_topo_mcp.cel.library import regexes
from k8s_topo_mcp.cel.library.declaration import CallCost, Implementation, Overload
from k8s_topo_mcp.cel.types import Type
from k8s_topo_mcp.cel.values import Optional, Value, is_assignable, runtime_type


class PlanError(Exception):
    """A constant that can't be computed: cel-go makes no program of such an expression."""


def guarded(name: str, overload: Overload) -> Implementation:
    """The one overload left. The values' types are looked at again, whatever the checker made of them: it takes a list of anything plus []
    for a list of what a later call asks for."""
    implement = overload.implement
    assert implement is not None
    needed = [(index, type) for index, type in enumerate(overload.arguments) if type.kind not in ("dyn", "any", "param")]
    if not overload.guarded or not needed:
        return implement

    def guarded(*values: Value) -> Value:
        for index, type in needed:
            if not is_assignable(type, values[index]):
                raise no_such_overload(name, *(runtime_type(value).name for value in values))
        return implement(*values)

    return guarded


def dispatched(name: str, overloads: list[Overload]) -> Implementation:
    """The first overload that the values fit."""

    def dispatched(*values: Value) -> Value:
        for overload in overloads:
            if len(overload.arguments) != len(values) or overload.implement is None:
                continue
            if not overload.guarded or all(is_assignable(type, value) for type, value in zip(overload.arguments, values, strict=True)):
                return overload.implement(*values)
        raise no_such_overload(name, *(runtime_type(value).name for value in values))

    return dispatched


def _native_text(value: Value) -> str:
    """What Go's Value() gives, if that is a string: of an optional its content, of a type its name."""
    while type(value) is Optional and value.present:
        value = value.content
    if type(value) is str:
        return value
    if type(value) is Type:
        return value.name
    raise no_such_overload()


def with_pattern(name: str, text: str) -> Implementation:
    """A regular expression that is a constant is compiled once, and a bad one ends the planning."""
    try:
        pattern = regexes.compiled(text)
    except CelError as error:
        raise PlanError(error.message) from None
    known: dict[str, bool] = {}

    def matches(subject: Value, _pattern: Value) -> Value:
        if type(subject) is not str:
            subject = _native_text(subject)
        found = known.get(subject)
        if found is None:
            if len(known) >= 1024:
                known.clear()
            found = known[subject] = pattern.matches(subject)
        return found

    def find(subject: Value, _pattern: Value) -> Value:
        return pattern.find(_native_text(subject))

    def find_all(subject: Value, _pattern: Value, limit: Value = -1) -> Value:
        if type(limit) is not int:
            raise no_such_overload()
        return pattern.find_all(_native_text(subject), limit)

    found: dict[str, Callable[..., Value]] = {"matches": matches, "find": find, "findAll": find_all}
    return found[name]


def plain_call(operands: list[Evaluate], implement: Implementation, offset: int) -> Evaluate:
    """A call whose cost isn't counted; an error without a place gets that of the call."""
    if len(operands) == 1:
        only = operands[0]

        def unary(frame: Frame) -> Value:
            try:
                return implement(only(frame))
            except CelError as error:
                if error.offset < 0:
                    error.offset = offset
                raise

        return unary
    if len(operands) == 2:
        left, right = operands

        def binary(frame: Frame) -> Value:
            try:
                return implement(left(frame), right(frame))
            except CelError as error:
                if error.offset < 0:
                    error.offset = offset
                raise

        return binary

    def call(frame: Frame) -> Value:
        try:
            return implement(*[operand(frame) for operand in operands])
        except CelError as error:
            if error.offset < 0:
                error.offset = offset
            raise

    return call


def counted_call(operands: list[Evaluate], implement: Implementation, price: CallCost, offset: int, together: bool) -> Evaluate:
    """A call that is charged. With one or two operands cel-go evaluates both before it looks for errors, and charges for errors too."""

    def call(frame: Frame) -> Value:
        values: list[Value] = []
        failed: CelError | None = None
        for operand in operands:
            try:
                values.append(operand(frame))
            except CelError as error:
                values.append(cost.FAILED)
                failed = failed or error
                if not together:
                    break
        if failed is not None:
            if len(values) == len(operands):
                charge(frame, price(values, cost.FAILED))
            raise failed
        try:
            result = implement(*values)
        except CelError as error:
            charge(frame, price(values, cost.FAILED))
            if error.offset < 0:
                error.offset = offset
            raise
        charge(frame, price(values, result))
        return result

    return call
