"""A problem without what a cause names, to see what then still keeps every node: a selector with a guard on the key that some devices lack,
or without the selector or constraint that nothing meets.

What blocks without a selector or constraint blocks whatever that is changed to; what blocks behind a guard blocks as long as the rest of
the selector stays as it is.
"""

from __future__ import annotations

from dataclasses import replace

from ..cel import CompileError, compile_selector
from ..dra.prepared import cel_environment
from ..dra.problem import AllocationProblem
from ..objects import DeviceConstraint, DeviceRequest, ExactRequest, ResourceClaim, Selector
from .ground import locate
from .groups import attribute_of
from .list_attributes import of_lists, with_lists
from .report import Cause, MissingKey
from .request_changes import find_constraint
from .selector_changes import find_selector, guarded

ANY = Selector("true")
"""In the place of a selector that goes: the others keep theirs, by which findings name them."""

NO_REQUEST = ("",)
"""What a constraint that goes concerns, so that it keeps its place, too: each request has a name."""


def lifted(problem: AllocationProblem, cause: Cause) -> AllocationProblem | None:
    """The problem without the selector or constraint that the cause names, with a guard in it, or with the lists compared that it doesn't
    compare; None for other causes, and for a selector of a request for all devices that would have to go: without it that asks for others
    too, which whatever the selector is changed to may not."""
    counted, found = cause.funnel, cause.finding
    if counted is None:
        return None
    claim = problem.claims[counted.claim]
    position, request = locate(claim, counted.name)
    match found.code:
        case "SELECTOR_NO_MATCH":
            return _with_selector(problem, claim, position, request, find_selector(found), None)
        case "CEL_KEY_MISSING" | "CEL_ERROR" | "CEL_COMPILE_ERROR":
            if not found.text("selector").startswith("selectors["):
                return None
            index = find_selector(found)
            if found.object is not None and found.object.kind == "DeviceClass":
                return _with_class_selector(problem, request, index, cause.missing)
            return _with_selector(problem, claim, position, request, index, _guarded(problem, request.selectors[index], cause.missing))
        case "FEATURE_OFF" | "RELEASE_MISSES" if of_lists(found):
            return with_lists(problem)
        case "CONSTRAINT_UNSATISFIABLE" | "CONSTRAINT_ATTRIBUTE_MISSING":
            place = find_constraint(claim, found.field)
            if place is None:
                return None
            every = claim.spec.constraints
            constraints = (*every[:place], DeviceConstraint(NO_REQUEST, match_attribute=attribute_of(every[place])), *every[place + 1 :])
            return _with_claim(problem, claim, replace(claim, spec=replace(claim.spec, constraints=constraints)))
        case _:
            return None


def _guarded(problem: AllocationProblem, selector: Selector, missing: MissingKey | None) -> Selector | None:
    """The selector with a guard on the key that some devices have; None where none has it, or where it can't be said: then it has to go."""
    if missing is None or missing.path is None or not missing.having:
        return None
    program = compile_selector(selector.expression or "", cel_environment(problem))
    expression = None if isinstance(program, CompileError) else guarded(program, missing.path)
    return None if expression is None else Selector(expression)


def _with_selector(
    problem: AllocationProblem, claim: ResourceClaim, position: int, request: ExactRequest, index: int, selector: Selector | None
) -> AllocationProblem | None:
    """Another selector in the place of one of a request, or none."""
    if selector is None and request.mode == "All":
        return None
    changed = replace(request, selectors=(*request.selectors[:index], selector or ANY, *request.selectors[index + 1 :]))
    requests = claim.spec.requests
    shape = _with_request(requests[position], request, changed)
    spec = replace(claim.spec, requests=(*requests[:position], shape, *requests[position + 1 :]))
    return _with_claim(problem, claim, replace(claim, spec=spec))


def _with_class_selector(
    problem: AllocationProblem, request: ExactRequest, index: int, missing: MissingKey | None
) -> AllocationProblem | None:
    """The same of the request's class, which others may use too."""
    known = problem.classes[request.class_name]
    selector = _guarded(problem, known.selectors[index], missing)
    everyone = (entry for claim in problem.claims for each in claim.spec.requests for entry in each.alternatives)
    if selector is None and any(entry.mode == "All" and entry.class_name == request.class_name for entry in everyone):
        return None
    changed = replace(known, selectors=(*known.selectors[:index], selector or ANY, *known.selectors[index + 1 :]))
    return replace(problem, classes={**problem.classes, request.class_name: changed})


def _with_request(shape: DeviceRequest, request: ExactRequest, changed: ExactRequest) -> DeviceRequest:
    if not shape.first_available:
        return replace(shape, exactly=changed)
    return replace(shape, first_available=tuple(changed if entry is request else entry for entry in shape.first_available))


def _with_claim(problem: AllocationProblem, claim: ResourceClaim, changed: ResourceClaim) -> AllocationProblem:
    return replace(problem, claims=tuple(changed if entry is claim else entry for entry in problem.claims))
