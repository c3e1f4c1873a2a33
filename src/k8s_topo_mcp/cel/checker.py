"""The type checker (cel-go's checker/checker.go) and the checks of literals that follow it (cel/validator.go)."""

from __future__ import annotations

from dataclasses import dataclass, field

from k8s_topo_mcp.cel import types
from k8s_topo_mcp.cel.environment import CHECKED_NAMES, DEVICE, TYPE_NAMES, Environment
from k8s_topo_mcp.cel.errors import Problem, Refused
from k8s_topo_mcp.cel.library.declaration import Function
from k8s_topo_mcp.cel.tree import (
    Call,
    Comprehension,
    Identifier,
    ListLiteral,
    Literal,
    MapLiteral,
    MessageLiteral,
    Node,
    Select,
)
from k8s_topo_mcp.cel.types import (
    BOOL,
    DYN,
    ERROR,
    INT,
    NULL,
    STRING,
    Substitution,
    Type,
    described,
    described_call,
    list_of,
    map_of,
    most_general,
    optional_of,
    parameter,
    type_of,
    unwrapped_optional,
)
from k8s_topo_mcp.cel.values import UInt


@dataclass(slots=True)
class Checked:
    """What the checker found out.

    Attributes
    ----------
    types
        Of every node that can be evaluated.
    functions
        The function that a call means, and the overloads that may serve it; one overload is bound at once.
    constants
        Identifiers and selections that are names of types.
    qualified
        Calls whose target is part of the function's name ("optional.none").
    """

    root: Node
    types: dict[Node, Type] = field(default_factory=dict[Node, Type])
    functions: dict[Node, tuple[Function, tuple[str, ...]]] = field(default_factory=dict[Node, "tuple[Function, tuple[str, ...]]"])
    constants: dict[Node, Type] = field(default_factory=dict[Node, Type])
    qualified: set[Node] = field(default_factory=set[Node])

    @property
    def output(self) -> Type:
        return self.types[self.root]


def check(root: Node, environment: Environment) -> Checked:
    """Type an expression.

    Raises
    ------
    Refused
        With everything that is wrong.
    """
    checker = _Checker(root, environment)
    checker.visit(root)
    if checker.problems:
        raise Refused(*checker.problems)
    checked = checker.checked
    for node, type in checked.types.items():
        checked.types[node] = checker.substitution.resolve(type, free_is_dyn=True)
    return checked


def qualified_name(node: Node) -> str | None:
    """`a.b.c` as text, if the node is nothing else."""
    if isinstance(node, Identifier):
        return node.name
    if isinstance(node, Select) and not node.test_only:
        prefix = qualified_name(node.operand)
        return f"{prefix}.{node.field}" if prefix else None
    return None


def _first_name(node: Node) -> str | None:
    while isinstance(node, Select):
        node = node.operand
    return node.name if isinstance(node, Identifier) else None


_LITERAL_TYPES: dict[type, Type] = {
    bool: BOOL, int: INT, UInt: types.UINT, float: types.DOUBLE, str: STRING, bytes: types.BYTES, type(None): NULL,
}  # fmt: skip


class _Checker:
    def __init__(self, root: Node, environment: Environment) -> None:
        self.environment = environment
        self.functions = environment.functions
        self.checked = Checked(root)
        self.types = self.checked.types
        self.substitution = Substitution()
        self.scopes: list[dict[str, Type]] = []
        self.problems: list[Problem] = []
        self.variables = 0

    # --- helpers -----------------------------------------------------------------------------------------------------

    def complain(self, node: Node, text: str) -> None:
        self.problems.append(Problem(text, node.offset))

    def mismatch(self, node: Node, expected: Type, found: Type) -> None:
        self.complain(node, f"expected type '{described(expected)}' but found '{described(found)}'")

    def undeclared(self, node: Node, name: str) -> None:
        self.complain(node, f"undeclared reference to '{name}' (in container '')")

    def fresh(self) -> Type:
        self.variables += 1
        return parameter(f"_var{self.variables - 1}")

    def assignable(self, to: Type, given: Type) -> bool:
        return self.substitution.assign((to,), (given,))

    def local(self, name: str) -> Type | None:
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return None

    def visit(self, node: Node) -> Type:
        found = self.typed(node)
        self.types[node] = found
        return found

    # --- nodes -------------------------------------------------------------------------------------------------------

    def typed(self, node: Node) -> Type:
        match node:
            case Literal():
                return _LITERAL_TYPES[type(node.value)]
            case Identifier():
                return self.identifier(node)
            case Select():
                return self.select(node)
            case Call():
                return self.call(node)
            case ListLiteral():
                return self.list(node)
            case MapLiteral():
                return self.map(node)
            case Comprehension():
                return self.comprehension(node)
            case MessageLiteral():
                return self.message(node)
            case _:
                return ERROR

    def global_name(self, node: Node, name: str) -> Type | None:
        name = name.removeprefix(".")
        if name == "device":
            return DEVICE
        if name in CHECKED_NAMES:
            return type_of(CHECKED_NAMES[name])
        named = TYPE_NAMES.get(name)
        if named is None:
            return None
        self.checked.constants[node] = named
        return type_of(named)

    def identifier(self, node: Identifier) -> Type:
        found = self.local(node.name) or self.global_name(node, node.name)
        if found is None:
            self.undeclared(node, node.name)
            return ERROR
        return found

    def select(self, node: Select) -> Type:
        name = None if node.test_only else qualified_name(node)
        if name is not None and self.local(_first_name(node) or "") is None:
            found = self.global_name(node, name)
            if found is not None:
                return found
        result = self.field(node, node.operand, node.field, optional=False)
        return BOOL if node.test_only else self.substitution.resolve(result)

    def field(self, node: Node, operand: Node, name: str, optional: bool) -> Type:
        self.visit(operand)
        target, wrapped = unwrapped_optional(self.substitution.resolve(self.types[operand]))
        result = ERROR
        match target.kind:
            case "map":
                result = target.parameters[1]
            case "struct":
                if target != DEVICE:
                    self.complain(node, f"unexpected failed resolution of '{target.name}'")
                elif name in self.environment.device_fields:
                    result = self.environment.device_fields[name]
                else:
                    self.complain(node, f"undefined field '{name}'")
            case "param":
                self.assignable(DYN, target)
                result = DYN
            case _:
                if not (target.is_dyn or target.kind == "error"):
                    self.complain(node, f"type '{described(target)}' does not support field selection")
                result = DYN
        return optional_of(result) if wrapped or optional else result

    def message(self, node: MessageLiteral) -> Type:
        for _, value in node.fields:
            self.visit(value)
        self.undeclared(node, node.name)
        return ERROR

    # --- calls -------------------------------------------------------------------------------------------------------

    def call(self, node: Call) -> Type:
        if node.function == "_?._":
            name = node.arguments[1]
            self.visit(name)
            text = name.value if isinstance(name, Literal) else ""
            result = self.field(node, node.arguments[0], str(text), optional=True)
            self.checked.functions[node] = (self.functions["_?._"], ("select_optional_field",))
            return self.substitution.resolve(result)
        for argument in node.arguments:
            self.visit(argument)
        if node.target is None:
            function = self.functions.get(node.function.removeprefix("."))
            if function is None:
                self.undeclared(node, node.function)
                return ERROR
            return self.resolve(node, function, None)
        prefix = qualified_name(node.target)
        if prefix is not None:
            function = self.functions.get(f"{prefix.removeprefix('.')}.{node.function}")
            if function is not None:
                self.checked.qualified.add(node)
                return self.resolve(node, function, None)
        self.visit(node.target)
        function = self.functions.get(node.function)
        if function is None:
            self.undeclared(node, node.function)
            return ERROR
        return self.resolve(node, function, node.target)

    def resolve(self, node: Call, function: Function, target: Node | None) -> Type:
        operands = node.arguments if target is None else [target, *node.arguments]
        given = [self.types[operand] for operand in operands]
        if function.name in ("_&&_", "_||_"):
            failed = False
            for operand, type in zip(operands, given, strict=True):
                if not self.assignable(type, BOOL):
                    self.mismatch(operand, BOOL, type)
                    failed = True
            self.checked.functions[node] = (function, (function.overloads[0].identifier,))
            return ERROR if failed else BOOL
        result: Type | None = None
        matching: list[str] = []
        for overload in function.overloads:
            if overload.member != (target is not None):
                continue
            fresh: dict[str, Type] = {}
            arguments = [self._instantiated(argument, fresh) for argument in overload.arguments]
            answer = self._instantiated(overload.result, fresh)
            if not self.substitution.assign(given, arguments):
                continue
            matching.append(overload.identifier)
            returned = self.substitution.resolve(answer)
            if result is None:
                result = returned
            elif not result.is_dyn and returned != result:
                result = DYN
        if result is None:
            shown = [self.substitution.resolve(type, free_is_dyn=True) for type in given]
            signature = described_call(shown, target is not None)
            self.complain(node, f"found no matching overload for '{function.name}' applied to '{signature}'")
            return ERROR
        self.checked.functions[node] = (function, tuple(matching))
        return result

    def _instantiated(self, type: Type, fresh: dict[str, Type]) -> Type:
        """The type with its parameters replaced by new variables, the same ones throughout an overload."""
        if type.kind == "param":
            if type.name not in fresh:
                fresh[type.name] = self.fresh()
            return fresh[type.name]
        if not type.parameters:
            return type
        return Type(type.kind, type.name, tuple(self._instantiated(part, fresh) for part in type.parameters))

    # --- aggregates --------------------------------------------------------------------------------------------------

    def joined(self, before: Type | None, now: Type) -> Type:
        """The type of elements so far with one more; what doesn't fit makes it dyn, and `validation` complains."""
        if before is None:
            return now
        return most_general(before, now) if self.assignable(before, now) else DYN

    def element(self, node: Node, optional: bool) -> Type:
        found = self.visit(node)
        if not optional:
            return found
        content, wrapped = unwrapped_optional(found)
        if not wrapped and not content.is_dyn:
            self.mismatch(node, optional_of(content), content)
        return content

    def list(self, node: ListLiteral) -> Type:
        element: Type | None = None
        for index, part in enumerate(node.elements):
            element = self.joined(element, self.element(part, index in node.optional))
        return list_of(element or self.fresh())

    def map(self, node: MapLiteral) -> Type:
        key: Type | None = None
        value: Type | None = None
        for entry in node.entries:
            key = self.joined(key, self.visit(entry.key))
            value = self.joined(value, self.element(entry.value, entry.optional))
        return map_of(key, value) if key and value else map_of(self.fresh(), self.fresh())

    def comprehension(self, node: Comprehension) -> Type:
        self.visit(node.range)
        accumulated = self.visit(node.start)
        over = self.substitution.resolve(self.types[node.range])
        two = bool(node.second_variable)
        match over.kind:
            case "list":
                first, second = (INT, over.parameters[0]) if two else (over.parameters[0], ERROR)
            case "map":
                first, second = over.parameters
            case "dyn" | "error" | "param":
                self.assignable(DYN, over)
                first = second = DYN
            case _:
                self.complain(
                    node.range,
                    f"expression of type '{described(over)}' cannot be range of a comprehension (must be list, map, or dynamic)",
                )
                first = second = ERROR
        self.scopes.append({node.accumulator: accumulated})
        loop = {node.variable: first}
        if two:
            loop[node.second_variable] = second
        self.scopes.append(loop)
        self.expect(node.condition, BOOL)
        self.expect(node.step, accumulated)
        self.scopes.pop()
        result = self.visit(node.result)
        self.scopes.pop()
        return self.substitution.resolve(result)

    def expect(self, node: Node, type: Type) -> None:
        found = self.visit(node)
        if not self.assignable(type, found):
            self.mismatch(node, type, found)
