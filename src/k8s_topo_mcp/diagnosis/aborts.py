"""Errors that end a whole scheduling attempt: which selector, request or pool raises them, and what is published instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..cel import Comparison, CompileError, EvaluationError
from ..dra.funnel import Funnel, funnel
from ..dra.outcome import Aborted, SelectorFailure
from ..dra.prepared import Prepared, prepare
from ..dra.problem import AllocationProblem, TargetNode
from ..findings import Finding, finding
from ..objects import MAX_RESULTS, ExactRequest, ResourceClaim
from .ground import locate
from .missing_keys import missing_key
from .nearest import Values, failing_comparison, near_miss
from .report import Cause

GATES = (
    ("subrequests", "DRAPrioritizedList"),
    ("capacity requests", "DRAConsumableCapacity"),
    ("admin access", "DRAAdminAccess"),
    ("derived attributes", "DRADerivedAttributes"),
)
"""What a refusal speaks of, and the gate that it is about."""


def abort_cause(problem: AllocationProblem, outcome: Aborted, nodes: Sequence[TargetNode], total: int) -> Cause:
    """The fatal error that ends the attempt, with what is published."""
    prepared = prepare(problem)
    claim = problem.claims[outcome.claim]
    position, request = locate(claim, outcome.request)
    base = claim.spec.path_of(position, request)
    known = request.class_name in problem.classes
    counted = funnel(prepared, nodes, outcome.claim, request, outcome.request or request.name) if known else None
    if outcome.failure is not None:
        return _selector_cause(prepared, outcome, outcome.failure, request, claim, base, Cause(_NONE, len(nodes), total, counted), nodes)
    found = _refusal(problem, outcome, claim, request, base)
    return Cause(found, len(nodes), total, counted, order=found.code == "ALL_CONSTRAINT" and len(claim.spec.requests) > 1)


_NONE = finding("REQUEST_NOT_SUPPORTED", None, problem="")


def _refusal(problem: AllocationProblem, outcome: Aborted, claim: ResourceClaim, request: ExactRequest, base: str) -> Finding:
    """An error that no selector raises."""
    match outcome.kind:
        case "all: pool":
            state = "incomplete" if "being updated" in outcome.message else "invalid"
            pool = outcome.message.rpartition("resource pool ")[2].partition(" is currently")[0]
            return finding("ALL_POOL_UNUSABLE", claim.ref, base, pool=pool, state=state)
        case "all: constraint":
            return finding("ALL_CONSTRAINT", claim.ref, base, device=outcome.device)
        case "limit":
            asked = sum(min((entry.count for entry in each.alternatives), default=0) for each in claim.spec.requests)
            return finding("TOO_MANY_RESULTS", claim.ref, "spec.devices.requests", asked=asked, limit=MAX_RESULTS)
        case "feature off":
            gate = next((gate for words, gate in GATES if words in outcome.message), outcome.message)
            return finding("FEATURE_OFF", claim.ref, base, feature=gate)
        case "class missing":
            near = tuple(sorted(problem.classes))[:3]
            field = f"{base}.deviceClassName"
            return finding("CLASS_MISSING", claim.ref, field, request=outcome.request, device_class=request.class_name, nearest=near)
        case "derived":
            index, own = next(
                (index, own) for index, own in enumerate(request.derived_attributes) if f"derived attribute {own.name} " in outcome.message
            )
            name, field, text = (
                f"derivedAttributes[{index}]",
                f"{base}.derivedAttributes[{index}]",
                outcome.message.partition(" failed: ")[2],
            )
            return finding("CEL_ERROR", claim.ref, field, selector=name, expression=own.expression, error=text, device=outcome.device)
        case "capacity":
            problem_text = f"device {outcome.message.partition('checking capacity for device ')[2]}"
            return finding("CAPACITY_NOT_REPRESENTABLE", claim.ref, f"{base}.capacity.requests", problem=problem_text)
        case "invalid pool":
            pool, _, reason = outcome.message.removeprefix("pool ").partition(" is invalid: ")
            return finding("POOL_INVALID", claim.ref, base, pool=pool, reason=reason)
        case "panic":
            return finding("SCHEDULER_CRASH", claim.ref, base, error=outcome.message)
        case _:
            return finding("REQUEST_NOT_SUPPORTED", claim.ref, base, problem=outcome.message)


def _selector_cause(
    prepared: Prepared,
    outcome: Aborted,
    failure: SelectorFailure,
    request: ExactRequest,
    claim: ResourceClaim,
    base: str,
    cause: Cause,
    nodes: Sequence[TargetNode],
) -> Cause:
    """A selector of the class or of the request that fails."""
    device_class = prepared.problem.classes[request.class_name]
    in_class = failure.source == "class"
    about = device_class.ref if in_class else claim.ref
    field = f"spec.selectors[{failure.index}]" if in_class else f"{base}.selectors[{failure.index}]"
    selector = (device_class.selectors if in_class else request.selectors)[failure.index]
    expression = selector.expression or ""
    name = f"selectors[{failure.index}]"
    if isinstance(failure.error, CompileError):
        found = finding("CEL_COMPILE_ERROR", about, field, selector=name, expression=expression, error=failure.error.message)
        return replace(cause, finding=found)
    error: EvaluationError = failure.error
    if not error.key:
        found = finding("CEL_ERROR", about, field, selector=name, expression=expression, error=error.message, device=outcome.device)
        return replace(cause, finding=found)
    key = missing_key(prepared, expression, error.key, nodes, request, None if in_class else failure.index)
    compared = None if in_class else _compared_in_vain(cause.funnel, prepared, request, failure.index, nodes)
    found = finding("CEL_KEY_MISSING", about, field, selector=name, expression=expression, key=error.key, having=key.having, of=key.of)
    return replace(cause, finding=found, missing=key, near=near_miss(*compared) if compared is not None else None)


def _compared_in_vain(
    counted: Funnel | None, prepared: Prepared, request: ExactRequest, index: int, nodes: Sequence[TargetNode]
) -> tuple[Comparison, Values] | None:
    """What a selector compares with what the devices publish that have it, where it is met by none of these either."""
    passing = (
        None if counted is None else next((stage for stage in counted.stages if (stage.kind, stage.index) == ("selector", index)), None)
    )
    return failing_comparison(prepared, nodes, request, index) if passing is not None and not passing.left else None
