"""A compiled selector: evaluated as a whole, conjunct by conjunct, and from memory where the same values come again."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

from k8s_topo_mcp.cel import cost, tree
from k8s_topo_mcp.cel.attributes import FIRST_SLOT, Evaluate, Frame
from k8s_topo_mcp.cel.calls import PlanError
from k8s_topo_mcp.cel.checker import Checked, check
from k8s_topo_mcp.cel.compiler import Compiler
from k8s_topo_mcp.cel.device import Attribute, DeviceValues, converted
from k8s_topo_mcp.cel.environment import LENGTH_LIMIT, Environment
from k8s_topo_mcp.cel.errors import Abort, CelError, CompileError, EvaluationError, Panic, Refused, Source
from k8s_topo_mcp.cel.parser import DEPTH_LIMIT, parse
from k8s_topo_mcp.cel.reads import Conjunct, Path, Reads, conjunct_nodes, conjuncts, reads_of
from k8s_topo_mcp.cel.types import Type
from k8s_topo_mcp.cel.validation import validate
from k8s_topo_mcp.cel.values import Optional, Value, runtime_type
from k8s_topo_mcp.objects.quantity import Quantity

MEMO_LIMIT: Final = 4096


class Program:
    """A selector that the API server would admit.

    Attributes
    ----------
    expression
        Its text.
    conjuncts
        The operands of the top-level `&&`, in source order; one if there is none.
    reads
        What of a device it looks at.
    output
        "bool", or "any"/"dyn" where only the device's values decide.
    """

    def __init__(self, expression: str, environment: Environment, checked: Checked) -> None:
        self.expression = expression
        self.environment = environment
        self.conjuncts: tuple[Conjunct, ...] = conjuncts(expression, checked.root)
        self.reads: Reads = reads_of(checked.root)
        self.output: Type = checked.output
        self._checked = checked
        self._lenient = not environment.recent_cel
        self._lists_are_known = environment.lists_are_known
        self._paths = [(path.kind == "attribute", path.qualified_name, path.domain, path.name) for path in self.reads.paths]
        self._counting = not is_cheap(checked.root)
        compiler = Compiler(checked, self._counting, self._lenient)
        self._whole: Evaluate = compiler.compile(checked.root)
        self._slots = compiler.slots - FIRST_SLOT
        self._parts: list[tuple[Evaluate, int]] | None = None
        self._memo: dict[Any, bool | EvaluationError] = {}
        self._parts_memo: dict[Any, tuple[bool | EvaluationError, ...]] = {}

    def __repr__(self) -> str:
        return f"Program({self.expression!r})"

    def evaluate(self, device: DeviceValues) -> bool | EvaluationError:
        """Whether the device matches, or the error that the allocation ends with."""
        key = self._key(device)
        if key is None:
            return self._evaluated(device)
        found = self._memo.get(key)
        if found is None:
            if len(self._memo) >= MEMO_LIMIT:
                self._memo.clear()
            found = self._memo[key] = self._evaluated(device)
        return found

    def value(self, device: DeviceValues) -> Value | EvaluationError:
        """The value itself, of whatever type, or the error that evaluation ends with."""
        problem = device.problem(self.environment.lists_are_known)
        if problem is not None:
            return problem
        frame = [device.variable(), 0, *[None] * self._slots]
        try:
            return self._whole(frame)
        except (CelError, Abort) as error:
            return error.value()
        except RecursionError:
            return EvaluationError("internal error: the expression nests too deeply to be evaluated here", kind="internal")

    def evaluate_conjuncts(self, device: DeviceValues) -> tuple[bool | EvaluationError, ...]:
        """Each conjunct for itself. Combined (a false beats an error, the first error wins) they are `evaluate`, cost apart."""
        key = self._key(device)
        if key is None:
            return self._evaluated_parts(device)
        found = self._parts_memo.get(key)
        if found is None:
            if len(self._parts_memo) >= MEMO_LIMIT:
                self._parts_memo.clear()
            found = self._parts_memo[key] = self._evaluated_parts(device)
        return found

    def cost(self, device: DeviceValues) -> int:
        """What one evaluation costs in CEL's units, or the limit if it is passed; counted even where it needn't be."""
        compiler = Compiler(self._checked, counting=True, lenient=self._lenient)
        whole = compiler.compile(self._checked.root)
        if device.problem(self._lists_are_known):
            return 0
        frame: Frame = [device.variable(), 0, *[None] * (compiler.slots - FIRST_SLOT)]
        with contextlib.suppress(CelError, Abort):
            whole(frame)
        return int(frame[1])

    def value_of(self, device: DeviceValues, path: Path) -> Value:
        """The device's value at a path as an expression sees it, or None."""
        found = device.lookup(path)
        if found is None or isinstance(found, Quantity):
            return found
        return None if device.problem(self._lists_are_known) else converted(found)

    # --- inside ------------------------------------------------------------------------------------------------------

    def _key(self, device: DeviceValues) -> Any:
        """What the result depends on, or None if that isn't known."""
        if not self.reads.complete:
            return None
        driver = device.driver
        attributes: Mapping[str, Any] = device.attributes
        key: list[Any] = [driver, device.allow_multiple_allocations, device.problem(self._lists_are_known)]
        for is_attribute, qualified, domain, name in self._paths:
            entries: Mapping[str, Any] = attributes if is_attribute else device.capacity
            found = entries.get(qualified)
            if found is None and domain == driver:
                found = entries.get(name)
            if found is None:
                key.append(None)
            elif is_attribute:
                key += (found.kind, found.value)
            else:
                key += (found.mantissa, found.scale, found.decimal)
        return tuple(key)

    def _evaluated(self, device: DeviceValues) -> bool | EvaluationError:
        return self._run(device, self._whole, self._slots, in_conjunction=False)

    def _evaluated_parts(self, device: DeviceValues) -> tuple[bool | EvaluationError, ...]:
        if self._parts is None:
            self._parts = []
            for node in conjunct_nodes(self._checked.root):
                compiler = Compiler(self._checked, self._counting, self._lenient)
                self._parts.append((compiler.compile(node), compiler.slots - FIRST_SLOT))
        alone = len(self._parts) == 1
        return tuple(self._run(device, evaluate, slots, in_conjunction=not alone) for evaluate, slots in self._parts)

    def _run(self, device: DeviceValues, evaluate: Evaluate, slots: int, in_conjunction: bool) -> bool | EvaluationError:
        problem = device.problem(self._lists_are_known)
        if problem is not None:
            return problem
        frame: Frame = [device.variable(), 0, *[None] * slots]
        try:
            value = evaluate(frame)
        except (CelError, Abort) as error:
            return error.value()
        except RecursionError:
            return EvaluationError("internal error: the expression nests too deeply to be evaluated here", kind="internal")
        if value is True or value is False:
            return bool(value)
        if in_conjunction:
            return EvaluationError("no such overload", kind="overload")
        return _as_bool(value)


_NATIVE: Final = {
    "int": "unsupported type conversion from 'int' to bool",
    "uint": "unsupported type conversion from 'uint' to bool",
    "double": "type conversion error from Double to 'bool'",
    "string": "unsupported native conversion from string to 'bool'",
    "bytes": "type conversion error from Bytes to 'bool'",
    "null_type": "type conversion error from 'null_type' to 'bool'",
    "list": "type conversion error from list to 'bool'",
    "map": "type conversion error from map to 'bool'",
    "google.protobuf.Duration": "type conversion error from 'Duration' to 'bool'",
    "google.protobuf.Timestamp": "type conversion error from 'Timestamp' to 'bool'",
    "kubernetes.Quantity": "type conversion error from 'Quantity' to 'bool'",
    "kubernetes.Semver": "type conversion error from 'Semver' to 'bool'",
    "kubernetes.URL": "type conversion error from 'URL' to 'bool'",
    "kubernetes.NamedFormat": "type conversion error from 'Format' to 'bool'",
    "net.IP": "type conversion error from 'IP' to 'bool'",
    "net.CIDR": "type conversion error from 'CIDR' to 'bool'",
    "type": "type conversion not supported for 'type'",
}


def _as_bool(value: Value) -> bool | EvaluationError:
    """The end of DeviceMatches: what isn't a bool is an error."""
    name = runtime_type(value).name
    inner = value
    while type(inner) is Optional:
        if not inner.present:
            why = "optional.none() dereference"
            return EvaluationError(f"CEL result of type {name} could not be converted to bool: {why}", kind="result")
        inner = inner.content
    if type(inner) is bool:
        return inner
    why = _NATIVE[runtime_type(inner).name]
    return EvaluationError(f"CEL result of type {name} could not be converted to bool: {why}", kind="result")


def is_cheap(root: tree.Node) -> bool:
    """Whether no device can make the expression pass the cost limit, so that nothing needs counting."""
    for node in tree.walk(root):
        if isinstance(node, tree.Comprehension):
            return False
        if isinstance(node, tree.Call):
            if (
                node.function not in cost.CHEAP_FUNCTIONS
                and f"{getattr(node.target, 'name', '')}.{node.function}" not in cost.CHEAP_FUNCTIONS
            ):
                return False
            if node.function == "matches" and not isinstance(node.arguments[-1], tree.Literal):
                return False
    return True


@lru_cache(maxsize=2048)
def compile_selector(expression: str, environment: Environment) -> Program | CompileError:
    """Compile a selector as the given release does.

    Returns
    -------
    Program or CompileError
            An error is a value; its message is exactly Go's.
    """
    return compiled(expression, environment, _output_refusal)


def compiled(expression: str, environment: Environment, refusal_of: Callable[[Type, Environment], str | None]) -> Program | CompileError:
    """Compile any expression over a device; `refusal_of` says why its type is refused, None if it isn't."""
    if len(expression.encode("utf-8", "surrogatepass")) > LENGTH_LIMIT:
        text = f"the expression is longer than {LENGTH_LIMIT} bytes, which the API refuses"
        return CompileError(text, text)
    source = Source(expression)
    try:
        root = parse(expression, environment.recent_cel, "@sortByAssociatedKeys" in environment.functions)
        checked = check(root, environment)
        validate(checked)
    except Panic as panic:
        return CompileError(f"panic: {panic}", str(panic))
    except Refused as refused:
        return source.refusal("compilation failed: ", *refused.problems)
    except RecursionError:
        text = f"ERROR: <input>:-1:0: expression recursion limit exceeded: {DEPTH_LIMIT}"
        return CompileError("compilation failed: " + text, f"expression recursion limit exceeded: {DEPTH_LIMIT}")
    refusal = refusal_of(checked.output, environment)
    if refusal:
        return CompileError(refusal, refusal)
    try:
        return Program(expression, environment, checked)
    except Abort as abort:
        text = abort.message.removeprefix("internal error: ")
        return CompileError(f"panic: {text}", text)
    except PlanError as error:
        return CompileError(f"program instantiation failed: {error}", str(error))
    except RecursionError:
        text = f"expression recursion limit exceeded: {DEPTH_LIMIT}"
        return CompileError(text, text)


def _output_refusal(output: Type, environment: Environment) -> str | None:
    if output.kind == "bool" or output == environment.attribute_type:
        return None
    if environment.minor < 37 and output.kind == "any":
        return None
    return f"must evaluate to bool or the unknown type, not {output}"


__all__ = ["Attribute", "Program", "compile_selector"]
