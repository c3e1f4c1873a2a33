"""What evaluation costs, in the units of cel-go's runtime cost tracker (interpreter/runtimecost.go) and of the estimator
that Kubernetes adds (apiserver/pkg/cel/library/cost.go). A selector may cost 1,000,000 for one device."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Final

from k8s_topo_mcp.cel.errors import Abort
from k8s_topo_mcp.cel.library.declaration import CallCost
from k8s_topo_mcp.cel.values import (
    LISTS,
    MAPS,
    Duration,
    IPAddress,
    Location,
    NamedFormat,
    Network,
    Optional,
    SumQuantity,
    Timestamp,
    UInt,
    Value,
    go_type,
    plain_key,
    size,
)
from k8s_topo_mcp.objects.quantity import Quantity
from k8s_topo_mcp.objects.semver import SemVer

LIMIT: Final = 1_000_000
LIST: Final = 10
MAP: Final = 30
TRAVERSAL: Final = 0.1
REGEX: Final = 0.25

FAILED: Final = object()
"""Stands for an error among the operands or as the result: even that is charged for."""

_OPAQUE: Final = frozenset((Quantity, SumQuantity, IPAddress, Network, NamedFormat, Location, SemVer))


def actual_size(value: Value) -> int:
    """The length of what has one, otherwise 1."""
    if type(value) is Optional and value.present:
        return actual_size(value.content)
    length = size(value)
    return 1 if length is None else length


def traversed(value: Value, factor: float = TRAVERSAL) -> int:
    return ceil(actual_size(value) * factor)


def fixed(_arguments: Sequence[Value], _result: Value) -> int:
    return 1


def argument_traversal(index: int, factor: float = TRAVERSAL) -> CallCost:
    """The traversal of one argument."""

    def cost(arguments: Sequence[Value], _result: Value) -> int:
        return traversed(arguments[index], factor)

    return cost


def result_traversal(_arguments: Sequence[Value], result: Value) -> int:
    return traversed(result, 2 * TRAVERSAL)


def both_traversals(arguments: Sequence[Value], _result: Value) -> int:
    return ceil((actual_size(arguments[0]) + actual_size(arguments[1])) * TRAVERSAL)


def shorter_traversal(arguments: Sequence[Value], _result: Value) -> int:
    return ceil(min(actual_size(arguments[0]), actual_size(arguments[1])) * TRAVERSAL)


def equality(arguments: Sequence[Value], result: Value) -> int:
    """Of `==`; Kubernetes' own types cost 1."""
    return 1 if type(arguments[0]) in _OPAQUE else shorter_traversal(arguments, result)


def membership(arguments: Sequence[Value], _result: Value) -> int:
    return actual_size(arguments[1])


def regex(arguments: Sequence[Value], _result: Value) -> int:
    return ceil((1.0 + actual_size(arguments[0])) * TRAVERSAL) * ceil(actual_size(arguments[1]) * REGEX)


def substring_search(arguments: Sequence[Value], _result: Value) -> int:
    return traversed(arguments[0]) * traversed(arguments[1])


def deep_traversal(arguments: Sequence[Value], _result: Value) -> int:
    """Of the functions on lists that look at each element once."""
    return _deep(arguments[0])


def _deep(value: Value) -> int:
    kind = value.__class__
    if kind in LISTS:
        return sum(_deep(element) for element in value)
    if kind in MAPS:
        return sum(_deep(plain_key(key)) + _deep(content) for key, content in value.items())
    if kind is str:
        return int(len(value.encode("utf-8", "surrogateescape")) * TRAVERSAL)
    return int(len(value) * TRAVERSAL) if kind is bytes else 1


def named_format(arguments: Sequence[Value], _result: Value) -> int:
    if type(arguments[0]) is not NamedFormat:
        return 1
    return ceil((1.0 + actual_size(arguments[1])) * TRAVERSAL) * ceil(arguments[0].regex_size * REGEX)


def network_contains(arguments: Sequence[Value], _result: Value) -> int:
    cost = ceil(2 * actual_size(arguments[0]) * TRAVERSAL)
    return cost + traversed(arguments[1]) if type(arguments[1]) is str else cost


def network_contains_network(arguments: Sequence[Value], result: Value) -> int:
    return network_contains(arguments, result) + traversed(arguments[0]) + 1


def allocated(factor: float, length: int) -> int:
    """A list of the length is made, at the factor's cost for each element."""
    return int(length * (factor if factor >= 0 else 1.0)) + 1 + LIST


def list_made(_arguments: Sequence[Value], result: Value) -> int:
    return allocated(1, actual_size(result))


def flattened(arguments: Sequence[Value], _result: Value) -> int:
    if len(arguments) == 2 and type(arguments[1]) is not int:
        raise Abort(f"internal error: interface conversion: ref.Val is {go_type(arguments[1])}, not types.Int", "internal")
    return allocated(float(arguments[1]) if len(arguments) == 2 else 1.0, actual_size(arguments[0]))


def old_flattened(arguments: Sequence[Value], result: Value) -> int:
    """Before 0.29 a negative depth wraps around: it lowers what was spent so far, and below zero that is past every limit."""
    if len(arguments) == 2 and type(arguments[1]) is int:
        return int(actual_size(arguments[0]) * float(arguments[1])) + 1 + LIST
    return flattened(arguments, result)


def self_compared(index: int) -> CallCost:
    """Sorting and removing duplicates: the square of the list's length."""

    def cost(arguments: Sequence[Value], _result: Value) -> int:
        elements = arguments[index]
        if type(elements) not in LISTS:
            missing = "Contains" if type(elements) in _ADDERS else "Add"
            raise Abort(
                f"internal error: interface conversion: {go_type(elements)} is not traits.Lister: missing method {missing}", "internal"
            )
        factor = 2.0 + (TRAVERSAL if elements and type(elements[0]) in (str, bytes) else 0.0)
        return allocated(factor, actual_size(elements) ** 2)

    return cost


def sets(factor: float) -> CallCost:
    def cost(arguments: Sequence[Value], _result: Value) -> int:
        return 1 + int(actual_size(arguments[0]) * actual_size(arguments[1]) * factor)

    return cost


_ADDERS: Final = frozenset((int, UInt, float, str, bytes, Duration, Timestamp))


CHEAP_FUNCTIONS: Final = frozenset(
    (
        "_&&_", "_||_", "!_", "_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_", "@in", "_?_:_", "_[_]", "_?._", "_[?_]", "startsWith",
        "endsWith", "contains", "matches", "compareTo", "isGreaterThan", "isLessThan", "quantity", "semver", "isQuantity", "isSemver",
        "major", "minor", "patch", "sign", "asInteger", "isInteger", "asApproximateFloat", "hasValue", "value", "orValue", "or",
        "optional.of", "optional.none", "size", "dyn", "type", "int", "string", "bool", "lowerAscii", "upperAscii", "trim", "includes",
        "-_",
    )
)  # fmt: skip
"""Functions whose cost is bounded by the lengths of what they are given and that make nothing longer. An expression of at most
10 KiB from these, without a loop, can't come near the limit, so its cost isn't counted."""
