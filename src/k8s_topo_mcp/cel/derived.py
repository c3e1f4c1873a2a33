"""Derived attributes: an expression whose value stands in for a published attribute (KEP 6080, alpha in 1.37).

Source: EvaluateDerivedAttribute and valToDeviceAttribute in k8s.io/dynamic-resource-allocation/cel/compile.go. The result is a scalar that
an attribute can have, or a list of such.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, cast

from k8s_topo_mcp.cel.device import DeviceValues
from k8s_topo_mcp.cel.environment import Environment
from k8s_topo_mcp.cel.errors import CompileError, EvaluationError
from k8s_topo_mcp.cel.program import Program, compiled
from k8s_topo_mcp.cel.types import Type
from k8s_topo_mcp.cel.values import Value, runtime_type
from k8s_topo_mcp.objects.resource_slice import Attribute
from k8s_topo_mcp.objects.semver import SemVer

_SCALARS: Final = frozenset({"bool", "int", "string", "any", "dyn", "kubernetes.Semver"})
_LISTS: Final = {"bool": "bools", "int": "ints", "string": "strings", "version": "versions"}
_WORDS: Final = {"bool": "bool", "int": "int", "string": "string", "version": "semver"}


@lru_cache(maxsize=1024)
def compile_derived_attribute(expression: str, environment: Environment) -> Program | CompileError:
    """Compile the expression of a derived attribute; an error is a value."""
    return compiled(expression, environment, _refusal)


def derived_attribute(program: Program, device: DeviceValues) -> Attribute | EvaluationError:
    """The attribute that a device has by this expression."""
    value = program.value(device)
    if isinstance(value, EvaluationError):
        return value
    kind = _kind(value)
    if kind is not None:
        return Attribute(kind, str(value) if isinstance(value, SemVer) else value)  # type: ignore[arg-type]
    if not isinstance(value, list):
        return EvaluationError(f"unsupported CEL return type: {runtime_type(value).name}", kind="result")
    if not value:
        return Attribute("strings", ())
    entries = cast("list[Value]", value)
    first = _kind(entries[0])
    if first is None:
        return EvaluationError(f"unsupported list element type: {runtime_type(entries[0]).name}", kind="result")
    for index, entry in enumerate(entries):
        if _kind(entry) != first:
            text = f"expected list element at index {index} to be {_WORDS[first]}, got {runtime_type(entry).name}"
            return EvaluationError(text, kind="result")
    return Attribute(_LISTS[first], tuple(str(entry) if isinstance(entry, SemVer) else entry for entry in entries))  # type: ignore[arg-type]


def _kind(value: Value) -> str | None:
    if type(value) is bool:
        return "bool"
    if type(value) is int:
        return "int"
    if type(value) is str:
        return "string"
    return "version" if isinstance(value, SemVer) else None


def _refusal(output: Type, environment: Environment) -> str | None:
    name = str(output)
    if name in _SCALARS or (name.startswith("list(") and name[5:-1] in _SCALARS):
        return None
    return f"must evaluate to a primitive scalar (string, integer, boolean, semver) or a list of these scalars, not {output}"
