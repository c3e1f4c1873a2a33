"""The tree of an expression after parsing and macro expansion.

`offset` is the place that messages point at (for an operator, the operator itself); `begin` and `end` span the text that
the node was written as. Macro expansions carry the span of the macro call.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

Constant: TypeAlias = "bool | int | float | str | bytes | None"


@dataclass(eq=False, slots=True)
class Node:
    """Any node; nodes compare by identity and serve as keys of what the checker learns."""

    offset: int
    begin: int
    end: int


@dataclass(eq=False, slots=True)
class Literal(Node):
    """A constant in the text."""

    value: Constant


@dataclass(eq=False, slots=True)
class Identifier(Node):
    """A name."""

    name: str


@dataclass(eq=False, slots=True)
class Select(Node):
    """`operand.field`, or with `test_only` the question whether it is there (`has`)."""

    operand: Node
    field: str
    test_only: bool = False


@dataclass(eq=False, slots=True)
class Call(Node):
    """A call: `target` is None for a global function or an operator."""

    function: str
    target: Node | None
    arguments: list[Node]

    @property
    def operands(self) -> list[Node]:
        """Target and arguments in order."""
        return self.arguments if self.target is None else [self.target, *self.arguments]


@dataclass(eq=False, slots=True)
class ListLiteral(Node):
    """`[a, ?b]`; `optional` holds the positions with a question mark."""

    elements: list[Node]
    optional: frozenset[int] = frozenset()


@dataclass(eq=False, slots=True)
class Entry:
    """`key: value` in a map."""

    offset: int
    key: Node
    value: Node
    optional: bool = False


@dataclass(eq=False, slots=True)
class MapLiteral(Node):
    """`{a: b}`."""

    entries: list[Entry]


@dataclass(eq=False, slots=True)
class MessageLiteral(Node):
    """`Type{field: value}`; selectors have no message types to build, so this is only refused properly."""

    name: str
    fields: list[tuple[str, Node]] = field(default_factory=list[tuple[str, Node]])


@dataclass(eq=False, slots=True)
class Comprehension(Node):
    """The one loop of CEL: every macro that iterates becomes this."""

    range: Node
    variable: str
    second_variable: str
    accumulator: str
    start: Node
    condition: Node
    step: Node
    result: Node


def children(node: Node) -> list[Node]:
    """The direct parts of a node in order of evaluation."""
    match node:
        case Select():
            return [node.operand]
        case Call():
            return node.operands
        case ListLiteral():
            return node.elements
        case MapLiteral():
            return [part for entry in node.entries for part in (entry.key, entry.value)]
        case MessageLiteral():
            return [value for _, value in node.fields]
        case Comprehension():
            return [node.range, node.start, node.condition, node.step, node.result]
        case _:
            return []


def walk(node: Node) -> list[Node]:
    """The node and everything under it, parents first."""
    found: list[Node] = []
    pending = [node]
    while pending:
        current = pending.pop()
        found.append(current)
        pending.extend(reversed(children(current)))
    return found
