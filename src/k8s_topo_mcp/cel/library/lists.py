"""Functions on lists: Kubernetes' own (apiserver/pkg/cel/library/lists.go), cel-go's extension in version 3 (ext/lists.go)
and the set operations (ext/sets.go)."""

from __future__ import annotations

from functools import cmp_to_key
from typing import Final

from k8s_topo_mcp.cel import cost
from k8s_topo_mcp.cel.equality import compare, contains, equals_without_error
from k8s_topo_mcp.cel.errors import Abort, CelError, no_such_overload
from k8s_topo_mcp.cel.library import operators
from k8s_topo_mcp.cel.library.declaration import LIST_A, LIST_T, A, Function, function, member, overload
from k8s_topo_mcp.cel.types import BOOL, BYTES, DOUBLE, DURATION, DYN, INT, STRING, TIMESTAMP, UINT, Type, list_of, map_of, parameter
from k8s_topo_mcp.cel.values import LISTS, Duration, MutableMap, Timestamp, UInt, Value, map_key, mismatch, plain_key, runtime_type, shown

_COMPARABLE: Final = (INT, UINT, DOUBLE, BOOL, DURATION, TIMESTAMP, STRING, BYTES)
_COMPARABLE_KINDS: Final = frozenset((int, UInt, float, bool, Duration, Timestamp, str, bytes))
_SHORT: Final[dict[Type, str]] = {DURATION: "duration", TIMESTAMP: "timestamp"}
_SUMMABLE: Final[tuple[tuple[Type, Value], ...]] = ((INT, 0), (UINT, UInt(0)), (DOUBLE, 0.0), (DURATION, Duration(0)))
RANGE_LIMIT: Final = 1_000_000


def _short(type: Type) -> str:
    return _SHORT.get(type, type.name)


def _ordered(value: Value) -> None:
    if type(value) not in _COMPARABLE_KINDS:
        raise no_such_overload()


def _is_sorted(elements: list[Value]) -> Value:
    previous: Value = None
    for position, element in enumerate(elements):
        _ordered(element)
        if position and _order(previous, element) > 0:
            return False
        previous = element
    return True


def _order(left: Value, right: Value) -> int:
    """The order where an error counts as none."""
    try:
        return compare("", left, right)
    except CelError:
        return 0


def _extreme(name: str, replaced_by: int) -> object:
    def find(elements: list[Value]) -> Value:
        if not elements:
            raise CelError(f"{name} called on empty list")
        best = elements[0]
        _ordered(best)
        for element in elements[1:]:
            _ordered(element)
            if _order(best, element) == replaced_by:
                best = element
        return best

    return find


def _sum(zero: Value) -> object:
    def total(elements: list[Value]) -> Value:
        result = zero
        for element in elements:
            try:
                result = operators.add(result, element)
            except CelError as error:
                raise error if error.kind == "overflow" else no_such_overload() from None
        return result

    return total


def _index_of(elements: list[Value], value: Value) -> Value:
    return next((index for index, element in enumerate(elements) if equals_without_error(element, value)), -1)


def _last_index_of(elements: list[Value], value: Value) -> Value:
    return next((index for index in range(len(elements) - 1, -1, -1) if equals_without_error(elements[index], value)), -1)


def includes(target: Value, value: Value) -> Value:
    if type(target) in LISTS:
        return any(equals_without_error(element, value) for element in target)
    return equals_without_error(target, value)


LONGEST_INCLUDED: Final = 48


def includes_bounded(target: Value, value: Value) -> Value:
    """The 1.36 form, which refuses long lists."""
    if type(target) in LISTS:
        for element in target[:LONGEST_INCLUDED]:
            if equals_without_error(element, value):
                return True
        if len(target) > LONGEST_INCLUDED:
            raise CelError(f"'includes' function cannot be applied to lists longer than {LONGEST_INCLUDED} values")
        return False
    return equals_without_error(target, value)


def _slice(elements: list[Value], start: int, end: int) -> Value:
    if start < 0 or end < 0:
        raise CelError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise CelError(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if len(elements) < end:
        raise CelError(f"cannot slice({start}, {end}), list is length {len(elements)}")
    return elements[start:end]


def _flatten(elements: Value, *depths: Value) -> Value:
    depth = depths[0] if depths else 1
    if type(elements) not in LISTS or type(depth) is not int:
        given = ", ".join(str(runtime_type(depth)) for depth in depths)
        raise CelError(f"no such overload: {runtime_type(elements)}.flatten({given})", "overload")
    if depth < 0:
        raise CelError("level must be non-negative")
    flat: list[Value] = []
    for element in elements:
        if type(element) in LISTS and depth:
            flat.extend(_flatten(element, depth - 1))
        else:
            flat.append(element)
    return flat


def _sort(elements: Value) -> Value:
    return _sorted_by("sort", elements, elements)


def _sort_by(elements: Value, keys: Value) -> Value:
    return _sorted_by("@sortByAssociatedKeys", elements, keys)


def _sorted_by(name: str, elements: Value, keys: Value) -> Value:
    if type(elements) not in LISTS or type(keys) not in LISTS:
        raise mismatch(name, elements)
    if len(elements) != len(keys):
        raise CelError(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, "
            f"but got {len(elements)} and {len(keys)} elements respectively"
        )
    if not elements:
        return elements
    if type(keys[0]) not in _COMPARABLE_KINDS:
        raise CelError("list elements must be comparable")
    if len(keys) > 1 and any(type(key) is not type(keys[0]) for key in keys):
        raise CelError("list elements must have the same type")
    order = sorted(range(len(keys)), key=cmp_to_key(lambda one, other: _order(keys[one], keys[other])))
    return [elements[index] for index in order]


def _range(count: int) -> Value:
    if count > RANGE_LIMIT:
        raise Abort("operation cancelled: actual cost limit exceeded", "cost")
    return list(range(count))


def _range_limited(count: int) -> Value:
    if count < 0:
        raise CelError(f"lists.range: size must be non-negative, got {count}")
    if count > RANGE_LIMIT:
        raise CelError(f"lists.range: size {count} exceeds maximum allowed ({RANGE_LIMIT})")
    return list(range(count))


def _reverse(elements: list[Value]) -> Value:
    return elements[::-1]


def _distinct(elements: list[Value]) -> Value:
    unique: list[Value] = []
    for position, element in enumerate(elements):
        # cel-go leaves out of the comparison the unique element at the element's own position.
        if not any(equals_without_error(element, other) for index, other in enumerate(unique) if index != position):
            unique.append(element)
    return unique


def _insert(target: dict[Value, Value], key: Value, value: Value) -> Value:
    place = map_key(key)
    if place in target:
        raise CelError(f"insert failed: key {shown(key)} already exists")
    if type(target) is MutableMap:
        target[place] = value
        return target
    return {**target, place: value}


def _insert_all(target: dict[Value, Value], other: dict[Value, Value]) -> Value:
    for key, value in other.items():
        target = _insert(target, plain_key(key), value)
    return target


def _sets_contain(elements: list[Value], others: list[Value]) -> Value:
    return all(contains(elements, other) for other in others)


def _sets_equivalent(elements: list[Value], others: list[Value]) -> Value:
    return _sets_contain(elements, others) and _sets_contain(others, elements)


def _sets_intersect(elements: list[Value], others: list[Value]) -> Value:
    return any(contains(others, element) for element in elements)


K, V = parameter("K"), parameter("V")


def _for_each(name: str, pattern: str, implement: object, result: Type | None) -> Function:
    rows = tuple(
        member(pattern.format(_short(type)), (list_of(type),), result or type, implement)  # pyright: ignore[reportArgumentType]
        for type in _COMPARABLE
    )
    return Function(name, rows, cost=cost.deep_traversal)


def kubernetes_functions() -> tuple[Function, ...]:
    return (
        _for_each("isSorted", "list_{0}_is_sorted_bool", _is_sorted, BOOL),
        Function(
            "sum",
            tuple(member(f"list_{_short(type)}_sum_{_short(type)}", (list_of(type),), type, _sum(zero)) for type, zero in _SUMMABLE),  # pyright: ignore[reportArgumentType]
            cost=cost.deep_traversal,
        ),
        _for_each("max", "list_{0}_max_{0}", _extreme("max", -1), None),
        _for_each("min", "list_{0}_min_{0}", _extreme("min", 1), None),
        function("indexOf", member("list_a_index_of_int", (LIST_A, A), INT, _index_of), cost=cost.deep_traversal),
        function("lastIndexOf", member("list_a_last_index_of_int", (LIST_A, A), INT, _last_index_of), cost=cost.deep_traversal),
    )


def includes_function(bounded: bool) -> Function:
    """1.36 has its own form, uncosted and bounded; 1.37 has it in the lists library."""
    if bounded:
        return function("includes", member("dra_includes_dyn_dyn", (DYN, DYN), BOOL, includes_bounded))
    return function("includes", member("list_includes_dyn_dyn", (DYN, DYN), BOOL, includes), cost=cost.deep_traversal)


def extension_functions(recent: bool) -> tuple[Function, ...]:
    sort_rows = tuple(member(f"list_{type.name}_sort", (list_of(type),), list_of(type), cost=cost.self_compared(0)) for type in _COMPARABLE)
    sort_by_rows = tuple(
        member(f"list_{type.name}_sortByAssociatedKeys", (LIST_T, list_of(type)), LIST_T, cost=cost.self_compared(1))
        for type in _COMPARABLE
    )
    flattened = cost.flattened if recent else cost.old_flattened
    return (
        function("slice", member("list_slice", (LIST_T, INT, INT), LIST_T, _slice, cost=cost.list_made)),
        function(
            "flatten",
            member("list_flatten", (list_of(LIST_T),), LIST_T, _flatten, guarded=False, cost=flattened),
            member("list_flatten_int", (list_of(DYN), INT), list_of(DYN), _flatten, guarded=False, cost=flattened),
        ),
        Function("sort", sort_rows, _sort),
        Function("@sortByAssociatedKeys", sort_by_rows, _sort_by),
        function(
            "lists.range",
            overload("lists_range", (INT,), list_of(INT), _range_limited if recent else _range, cost=cost.list_made),
        ),
        function("reverse", member("list_reverse", (LIST_T,), LIST_T, _reverse, cost=cost.list_made)),
        function("distinct", member("list_distinct", (LIST_T,), LIST_T, _distinct, cost=cost.self_compared(0))),
    )


SET_FUNCTIONS: Final = (
    function("sets.contains", overload("list_sets_contains_list", (LIST_T, LIST_T), BOOL, _sets_contain, cost=cost.sets(1))),
    function("sets.equivalent", overload("list_sets_equivalent_list", (LIST_T, LIST_T), BOOL, _sets_equivalent, cost=cost.sets(2))),
    function("sets.intersects", overload("list_sets_intersects_list", (LIST_T, LIST_T), BOOL, _sets_intersect, cost=cost.sets(1))),
)
MAP_INSERT: Final = function(
    "cel.@mapInsert",
    overload("@mapInsert_map_key_value", (map_of(K, V), K, V), map_of(K, V), _insert),
    overload("@mapInsert_map_map", (map_of(K, V), map_of(K, V)), map_of(K, V), _insert_all),
)
