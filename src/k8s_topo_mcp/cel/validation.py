"""Checks of literals after typing: durations, timestamps, regular expressions, formats and mixed aggregates
(cel-go's cel/validator.go and ext/formatting.go)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from k8s_topo_mcp.cel.checker import Checked
from k8s_topo_mcp.cel.errors import CelError, Panic, Problem, Refused
from k8s_topo_mcp.cel.library import regexes
from k8s_topo_mcp.cel.library.formatting import WRONG_TYPE, FormatError, parsed
from k8s_topo_mcp.cel.library.operators import MAX_SECONDS, MIN_SECONDS
from k8s_topo_mcp.cel.library.times import parse_duration, parse_timestamp
from k8s_topo_mcp.cel.tree import Call, ListLiteral, Literal, MapLiteral, Node, children
from k8s_topo_mcp.cel.types import Type, described, equivalent


def validate(checked: Checked) -> None:
    """Look at every literal that has more to it than its type.

    Raises
    ------
    Refused
        With everything that is wrong.
    """
    nodes = list(_walk(checked.root, in_format=False))
    problems: list[Problem] = []
    for name, valid in _ARGUMENTS.items():
        for node, _ in nodes:
            if isinstance(node, Call) and node.function == name and node.arguments:
                argument = node.arguments[0]
                if isinstance(argument, Literal) and not valid(argument.value):
                    problems.append(Problem(f"invalid {name} argument", argument.offset))
    for node, exempt in nodes:
        if isinstance(node, ListLiteral) and not exempt:
            problems.extend(_mixed_list(node, checked))
    for node, exempt in nodes:
        if isinstance(node, MapLiteral) and not exempt:
            problems.extend(_mixed_map(node, checked))
    for node, _ in nodes:
        if isinstance(node, Call) and node.function == "format" and isinstance(node.target, Literal) and isinstance(node.target.value, str):
            problems.extend(_wrong_format(node, node.target.value, checked))
    if problems:
        raise Refused(*problems)


def _walk(node: Node, in_format: bool) -> Iterator[tuple[Node, bool]]:
    """All nodes, each with whether it stands inside a call of `format`, where lists may be mixed."""
    yield node, in_format
    inside = in_format or (isinstance(node, Call) and node.function == "format")
    for child in children(node):
        yield from _walk(child, inside)


def _is_duration(value: object) -> bool:
    return isinstance(value, str) and parse_duration(value) is not None


def _is_timestamp(value: object) -> bool:
    if isinstance(value, str):
        try:
            return parse_timestamp(value) is not None
        except CelError:
            return False
    return isinstance(value, int) and MIN_SECONDS <= value <= MAX_SECONDS


def _is_pattern(value: object) -> bool:
    try:
        regexes.compiled(str(value))
    except CelError:
        return False
    return True


_ARGUMENTS: Final[dict[str, Callable[[object], bool]]] = {
    "duration": _is_duration,
    "timestamp": _is_timestamp,
    "matches": _is_pattern,
}


def _mismatch(node: Node, expected: Type, found: Type) -> Problem:
    return Problem(f"expected type '{described(expected)}' but found '{described(found)}'", node.offset)


def _content(type: Type, optional: bool) -> Type:
    if not optional:
        return type
    if not type.parameters:  # cel-go takes the first parameter of any type here, dyn included
        raise Panic("runtime error: index out of range [0] with length 0")
    return type.parameters[0]


def _mixed_list(node: ListLiteral, checked: Checked) -> Iterator[Problem]:
    first: Type | None = None
    for index, element in enumerate(node.elements):
        found = _content(checked.types[element], index in node.optional)
        if first is None:
            first = found
        elif not equivalent(first, found):
            yield _mismatch(element, first, found)
            return


def _mixed_map(node: MapLiteral, checked: Checked) -> Iterator[Problem]:
    key: Type | None = None
    value: Type | None = None
    for entry in node.entries:
        found_key = checked.types[entry.key]
        found_value = _content(checked.types[entry.value], entry.optional)
        if key is None or value is None:
            key, value = found_key, found_value
            continue
        if not equivalent(key, found_key):
            yield _mismatch(entry.key, key, found_key)
        if not equivalent(value, found_value):
            yield _mismatch(entry.value, value, found_value)


_ALLOWED: Final[dict[str, frozenset[str]]] = {
    "s": frozenset(("list", "map", "int", "uint", "double", "bool", "string", "timestamp", "bytes", "duration", "type", "null")),
    "d": frozenset(("int", "uint")),
    "f": frozenset(("double", "string")),
    "e": frozenset(("double", "string")),
    "b": frozenset(("int", "uint", "bool")),
    "x": frozenset(("int", "uint", "string", "bytes")),
    "o": frozenset(("int", "uint")),
}


def _wrong_format(node: Call, text: str, checked: Checked) -> Iterator[Problem]:
    arguments = node.arguments[0] if len(node.arguments) == 1 else None
    if not isinstance(arguments, ListLiteral):
        return
    blamed: list[Node] = []
    asked = 0

    def apply(clause: tuple[str, int | None], index: int) -> str:
        nonlocal asked
        asked = index + 1
        letter = clause[0].lower()
        bad = _unformattable(arguments.elements[index], letter, checked)
        if bad is not None:
            blamed.append(bad)
            raise FormatError(f"error during formatting: {WRONG_TYPE[letter]}{checked.types[bad].name}")
        return ""

    count = len(arguments.elements)
    try:
        parsed(text, count, apply)
    except FormatError as error:
        place = blamed[0] if blamed else node
        yield Problem(error.message, place.offset)
        return
    if count > asked:
        yield Problem(f"too many arguments supplied to string.format (expected {asked}, got {count})", node.offset)


def _unformattable(node: Node, letter: str, checked: Checked) -> Node | None:
    """The part that the clause can't format; only %s looks into literals."""
    type = checked.types[node]
    if type.kind != "dyn" and type.kind not in _ALLOWED[letter]:
        return node
    if letter == "s" and isinstance(node, ListLiteral):
        parts = node.elements
    elif letter == "s" and isinstance(node, MapLiteral):
        parts = [part for entry in node.entries for part in (entry.key, entry.value)]
    else:
        return None
    return next((bad for part in parts if (bad := _unformattable(part, letter, checked)) is not None), None)
