"""Optional values (cel-go's cel/library.go, optionalLib); `or` and `orValue` are evaluated lazily by the compiler."""

from __future__ import annotations

from typing import Final

from k8s_topo_mcp.cel.errors import CelError
from k8s_topo_mcp.cel.library.declaration import Function, function, member, overload
from k8s_topo_mcp.cel.types import BOOL, DYN, INT, STRING, list_of, map_of, optional_of, parameter
from k8s_topo_mcp.cel.values import LISTS, MAPS, NONE, Duration, Optional, Timestamp, UInt, Value, shown

K, V = parameter("K"), parameter("V")
OPTIONAL: Final = optional_of(V)
_ZERO_SECONDS: Final = -62135596800


def _of(value: Value) -> Value:
    return Optional(True, value)


def _is_zero(value: Value) -> bool:
    kind = value.__class__
    if kind in LISTS or kind in MAPS or kind in (str, bytes, bool, int, UInt, float):
        return not value
    if kind is Duration:
        return value.nanoseconds == 0
    if kind is Timestamp:
        return value.nanoseconds == _ZERO_SECONDS * 10**9
    return value is None


def _of_non_zero(value: Value) -> Value:
    return NONE if _is_zero(value) else Optional(True, value)


def _none() -> Value:
    return NONE


def _value(optional: Optional) -> Value:
    if not optional.present:
        raise CelError("optional.none() dereference")
    return optional.content


def _has_value(optional: Optional) -> Value:
    return optional.present


def _last(elements: list[Value]) -> Value:
    return Optional(True, elements[-1]) if elements else NONE


def _first(elements: list[Value]) -> Value:
    return Optional(True, elements[0]) if elements else NONE


def _unwrap(elements: list[Value]) -> Value:
    found: list[Value] = []
    for element in elements:
        if type(element) is not Optional:
            raise CelError(f"value {shown(element)} is not optional")
        if element.present:
            found.append(element.content)
    return found


FUNCTIONS: Final[tuple[Function, ...]] = (
    function("optional.of", overload("optional_of", (V,), OPTIONAL, _of)),
    function("optional.ofNonZeroValue", overload("optional_ofNonZeroValue", (V,), OPTIONAL, _of_non_zero)),
    function("optional.none", overload("optional_none", (), OPTIONAL, _none)),
    function("value", member("optional_value", (OPTIONAL,), V, _value)),
    function("hasValue", member("optional_hasValue", (OPTIONAL,), BOOL, _has_value)),
    function("or", member("optional_or_optional", (OPTIONAL, OPTIONAL), OPTIONAL)),
    function("orValue", member("optional_orValue_value", (OPTIONAL, V), V)),
    function("_?._", overload("select_optional_field", (DYN, STRING), OPTIONAL)),
    function(
        "_[?_]",
        overload("list_optindex_optional_int", (list_of(V), INT), OPTIONAL),
        overload("optional_list_optindex_optional_int", (optional_of(list_of(V)), INT), OPTIONAL),
        overload("map_optindex_optional_value", (map_of(K, V), K), OPTIONAL),
        overload("optional_map_optindex_optional_value", (optional_of(map_of(K, V)), K), OPTIONAL),
    ),
    function(
        "_[_]",
        overload("optional_list_index_int", (optional_of(list_of(V)), INT), OPTIONAL),
        overload("optional_map_index_value", (optional_of(map_of(K, V)), K), OPTIONAL),
    ),
    function("last", member("list_last", (list_of(V),), OPTIONAL, _last)),
    function("first", member("list_first", (list_of(V),), OPTIONAL, _first)),
    function("optional.unwrap", overload("optional_unwrap", (list_of(OPTIONAL),), list_of(V), _unwrap)),
    function("unwrapOpt", member("optional_unwrapOpt", (list_of(OPTIONAL),), list_of(V), _unwrap)),
)
