"""From a checked tree to closures, once for each expression (cel-go's interpreter/planner.go).

Each node becomes a function of the frame. A call with one overload left after checking is bound to it; otherwise the
overloads are tried by the types of the values. With `counting`, every step adds to the cost in the frame.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from k8s_topo_mcp.cel import cost
from k8s_topo_mcp.cel.attributes import (
    DEVICE_SLOT,
    FIRST_SLOT,
    KEYS,
    Evaluate,
    Frame,
    Qualifier,
    chain,
    charge,
    device_entry,
    device_field,
)
from k8s_topo_mcp.cel.calls import PlanError, counted_call, dispatched, guarded, plain_call, with_pattern
from k8s_topo_mcp.cel.checker import Checked
from k8s_topo_mcp.cel.equality import alike, equal
from k8s_topo_mcp.cel.errors import CelError, Failure, no_such_overload
from k8s_topo_mcp.cel.library import conversions
from k8s_topo_mcp.cel.library.declaration import CallCost, Function, Implementation
from k8s_topo_mcp.cel.tree import Call, Comprehension, Identifier, ListLiteral, Literal, MapLiteral, Node, Select, walk
from k8s_topo_mcp.cel.values import (
    LISTS,
    MAPS,
    MutableList,
    MutableMap,
    Optional,
    UInt,
    Value,
    go_type,
    map_key,
    plain_key,
    shown,
    unhashable,
)

UNSET: Final = object()
_SCALARS: Final = frozenset((bool, int, UInt, float, str, type(None)))


@dataclass(slots=True)
class _Variable:
    slot: int
    start: Evaluate | None = None
    """Of an accumulator: its first value, computed when it is first read."""


class Compiler:
    """Compiles the nodes of one checked expression."""

    def __init__(self, checked: Checked, counting: bool, lenient: bool = False) -> None:
        self.lenient = lenient
        self.typed = not (lenient and any(isinstance(node, Call) and node.function in ("or", "orValue") for node in walk(checked.root)))
        """Whether values have the types that the checker found; a lenient `or` may break that."""
        self.checked = checked
        self.counting = counting
        self.slots = FIRST_SLOT
        self.scopes: list[dict[str, _Variable]] = []
        self.constants: dict[Node, Value] = {}
        """Nodes that cel-go computes while planning."""

    def compile(self, node: Node, observed: bool = True) -> Evaluate:
        """The function of a node. What isn't `observed` (the branches of a condition) doesn't cost the 1 of a read itself."""
        match node:
            case Literal():
                return self.constant(node, node.value)
            case Identifier():
                return self.identifier(node, observed)
            case Select():
                return self.read(node, observed)
            case Call():
                return self.call(node, observed)
            case ListLiteral():
                return self.list(node)
            case MapLiteral():
                return self.map(node)
            case Comprehension():
                return self.comprehension(node)
            case _:
                raise PlanError(f"unsupported expr: {type(node).__name__}")

    def constant(self, node: Node, value: Value) -> Evaluate:
        self.constants[node] = value
        return lambda frame: value

    # --- reading -----------------------------------------------------------------------------------------------------

    def variable(self, name: str) -> _Variable | None:
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return None

    def identifier(self, node: Identifier, observed: bool) -> Evaluate:
        if node in self.checked.constants:
            return self.constant(node, self.checked.constants[node])
        if self.checked.types[node].kind == "type":
            raise PlanError(f"reference to undefined type: {node.name}")
        read = self.slot_reader(node.name)
        if not (self.counting and observed):
            return read

        def counted(frame: Frame) -> Value:
            charge(frame, 1)
            return read(frame)

        return counted

    def slot_reader(self, name: str) -> Evaluate:
        variable = self.variable(name)
        if variable is None:
            return lambda frame: frame[DEVICE_SLOT]
        slot, start = variable.slot, variable.start
        if start is None:
            return lambda frame: frame[slot]

        def accumulated(frame: Frame) -> Value:
            value = frame[slot]
            if value is UNSET:
                value = frame[slot] = _started(start, frame)
            if type(value) is Failure:
                raise value.error
            return value

        return accumulated

    def read(self, node: Node, observed: bool) -> Evaluate:
        """A chain of selections and indices as one read."""
        if node in self.checked.constants:
            return self.constant(node, self.checked.constants[node])
        test = isinstance(node, Select) and node.test_only
        root, steps = self._steps(node)
        qualifiers = tuple(self._qualifier(step) for step in steps)
        keys = [qualifier.key for qualifier in qualifiers if qualifier.constant and not qualifier.optional]
        from_device = isinstance(root, Identifier) and self.variable(root.name) is None and root not in self.checked.constants
        if from_device and not self.counting and not test and len(keys) == len(qualifiers):
            if len(keys) == 1:
                return device_field(keys[0])
            if len(keys) == 3 and keys[0] in ("attributes", "capacity") and all(type(key) is str for key in keys):
                return device_entry(keys[0], keys[1], keys[2], qualifiers[2].offset)
        if isinstance(root, Identifier) and root not in self.checked.constants:
            start = self.slot_reader(root.name)
        elif isinstance(root, Call) and self.function_name(root) == "_?_:_":
            start, observed = self.compile(root, observed=False), False
        else:
            start = self.compile(root)
        return chain(start, qualifiers, test, self.counting, observed)

    def _steps(self, node: Node) -> tuple[Node, list[Node]]:
        steps: list[Node] = []
        while node not in self.checked.constants:
            if isinstance(node, Select) and (not node.test_only or not steps):
                steps.append(node)
                node = node.operand
            elif isinstance(node, Call) and node.function in ("_[_]", "_[?_]", "_?._"):
                steps.append(node)
                node = node.arguments[0]
            else:
                break
        steps.reverse()
        return node, steps

    def _qualifier(self, step: Node) -> Qualifier:
        if isinstance(step, Select):
            return Qualifier(step.offset, optional=False, constant=True, key=step.field)
        assert isinstance(step, Call)
        index = step.arguments[1]
        optional = step.function != "_[_]"
        plain = isinstance(index, Identifier | Select) or (isinstance(index, Call) and index.function in ("_[_]", "_[?_]", "_?._"))
        compute = self.compile(index, observed=not plain)
        if index in self.constants:
            if type(self.constants[index]) not in KEYS:
                raise PlanError(f"invalid qualifier type: {go_type(self.constants[index])}")
            return Qualifier(step.offset, optional, constant=True, key=self.constants[index])
        return Qualifier(step.offset, optional, constant=False, compute=compute)

    # --- calls -------------------------------------------------------------------------------------------------------

    def function_name(self, node: Call) -> str:
        return self.checked.functions[node][0].name

    def call(self, node: Call, observed: bool) -> Evaluate:
        function, identifiers = self.checked.functions[node]
        operands = node.arguments if node.target is None or node in self.checked.qualified else [node.target, *node.arguments]
        match function.name:
            case "_[_]" | "_[?_]" | "_?._":
                return self.read(node, observed)
            case "_&&_":
                return self.logical(node, stop=False)
            case "_||_":
                return self.logical(node, stop=True)
            case "_?_:_":
                return self.conditional(node)
            case "or" | "orValue":
                return self.alternative(node, operands, unwrap=function.name == "orValue")
            case _:
                pass
        compiled = [self.compile(operand) for operand in operands]
        if function.name == "@in" and identifiers == ("in_list",) and operands[1] in self.constants:
            found = self.membership(node, compiled[0], self.constants[operands[1]])
            if found is not None:
                return found
        implement = self.implementation(function, identifiers, operands)
        if function.name in conversions.NAMES and len(operands) == 1 and operands[0] in self.constants:
            try:
                return self.constant(node, implement(self.constants[operands[0]]))
            except CelError as error:
                raise PlanError(error.message) from None
        if self.counting:
            together = len(operands) < 3 and not self.isdispatched(function, identifiers, operands)
            return counted_call(compiled, implement, self.call_cost(function, identifiers), node.offset, together)
        if all(operand in self.constants for operand in operands) and function.name in ("quantity", "semver"):
            try:
                value = implement(*(self.constants[operand] for operand in operands))
            except CelError:
                pass
            else:
                return lambda frame: value
        return plain_call(compiled, implement, node.offset)

    def call_cost(self, function: Function, identifiers: tuple[str, ...]) -> CallCost:
        if len(identifiers) == 1:
            for overload in function.overloads:
                if overload.identifier == identifiers[0] and overload.cost:
                    return overload.cost
        return function.cost or cost.fixed

    def implementation(self, function: Function, identifiers: tuple[str, ...], operands: list[Node]) -> Implementation:
        """What to call with the values of the operands."""
        if function.name in ("_==_", "_!=_"):
            return equal if function.name == "_==_" else _not_equal
        if function.name in ("matches", "find", "findAll") and len(operands) >= 2:
            pattern = self.constants.get(operands[1])
            if type(pattern) is str:
                return with_pattern(function.name, pattern)
        if function.implement:
            return function.implement
        bound = [overload for overload in function.overloads if overload.implement]
        if len(identifiers) == 1:
            bound = [overload for overload in bound if overload.identifier == identifiers[0]]
        if len(bound) == 1:
            return guarded(function.name, bound[0])
        return dispatched(function.name, bound)

    def isdispatched(self, function: Function, identifiers: tuple[str, ...], operands: list[Node]) -> bool:
        """Whether cel-go plans the call as one with any number of arguments, whose evaluation stops at the first error."""
        if function.name in ("matches", "find", "findAll") and len(operands) >= 2 and type(self.constants.get(operands[1])) is str:
            return True
        return not function.implement and len(identifiers) != 1 and len([row for row in function.overloads if row.implement]) > 1

    def membership(self, node: Call, value: Evaluate, elements: list[Value]) -> Evaluate | None:
        """`x in [constants]`, which cel-go turns into a lookup; None where it doesn't."""
        if not elements:
            return self.constant(node, False)
        if any(type(element) not in _SCALARS or element is None for element in elements):
            return None
        if all(type(element) is str for element in elements):
            strings = frozenset(elements)

            def in_strings(frame: Frame) -> Value:
                found = value(frame)
                if type(found) is str:
                    return found in strings
                unhashable(found)
                return False

            return in_strings

        known = alike(elements)

        def in_constants(frame: Frame) -> Value:
            found = value(frame)
            unhashable(found)
            return type(found) in _SCALARS and (type(found), found) in known

        return in_constants

    def logical(self, node: Call, stop: bool) -> Evaluate:
        """`&&` (which stops at false) and `||` (at true): what stops wins over an error, whichever comes first."""
        left, right = (self.compile(argument) for argument in node.arguments)
        go = not stop
        offset = node.offset

        def evaluate(frame: Frame) -> Value:
            try:
                value = left(frame)
                if value is stop:
                    return stop
                error = None if value is go else _not_bool(offset)
            except CelError as raised:
                error = raised
            if error is None:
                value = right(frame)
                if value is stop or value is go:
                    return value
                raise _not_bool(offset)
            try:
                if right(frame) is stop:
                    return stop
            except CelError:
                pass
            raise error

        return evaluate

    def conditional(self, node: Call) -> Evaluate:
        condition = self.compile(node.arguments[0])
        first, second = (self.compile(argument, observed=not self._is_read(argument)) for argument in node.arguments[1:])
        offset = node.offset

        def evaluate(frame: Frame) -> Value:
            value = condition(frame)
            if value is True:
                return first(frame)
            if value is False:
                return second(frame)
            raise _not_bool(offset)

        return evaluate

    def _is_read(self, node: Node) -> bool:
        return isinstance(node, Identifier | Select) or (isinstance(node, Call) and self.function_name(node) in ("_[_]", "_[?_]", "_?._"))

    def alternative(self, node: Call, operands: list[Node], unwrap: bool) -> Evaluate:
        first, second = (self.compile(operand) for operand in operands)
        offset = node.offset
        lenient = self.lenient  # cel-go before 0.29 lets a value that is no optional through

        def evaluate(frame: Frame) -> Value:
            value = first(frame)
            if type(value) is not Optional:
                if lenient:
                    return value
                raise _not_bool(offset)
            if value.present:
                return value.content if unwrap else value
            return second(frame)

        return evaluate

    # --- aggregates --------------------------------------------------------------------------------------------------

    def list(self, node: ListLiteral) -> Evaluate:
        elements = [self.compile(element) for element in node.elements]
        optional = node.optional
        if not optional and all(element in self.constants for element in node.elements):
            value = [self.constants[element] for element in node.elements]
            return self.constant(node, value)
        counting = self.counting
        offset = node.offset

        def build(frame: Frame) -> Value:
            made: list[Value] = []
            if counting:
                charge(frame, cost.LIST)
            for index, element in enumerate(elements):
                value = element(frame)
                if index in optional:
                    if type(value) is not Optional:
                        raise _placed(CelError(f"cannot initialize optional list element from non-optional value {shown(value)}"), offset)
                    if not value.present:
                        continue
                    value = value.content
                made.append(value)
            return made

        return build

    def map(self, node: MapLiteral) -> Evaluate:
        entries = [(self.compile(entry.key), self.compile(entry.value), entry.optional) for entry in node.entries]
        offset = node.offset
        counting = self.counting

        def build(frame: Frame) -> Value:
            made: dict[Value, Value] = {}
            if counting:
                charge(frame, cost.MAP)
            for key, content, optional in entries:
                name, value = key(frame), content(frame)
                if optional:
                    if type(value) is not Optional:
                        message = f"cannot initialize optional entry '{shown(name)}' from non-optional value {shown(value)}"
                        raise _placed(CelError(message), offset)
                    if not value.present:
                        made.pop(map_key(name), None)
                        continue
                    value = value.content
                made[map_key(name)] = value
            return made

        parts = [part for entry in node.entries for part in (entry.key, entry.value)]
        if not any(entry.optional for entry in node.entries) and all(part in self.constants for part in parts):
            counting = False
            return self.constant(node, build([]))
        return build

    def comprehension(self, node: Comprehension) -> Evaluate:
        range, start = self.compile(node.range), self.compile(node.start)
        accumulator = _Variable(self.slots, start)
        first, second = self.slots + 1, self.slots + 2
        self.slots += 3
        self.scopes.append({node.accumulator: accumulator})
        loop = {node.variable: _Variable(first)}
        if node.second_variable:
            loop[node.second_variable] = _Variable(second)
        self.scopes.append(loop)
        condition, step = self.compile(node.condition), self.compile(node.step)
        self.scopes.pop()
        result = self.compile(node.result)
        self.scopes.pop()
        slot, two = accumulator.slot, bool(node.second_variable)
        offset = node.range.offset

        def fold(frame: Frame) -> Value:
            over = range(frame)
            frame[slot] = UNSET
            if type(over) in LISTS:
                entries: Any = enumerate(over) if two else over
            elif type(over) in MAPS:
                entries = ((plain_key(key), value) for key, value in over.items()) if two else (plain_key(key) for key in over)
            else:
                name = go_type(over)
                text = f"unsupported comprehension range type: {name}" if two else f"got '{name}', expected iterable type"
                raise _placed(CelError(text), offset)
            for entry in entries:
                if two:
                    frame[first], frame[second] = entry
                else:
                    frame[first] = entry
                try:
                    if condition(frame) is False:
                        break
                except CelError:
                    pass
                try:
                    frame[slot] = step(frame)
                except CelError as error:
                    frame[slot] = Failure(error)
            value = result(frame)
            kind = value.__class__
            if kind is MutableList:
                return list(value)
            return dict(value) if kind is MutableMap else value

        return fold


def _started(start: Evaluate, frame: Frame) -> Value:
    """The first value of an accumulator; an empty list or map becomes one that is changed in place."""
    try:
        value = start(frame)
    except CelError as error:
        return Failure(error)
    if not value:
        if type(value) in LISTS:
            return MutableList()
        if type(value) in MAPS:
            return MutableMap()
    return value


def _placed(error: CelError, offset: int) -> CelError:
    error.offset = offset
    return error


def _not_bool(offset: int) -> CelError:
    return _placed(no_such_overload(), offset)


def _not_equal(left: Value, right: Value) -> bool:
    try:
        return not equal(left, right)
    except CelError:
        return True
