"""Quantities and semantic versions in expressions (apiserver/pkg/cel/library/quantity.go and semverlib.go)."""

from __future__ import annotations

from typing import Final

from k8s_topo_mcp.cel import cost
from k8s_topo_mcp.cel.errors import CelError
from k8s_topo_mcp.cel.library.declaration import Function, function, member, overload
from k8s_topo_mcp.cel.types import BOOL, DOUBLE, INT, QUANTITY, SEMVER, STRING
from k8s_topo_mcp.cel.values import SumQuantity, Value
from k8s_topo_mcp.objects.quantity import FORMAT_MESSAGE, NUMERIC_MESSAGE, SUFFIX_MESSAGE, Quantity
from k8s_topo_mcp.objects.semver import SemVer

_MESSAGES: Final = (FORMAT_MESSAGE, NUMERIC_MESSAGE, SUFFIX_MESSAGE)


def quantity(text: str) -> Value:
    try:
        return Quantity.parse(text)
    except ValueError as error:
        message = next((known for known in _MESSAGES if str(error).startswith(known)), str(error))
        raise CelError(message, "conversion") from None


def _is_quantity(text: str) -> Value:
    try:
        Quantity.parse(text)
    except ValueError:
        return False
    return True


def _sign(value: Quantity) -> Value:
    return value.sign


def _greater(left: Value, right: Value) -> Value:
    return left > right


def _less(left: Value, right: Value) -> Value:
    return left < right


def _compare(left: Value, right: Value) -> Value:
    return (left > right) - (left < right)


def _float(value: Quantity) -> Value:
    return value.approximate_float()


def _integer(value: Quantity) -> Value:
    number = value.as_int64()
    if number is None:
        raise CelError("cannot convert value to integer", "conversion")
    return number


def _is_integer(value: Quantity) -> Value:
    return value.as_int64() is not None


def _result(value: Quantity) -> Value:
    return SumQuantity(value.mantissa, value.scale, value.format, value.decimal)


def _add(left: Quantity, right: Quantity) -> Value:
    return _result(left + right)


def _add_int(left: Quantity, right: int) -> Value:
    return _result(left + Quantity.of(right, "DecimalExponent"))


def _sub(left: Quantity, right: Quantity) -> Value:
    return _result(left - right)


def _sub_int(left: Quantity, right: int) -> Value:
    return _result(left - Quantity.of(right, "DecimalExponent"))


def semver(text: str, normalize: bool = False) -> Value:
    try:
        return SemVer.parse_tolerant(text) if normalize else SemVer.parse(text)
    except ValueError as error:
        raise CelError(str(error), "conversion") from None


def _is_semver(text: str, normalize: bool = False) -> Value:
    try:
        semver(text, normalize)
    except CelError:
        return False
    return True


def _major(value: SemVer) -> Value:
    return _signed(value.major)


def _minor(value: SemVer) -> Value:
    return _signed(value.minor)


def _patch(value: SemVer) -> Value:
    return _signed(value.patch)


def _signed(value: int) -> int:
    return (value + 2**63) % 2**64 - 2**63


_TRAVERSAL: Final = cost.argument_traversal(0)

QUANTITY_FUNCTIONS: Final[tuple[Function, ...]] = (
    function("quantity", overload("string_to_quantity", (STRING,), QUANTITY, quantity), cost=_TRAVERSAL),
    function("isQuantity", overload("is_quantity_string", (STRING,), BOOL, _is_quantity), cost=_TRAVERSAL),
    function("sign", overload("quantity_sign", (QUANTITY,), INT, _sign), cost=cost.fixed),
    function("isGreaterThan", member("quantity_is_greater_than", (QUANTITY, QUANTITY), BOOL, _greater), cost=cost.fixed),
    function("isLessThan", member("quantity_is_less_than", (QUANTITY, QUANTITY), BOOL, _less), cost=cost.fixed),
    function("compareTo", member("quantity_compare_to", (QUANTITY, QUANTITY), INT, _compare), cost=cost.fixed),
    function("asApproximateFloat", member("quantity_get_float", (QUANTITY,), DOUBLE, _float), cost=cost.fixed),
    function("asInteger", member("quantity_get_int", (QUANTITY,), INT, _integer), cost=cost.fixed),
    function("isInteger", member("quantity_is_integer", (QUANTITY,), BOOL, _is_integer), cost=cost.fixed),
    function(
        "add",
        member("quantity_add", (QUANTITY, QUANTITY), QUANTITY, _add),
        member("quantity_add_int", (QUANTITY, INT), QUANTITY, _add_int),
        cost=cost.fixed,
    ),
    function(
        "sub",
        member("quantity_sub", (QUANTITY, QUANTITY), QUANTITY, _sub),
        member("quantity_sub_int", (QUANTITY, INT), QUANTITY, _sub_int),
        cost=cost.fixed,
    ),
)

SEMVER_FUNCTIONS: Final[tuple[Function, ...]] = (
    function(
        "semver",
        overload("string_to_semver", (STRING,), SEMVER, semver),
        overload("string_bool_to_semver", (STRING, BOOL), SEMVER, semver),
        cost=_TRAVERSAL,
    ),
    function(
        "isSemver",
        overload("is_semver_string", (STRING,), BOOL, _is_semver),
        overload("is_semver_string_bool", (STRING, BOOL), BOOL, _is_semver),
        cost=_TRAVERSAL,
    ),
    function("isGreaterThan", member("semver_is_greater_than", (SEMVER, SEMVER), BOOL, _greater), cost=cost.fixed),
    function("isLessThan", member("semver_is_less_than", (SEMVER, SEMVER), BOOL, _less), cost=cost.fixed),
    function("compareTo", member("semver_compare_to", (SEMVER, SEMVER), INT, _compare), cost=cost.fixed),
    function("major", member("semver_major", (SEMVER,), INT, _major), cost=cost.fixed),
    function("minor", member("semver_minor", (SEMVER,), INT, _minor), cost=cost.fixed),
    function("patch", member("semver_patch", (SEMVER,), INT, _patch), cost=cost.fixed),
)
