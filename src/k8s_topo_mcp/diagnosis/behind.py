"""What would still keep a pod away once its first blocker is gone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..dra.allocation import allocate, node_groups
from ..dra.outcome import Unallocatable
from ..dra.problem import AllocationProblem
from ..findings import Finding
from ..objects import DeviceClass, DeviceRequest, ExactRequest, ObjectRef, Pod, ResourceClaim
from ..scheduling.placement import Placement, place
from ..view import ClusterView
from . import list_attributes
from .cause import find_cause, nearest_nodes, reasons_against, refused
from .classes import class_created, stands_in
from .ground import locate
from .proposals import with_pod
from .report import Cause
from .request_changes import find_constraint
from .shortages import device_cause

MOST = 4
"""Findings that are told."""

MADE_BY_CONTROLLER = frozenset({"CLAIM_NOT_CREATED", "TEMPLATE_MISSING"})
"""Causes of which the layer of claims speaks."""


def behind(view: ClusterView, pod: Pod, placement: Placement, cause: Cause | None) -> tuple[Finding, ...]:
    """What is found behind the cause, one of each code, in order."""
    if cause is None:
        return ()
    if cause.finding.code == "CLASS_MISSING":
        found = _behind_a_class(view, pod, cause.finding.text("device_class"))
    elif cause.finding.code == "CLAIM_NOT_CREATED":
        found = _behind_a_claim(view, pod)
    elif refused(placement, cause):
        found = _behind_filters(view, placement, cause)
    else:
        found = _behind_devices(view, placement, cause)
    first: dict[str, Finding] = {}
    for entry in found:
        first.setdefault(entry.code, entry)
    return tuple(first.values())[:MOST]


def _behind_filters(view: ClusterView, placement: Placement, cause: Cause) -> Iterator[Finding]:
    """Later reasons against the nodes that the blocker keeps the pod from, then their devices."""
    nearest = nearest_nodes(refused(placement, cause))
    for entry in nearest:
        yield from (*reasons_against(entry)[1:], *entry.elsewhere)
    problem = placement.devices.problem
    if problem is not None and all(isinstance(entry.outcome, Unallocatable) for entry in nearest):
        yield device_cause(view, problem, [entry.target for entry in nearest], len(placement.nodes)).finding


def _behind_a_class(view: ClusterView, pod: Pod, name: str) -> Iterator[Finding]:
    """What the pod meets once the class is created, where it is known what that would select; unless another class was meant."""
    if any(stands_in(name, None, entry) for entry in view.all(DeviceClass)):
        return
    for change in class_created(view, name):
        edited = view.with_edits(*change.edits)
        cause = find_cause(edited, place(edited, edited.current(pod) or pod))
        if cause is not None:
            yield cause.finding


def _behind_a_claim(view: ClusterView, pod: Pod) -> Iterator[Finding]:
    """What the pod meets once its claims are generated."""
    edited, made = with_pod(view, pod, [])
    cause = find_cause(edited, place(edited, made))
    if cause is None or cause.finding.code in MADE_BY_CONTROLLER:
        return
    found, about = cause.finding, cause.finding.object
    imagined = [entry for entry in pod.resource_claims if made.claim_name_for(entry) != pod.claim_name_for(entry)]
    entry = next((entry for entry in imagined if about is not None and made.claim_name_for(entry) == about.name), None)
    if about is not None and about.kind == "ResourceClaim" and entry is not None and entry.template_name is not None:
        # The claim is only imagined; what would have to change is its template.
        template = ObjectRef("ResourceClaimTemplate", pod.namespace, entry.template_name)
        found = replace(found, object=template, field=f"spec.{found.field}" if found.field else "")
    yield found


def _behind_devices(view: ClusterView, placement: Placement, cause: Cause) -> Iterator[Finding]:
    """What devices lack beside the selector or constraint that is the cause: what blocks without it blocks whatever it is changed to."""
    problem = placement.devices.problem
    targets = [entry.target for entry in placement.opened if not entry.elsewhere and entry.outcome is not None]
    lifted = _lifted(problem, cause) if problem is not None and placement.devices.extended is None and targets else None
    if lifted is None:
        return
    if all(isinstance(allocate(lifted, group[0]), Unallocatable) for group in node_groups(lifted, targets)):
        yield device_cause(view, lifted, targets, len(placement.nodes)).finding


def _lifted(problem: AllocationProblem, cause: Cause) -> AllocationProblem | None:
    """The problem without the selector or constraint that the cause names, or with the lists compared that it doesn't compare; None for
    other causes, and for a selector of a request for all devices: without it that asks for others too, which whatever the selector is
    changed to may not."""
    counted, found = cause.funnel, cause.finding
    if counted is None:
        return None
    claim = problem.claims[counted.claim]
    spec = claim.spec
    match found.code:
        case "SELECTOR_NO_MATCH":
            position, request = locate(claim, counted.name)
            if request.mode == "All":
                return None
            index = int(found.text("selector").removeprefix("selectors[").rstrip("]"))
            fewer = replace(request, selectors=(*request.selectors[:index], *request.selectors[index + 1 :]))
            shape = _with(spec.requests[position], request, fewer)
            spec = replace(spec, requests=(*spec.requests[:position], shape, *spec.requests[position + 1 :]))
        case "FEATURE_OFF" if found.text("feature") == list_attributes.GATE:
            return list_attributes.with_lists(problem)
        case "CONSTRAINT_UNSATISFIABLE" | "CONSTRAINT_ATTRIBUTE_MISSING":
            constraint = find_constraint(claim, found.field)
            if constraint is None:
                return None
            spec = replace(spec, constraints=(*spec.constraints[:constraint], *spec.constraints[constraint + 1 :]))
        case _:
            return None
    return replace(problem, claims=_in_place(problem.claims, claim, replace(claim, spec=spec)))


def _with(shape: DeviceRequest, request: ExactRequest, changed: ExactRequest) -> DeviceRequest:
    if not shape.first_available:
        return replace(shape, exactly=changed)
    return replace(shape, first_available=tuple(changed if entry is request else entry for entry in shape.first_available))


def _in_place(claims: tuple[ResourceClaim, ...], claim: ResourceClaim, changed: ResourceClaim) -> tuple[ResourceClaim, ...]:
    return tuple(changed if entry is claim else entry for entry in claims)
