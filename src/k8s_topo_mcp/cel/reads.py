"""What an expression reads of a device, and the comparisons in it that a reader would recognise.

Statically, from the tree: which attributes and capacities a part looks at, and shapes such as
`device.attributes["d"].n == 5` or `device.capacity["d"].memory.compareTo(quantity("80Gi")) >= 0`, with the place of the
literal, so that callers can offer the expression with another one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from k8s_topo_mcp.cel import tree
from k8s_topo_mcp.cel.tree import Call, Comprehension, Identifier, ListLiteral, Node, Select, children
from k8s_topo_mcp.cel.values import Value

FieldKind: TypeAlias = Literal["attribute", "capacity"]
_FIELDS: Final[dict[str, FieldKind]] = {"attributes": "attribute", "capacity": "capacity"}


@dataclass(frozen=True, slots=True)
class Path:
    """An attribute or capacity of a device: `device.attributes["domain"].name`."""

    kind: FieldKind
    domain: str
    name: str

    def __str__(self) -> str:
        return f'device.{"attributes" if self.kind == "attribute" else "capacity"}["{self.domain}"].{self.name}'

    @property
    def qualified_name(self) -> str:
        """As drivers other than the domain's own publish it."""
        return f"{self.domain}/{self.name}"


@dataclass(frozen=True, slots=True)
class Reads:
    """All that a part of an expression can see of a device.

    `complete` is False where that isn't known: a whole map is looked at, or a name is computed.
    """

    paths: tuple[Path, ...] = ()
    driver: bool = False
    multiple_allocations: bool = False
    complete: bool = True


@dataclass(frozen=True, slots=True)
class Span:
    """A part of the text, end exclusive."""

    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """A recognised comparison of one value with literals.

    Attributes
    ----------
    subject
        What is compared: a path, or None for `device.driver` and `device.allowMultipleAllocations` (see `field`).
    field
        "attributes", "capacity", "driver" or "allowMultipleAllocations".
    operator
        "==", "!=", "<", "<=", ">", ">=", "in", "matches", "startsWith", "endsWith", "contains", "includes", or "has" for a
        bare presence test and "is" for a boolean attribute that stands alone.
    literals
        The literal values; a quantity or version as its text.
    literal_kind
        "plain", "quantity" or "semver".
    spans
        Where each literal is written, quotes included.
    negated
        Whether an odd number of `!` stands before it.
    """

    subject: Path | None
    field: str
    operator: str
    literals: tuple[Value, ...]
    literal_kind: Literal["plain", "quantity", "semver"]
    spans: tuple[Span, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Conjunct:
    """One operand of the top-level `&&`; `text` is `expression[offset:end]`."""

    text: str
    offset: int
    end: int
    reads: Reads
    comparison: Comparison | None


Prefix: TypeAlias = "tuple[str, ...]"
"""The start of a path as far as it is known: ("device", "attributes", "domain")."""


def conjunct_nodes(root: Node) -> list[Node]:
    """The operands of the top-level `&&` in source order, through parentheses."""
    if isinstance(root, Call) and root.function == "_&&_":
        return [part for argument in root.arguments for part in conjunct_nodes(argument)]
    return [root]


def conjuncts(expression: str, root: Node) -> tuple[Conjunct, ...]:
    return tuple(
        Conjunct(expression[node.begin : node.end], node.begin, node.end, reads_of(node), comparison_of(node))
        for node in conjunct_nodes(root)
    )


def _key(node: Node) -> str | None:
    return node.value if isinstance(node, tree.Literal) and isinstance(node.value, str) else None


def _prefix(node: Node, bound: dict[str, Prefix | None]) -> Prefix | None:
    """The known start of a path that a node is, or None if it is something else."""
    if isinstance(node, Identifier):
        if node.name in bound:
            return bound[node.name]
        return ("device",) if node.name.removeprefix(".") == "device" else None
    if isinstance(node, Select):
        before = _prefix(node.operand, bound)
        return (*before, node.field) if before is not None else None
    if isinstance(node, Call) and node.function in ("_[_]", "_[?_]", "_?._"):
        before, key = _prefix(node.arguments[0], bound), _key(node.arguments[1])
        return (*before, key) if before is not None and key is not None else None
    return None


def reads_of(root: Node) -> Reads:
    """Everything that a node reads."""
    prefixes = list(_visited(root, {}))
    paths: dict[Path, None] = {}
    driver = multiple = False
    complete = True
    for prefix in prefixes:
        field = prefix[1] if len(prefix) > 1 else ""
        if field == "driver":
            driver = True
        elif field == "allowMultipleAllocations":
            multiple = True
        elif len(prefix) >= 4 and field in _FIELDS:
            paths[Path(_FIELDS[field], prefix[2], prefix[3])] = None
        else:
            complete = False
    return Reads(tuple(paths), driver, multiple, complete)


def _visited(node: Node, bound: dict[str, Prefix | None]) -> Iterator[Prefix]:
    """The longest known prefix of each read under a node."""
    prefix = _prefix(node, bound)
    if prefix is not None:
        yield prefix
        return
    if isinstance(node, Call) and node.function == "@in":
        container, key = _prefix(node.arguments[1], bound), _key(node.arguments[0])
        if container is not None and key is not None and len(container) == 3:
            yield (*container, key)
            return
    if isinstance(node, Comprehension):
        yield from _visited(node.range, bound)
        empty = isinstance(node.range, ListLiteral) and not node.range.elements
        start = _prefix(node.start, bound)
        inner = dict(bound)
        if empty and start is not None and len(start) < 4:
            inner[node.accumulator] = start  # cel.bind of a domain: what is read is known where the name is used
        else:
            yield from _visited(node.start, bound)
            inner[node.accumulator] = None
        if empty:
            yield from _visited(node.result, inner)
            return
        yield from _visited(node.result, inner)
        inner = {**inner, node.variable: None, node.second_variable: None}
        yield from _visited(node.condition, inner)
        yield from _visited(node.step, inner)
        return
    for child in children(node):
        yield from _visited(child, bound)


_ORDER: Final = {"_==_": "==", "_!=_": "!=", "_<_": "<", "_<=_": "<=", "_>_": ">", "_>=_": ">="}
_MIRRORED: Final = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_MEMBERS: Final = frozenset(("matches", "startsWith", "endsWith", "contains", "includes"))
_BY_METHOD: Final = {"isGreaterThan": ">", "isLessThan": "<"}
_CONSTRUCTORS: Final[dict[str, Literal["quantity", "semver"]]] = {"quantity": "quantity", "semver": "semver"}

Subject: TypeAlias = "tuple[Path | None, str]"


def comparison_of(node: Node) -> Comparison | None:
    """The comparison that a node is, if it is one of the known shapes."""
    negated = False
    while isinstance(node, Call) and node.function == "!_":
        negated, node = not negated, node.arguments[0]
    found = _comparison(node)
    if found is None or not negated:
        return found
    return Comparison(found.subject, found.field, found.operator, found.literals, found.literal_kind, found.spans, negated=True)


def _comparison(node: Node) -> Comparison | None:
    if isinstance(node, Select) and node.test_only:
        subject = _subject(Select(node.offset, node.begin, node.end, node.operand, node.field))
        return Comparison(subject[0], subject[1], "has", (), "plain", ()) if subject else None
    subject = _subject(node)
    if subject is not None:
        return Comparison(subject[0], subject[1], "is", (), "plain", ())
    if not isinstance(node, Call):
        return None
    operator = _ORDER.get(node.function)
    if operator is not None:
        left, right = node.arguments
        return _ordered(left, operator, right) or _ordered(right, _MIRRORED[operator], left)
    if node.function == "@in":
        return _membership(node)
    if node.target is not None and len(node.arguments) == 1:
        if node.function in _BY_METHOD:
            return _against(node.target, _BY_METHOD[node.function], node.arguments[0]) or _against(
                node.arguments[0], _MIRRORED[_BY_METHOD[node.function]], node.target
            )
        if node.function in _MEMBERS:
            return _against(node.target, node.function, node.arguments[0])
    return None


def _subject(node: Node) -> Subject | None:
    prefix = _prefix(node, {})
    if prefix is None or len(prefix) < 2:
        return None
    if len(prefix) == 2 and prefix[1] in ("driver", "allowMultipleAllocations"):
        return None, prefix[1]
    if len(prefix) == 4 and prefix[1] in _FIELDS:
        return Path(_FIELDS[prefix[1]], prefix[2], prefix[3]), prefix[1]
    return None


def _literal(node: Node) -> tuple[Value, Literal["plain", "quantity", "semver"], Span] | None:
    if isinstance(node, tree.Literal):
        return node.value, "plain", Span(node.begin, node.end)
    if isinstance(node, Call) and node.target is None and node.function in _CONSTRUCTORS and node.arguments:
        text = node.arguments[0]
        if isinstance(text, tree.Literal) and isinstance(text.value, str):
            return text.value, _CONSTRUCTORS[node.function], Span(text.begin, text.end)
    return None


def _against(subject: Node, operator: str, literal: Node) -> Comparison | None:
    found, value = _subject(subject), _literal(literal)
    if found is None or value is None:
        return None
    return Comparison(found[0], found[1], operator, (value[0],), value[1], (value[2],))


def _ordered(left: Node, operator: str, right: Node) -> Comparison | None:
    """`subject op literal`, or `subject.compareTo(literal) op 0`."""
    if (
        isinstance(left, Call)
        and left.function == "compareTo"
        and left.target is not None
        and len(left.arguments) == 1
        and isinstance(right, tree.Literal)
        and type(right.value) is int
    ):
        plain = _sign_test(operator, right.value)
        if plain is None:
            return None
        return _against(left.target, plain, left.arguments[0]) or _against(left.arguments[0], _MIRRORED[plain], left.target)
    return _against(left, operator, right)


def _sign_test(operator: str, number: int) -> str | None:
    """What comparing compareTo()'s -1, 0 or 1 with a number means."""
    if number == 0:
        return operator
    known = {
        ("==", 1): ">",
        ("==", -1): "<",
        (">", -1): ">=",
        ("<", 1): "<=",
        (">=", 1): ">",
        ("<=", -1): "<",
        ("!=", 1): "<=",
        ("!=", -1): ">=",
    }
    return known.get((operator, number))


def _membership(node: Call) -> Comparison | None:
    subject, elements = _subject(node.arguments[0]), node.arguments[1]
    if subject is None or not isinstance(elements, ListLiteral):
        return None
    values: list[tuple[Value, Literal["plain", "quantity", "semver"], Span]] = []
    for element in elements.elements:
        value = _literal(element)
        if value is None or value[1] != "plain":
            return None
        values.append(value)
    return Comparison(subject[0], subject[1], "in", tuple(value[0] for value in values), "plain", tuple(value[2] for value in values))
