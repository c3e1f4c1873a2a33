"""Macros: calls that the parser rewrites before anything is checked.

`has`, the quantifiers, `map` and `filter` (parser/macro.go), their forms with two variables (ext/comprehensions.go),
`cel.bind` (ext/bindings.go), `optMap`/`optFlatMap` (cel/library.go) and `sortBy` (ext/lists.go).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from k8s_topo_mcp.cel.errors import Problem, Refused
from k8s_topo_mcp.cel.tree import (
    Call,
    Comprehension,
    Constant,
    Identifier,
    ListLiteral,
    Literal,
    MapLiteral,
    Node,
    Select,
)

ACCUMULATOR: Final = "@result"
OLD_ACCUMULATOR: Final = "__result__"
UNUSED: Final = "#unused"
SORT_INPUT: Final = "@__sortBy_input__"
MAP_INSERT: Final = "cel.@mapInsert"
NOT_STRICTLY_FALSE: Final = "@not_strictly_false"


@dataclass(frozen=True, slots=True)
class Place:
    """Makes the nodes of an expansion: all of them point at the macro call and span its text."""

    offset: int
    begin: int
    end: int

    def literal(self, value: Constant) -> Literal:
        return Literal(self.offset, self.begin, self.end, value)

    def identifier(self, name: str) -> Identifier:
        return Identifier(self.offset, self.begin, self.end, name)

    def result(self) -> Identifier:
        return self.identifier(ACCUMULATOR)

    def call(self, function: str, *arguments: Node) -> Call:
        return Call(self.offset, self.begin, self.end, function, None, list(arguments))

    def member(self, target: Node, function: str, *arguments: Node) -> Call:
        return Call(self.offset, self.begin, self.end, function, target, list(arguments))

    def list(self, *elements: Node) -> ListLiteral:
        return ListLiteral(self.offset, self.begin, self.end, list(elements))

    def empty_map(self) -> MapLiteral:
        return MapLiteral(self.offset, self.begin, self.end, [])

    def fold(self, range: Node, names: tuple[str, str], start: Node, condition: Node, step: Node, result: Node) -> Comprehension:
        return Comprehension(self.offset, self.begin, self.end, range, names[0], names[1], ACCUMULATOR, start, condition, step, result)

    def bind(self, name: str, value: Node, result: Node) -> Comprehension:
        """A loop over nothing, whose accumulator is the bound name."""
        return Comprehension(
            self.offset, self.begin, self.end, self.list(), UNUSED, "", name, value, self.literal(False), self.identifier(name), result
        )


Expander: TypeAlias = Callable[[Place, Node, "list[Node]"], "Node | None"]


def expand(place: Place, function: str, target: Node | None, arguments: list[Node]) -> Node | None:
    """The expansion of a call, or None if it is no macro."""
    if target is None:
        if function == "has" and len(arguments) == 1:
            return _has(place, arguments[0])
        return None
    expander = _MEMBER_MACROS.get((function, len(arguments)))
    return expander(place, target, arguments) if expander else None


def _refuse(node: Node, text: str) -> Refused:
    return Refused(Problem(text, node.offset))


def _has(place: Place, argument: Node) -> Node:
    if not isinstance(argument, Select):
        raise _refuse(argument, "invalid argument to has() macro")
    return Select(place.offset, place.begin, place.end, argument.operand, argument.field, test_only=True)


def _name(argument: Node, otherwise: str) -> str:
    if not isinstance(argument, Identifier):
        raise _refuse(argument, otherwise)
    return argument.name


def _variable(argument: Node, otherwise: str) -> tuple[str, str]:
    name = _name(argument, otherwise)
    if name in (ACCUMULATOR, OLD_ACCUMULATOR):
        raise _refuse(argument, "iteration variable overwrites accumulator variable")
    return name, ""


def _variables(arguments: list[Node]) -> tuple[str, str]:
    first, second = (_name(argument, "argument must be a simple name") for argument in arguments[:2])
    if first == second:
        raise _refuse(arguments[1], f"duplicate variable name: {first}")
    for argument, name in zip(arguments[:2], (first, second), strict=True):
        if name in (ACCUMULATOR, OLD_ACCUMULATOR):
            raise _refuse(argument, "iteration variable overwrites accumulator variable")
    return first, second


def _loop_names(arguments: list[Node], values: int) -> tuple[str, str]:
    """The loop's variables: one or two, by how many arguments precede the last `values`."""
    return _variable(arguments[0], "argument must be a simple name") if len(arguments) == 1 + values else _variables(arguments)


def _all(place: Place, target: Node, arguments: list[Node]) -> Node:
    names = _loop_names(arguments, 1)
    condition = place.call(NOT_STRICTLY_FALSE, place.result())
    step = place.call("_&&_", place.result(), arguments[-1])
    return place.fold(target, names, place.literal(True), condition, step, place.result())


def _exists(place: Place, target: Node, arguments: list[Node]) -> Node:
    names = _loop_names(arguments, 1)
    condition = place.call(NOT_STRICTLY_FALSE, place.call("!_", place.result()))
    step = place.call("_||_", place.result(), arguments[-1])
    return place.fold(target, names, place.literal(False), condition, step, place.result())


def _exists_one(place: Place, target: Node, arguments: list[Node]) -> Node:
    names = _loop_names(arguments, 1)
    counted = place.call("_+_", place.result(), place.literal(1))
    step = place.call("_?_:_", arguments[-1], counted, place.result())
    return place.fold(target, names, place.literal(0), place.literal(True), step, place.call("_==_", place.result(), place.literal(1)))


def _filtered(place: Place, step: Node, conditions: list[Node]) -> Node:
    return place.call("_?_:_", conditions[0], step, place.result()) if conditions else step


def _map(place: Place, target: Node, arguments: list[Node]) -> Node:
    names = _variable(arguments[0], "argument is not an identifier")
    step = _filtered(place, place.call("_+_", place.result(), place.list(arguments[-1])), arguments[1:-1])
    return place.fold(target, names, place.list(), place.literal(True), step, place.result())


def _filter(place: Place, target: Node, arguments: list[Node]) -> Node:
    names = _variable(arguments[0], "argument is not an identifier")
    step = _filtered(place, place.call("_+_", place.result(), place.list(arguments[0])), [arguments[1]])
    return place.fold(target, names, place.list(), place.literal(True), step, place.result())


def _transform_list(place: Place, target: Node, arguments: list[Node]) -> Node:
    names = _variables(arguments)
    step = _filtered(place, place.call("_+_", place.result(), place.list(arguments[-1])), arguments[2:-1])
    return place.fold(target, names, place.list(), place.literal(True), step, place.result())


def _transform_map(place: Place, target: Node, arguments: list[Node]) -> Node:
    names = _variables(arguments)
    insert = place.call(MAP_INSERT, place.result(), place.identifier(names[0]), arguments[-1])
    return place.fold(target, names, place.empty_map(), place.literal(True), _filtered(place, insert, arguments[2:-1]), place.result())


def _transform_map_entry(place: Place, target: Node, arguments: list[Node]) -> Node:
    names = _variables(arguments)
    insert = place.call(MAP_INSERT, place.result(), arguments[-1])
    return place.fold(target, names, place.empty_map(), place.literal(True), _filtered(place, insert, arguments[2:-1]), place.result())


def _bind(place: Place, target: Node, arguments: list[Node]) -> Node | None:
    if not (isinstance(target, Identifier) and target.name == "cel"):
        return None
    name = _name(arguments[0], "cel.bind() variable names must be simple identifiers")
    return place.bind(name, arguments[1], arguments[2])


def _opt_map(place: Place, target: Node, arguments: list[Node]) -> Node:
    name = _name(arguments[0], "optMap() variable name must be a simple identifier")
    mapped = place.call("optional.of", place.bind(name, place.member(target, "value"), arguments[1]))
    return place.call("_?_:_", place.member(target, "hasValue"), mapped, place.call("optional.none"))


def _opt_flat_map(place: Place, target: Node, arguments: list[Node]) -> Node:
    name = _name(arguments[0], "optFlatMap() variable name must be a simple identifier")
    mapped = place.bind(name, place.member(target, "value"), arguments[1])
    return place.call("_?_:_", place.member(target, "hasValue"), mapped, place.call("optional.none"))


def _sort_by(place: Place, target: Node, arguments: list[Node]) -> Node:
    if isinstance(target, Literal | MapLiteral):
        raise _refuse(target, "sortBy can only be applied to a list, identifier, comprehension, call or select expression")
    keys = _map(place, place.identifier(SORT_INPUT), arguments)
    sort = place.member(place.identifier(SORT_INPUT), "@sortByAssociatedKeys", keys)
    return place.bind(SORT_INPUT, target, sort)


_MEMBER_MACROS: dict[tuple[str, int], Expander] = {
    ("all", 2): _all,
    ("all", 3): _all,
    ("exists", 2): _exists,
    ("exists", 3): _exists,
    ("exists_one", 2): _exists_one,
    ("exists_one", 3): _exists_one,
    ("existsOne", 2): _exists_one,
    ("existsOne", 3): _exists_one,
    ("map", 2): _map,
    ("map", 3): _map,
    ("filter", 2): _filter,
    ("transformList", 3): _transform_list,
    ("transformList", 4): _transform_list,
    ("transformMap", 3): _transform_map,
    ("transformMap", 4): _transform_map,
    ("transformMapEntry", 3): _transform_map_entry,
    ("transformMapEntry", 4): _transform_map_entry,
    ("bind", 3): _bind,
    ("optMap", 2): _opt_map,
    ("optFlatMap", 2): _opt_flat_map,
    ("sortBy", 2): _sort_by,
}
