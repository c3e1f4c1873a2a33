"""What constraints read of a device: a published attribute, or one that the request derives by CEL (KEP 6080, alpha in 1.37).

Rule: lookupAttribute in structured/internal/*. The fully qualified name first; if its domain is the driver's, the bare name. A derived
attribute of the request stands before both; an error in it is fatal where the search meets it.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..cel import CompileError, Environment, EvaluationError, compile_derived_attribute, derived_attribute
from ..objects import Attribute, ResourceSlice
from ..view import derived
from .bindings import NOT_YET, unknown_attributes
from .outcome import Abort, Aborted, Unknown
from .problem import AllocationProblem
from .requests import RequestPlan
from .selectors import slice_values, unknown_reads

Found = Attribute | EvaluationError | CompileError | tuple[str, ...] | None
"""Names: attributes that its value depends on, whose own values aren't known yet."""


@dataclass(frozen=True, slots=True)
class Reader:
    """One thing that a constraint may read: an attribute by name, or the expression that stands for it."""

    name: str
    expression: str | None
    environment: Environment

    def read(self, entry: ResourceSlice) -> tuple[Found, ...]:
        """Its value on every device of a slice; kept with the slice."""
        return derived(entry, ("attribute", self), lambda: self._read(entry))

    def _read(self, entry: ResourceSlice) -> tuple[Found, ...]:
        if self.expression is None:
            return tuple(device.attribute(self.name, entry.driver) for device in entry.devices)
        program = compile_derived_attribute(self.expression, self.environment)
        if isinstance(program, CompileError):
            return (program,) * len(entry.devices)
        found = tuple(derived_attribute(program, values) for values in slice_values(entry))
        if not entry.bindings:
            return found
        unknown = (unknown_reads(program.reads, names) for names in unknown_attributes(entry))
        return tuple(names or value for names, value in zip(unknown, found, strict=True))


def readers_of(problem: AllocationProblem, environment: Environment) -> tuple[Reader, ...]:
    """Everything that the problem's constraints may read, in a fixed order."""
    names: set[str] = set()
    for claim in problem.claims:
        for constraint in claim.spec.constraints:
            names.update(name for name in (constraint.match_attribute, constraint.distinct_attribute) if name is not None)
    expressions = {
        (entry.name, entry.expression)
        for claim in problem.claims
        for request in claim.spec.requests
        for alternative in request.alternatives
        for entry in alternative.derived_attributes
        if entry.name in names
    }
    return (
        *(Reader(name, None, environment) for name in sorted(names)),
        *(Reader(name, expression, environment) for name, expression in sorted(expressions)),
    )


def look_up(plan: RequestPlan, environment: Environment, entry: ResourceSlice, place: int, name: str) -> Attribute | None:
    """The attribute of one device for one request. Raises Abort with the allocator's text where a derived one fails."""
    expression = next((own.expression for own in plan.request.derived_attributes if own.name == name), None)
    found = Reader(name, expression, environment).read(entry)[place]
    if found is None or isinstance(found, Attribute):
        return found
    if isinstance(found, tuple):
        raise Abort(Unknown(f"derived attribute {name} reads {' and '.join(found)}, which {NOT_YET}"))
    device = f"{entry.driver}/{entry.pool}/{entry.devices[place].name}"
    if isinstance(found, CompileError):
        text = f"compile derived attribute {name} failed: {found.message}"
    else:
        text = f"evaluate derived attribute {name} on device {device} failed: {found.message}"
    raise Abort(Aborted(text, "derived", plan.claim, plan.result_name, device))
