"""The CEL language as Kubernetes runs it for devices: what a selector means, release by release.

`compile_selector` gives a `Program` or a `CompileError`; a program gives true, false or an `EvaluationError`. Nothing here
raises for an expression or a device, whatever they hold.
"""

from __future__ import annotations

from k8s_topo_mcp.cel.derived import compile_derived_attribute, derived_attribute
from k8s_topo_mcp.cel.device import Attribute, DeviceValues
from k8s_topo_mcp.cel.environment import LENGTH_LIMIT, Environment
from k8s_topo_mcp.cel.errors import NO_SUCH_KEY_HINT, CompileError, EvaluationError
from k8s_topo_mcp.cel.program import Program, compile_selector
from k8s_topo_mcp.cel.reads import Comparison, Conjunct, Path, Reads, Span

__all__ = [
    "LENGTH_LIMIT",
    "NO_SUCH_KEY_HINT",
    "Attribute",
    "Comparison",
    "CompileError",
    "Conjunct",
    "DeviceValues",
    "Environment",
    "EvaluationError",
    "Path",
    "Program",
    "Reads",
    "Span",
    "compile_derived_attribute",
    "compile_selector",
    "derived_attribute",
]
