"""What the claims ask, checked as the allocator checks it before it searches.

Rule: Allocate and validateDeviceRequest in structured/internal/*/allocator_*.go. The first thing that is wrong aborts the attempt, in the
order of claims, requests, then the claim's constraints. Texts are the allocator's own; they reach the user in events.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..objects import MAX_RESULTS, DeviceClass, ExactRequest, ResourceClaim
from .outcome import Abort, Aborted, AbortKind
from .problem import AllocationProblem

MAX_INT = 2**63 - 1


@dataclass(slots=True, eq=False)
class RequestPlan:
    """One request, or one subrequest of it, made ready for the search. `index` counts all plans of the problem.

    `everything` is the fixed list of candidates of an `All` request; None for ExactCount. `meant`: what that list would be, where a defect
    of the release takes another one.
    """

    index: int
    claim: int
    position: int
    request: ExactRequest
    parent: str | None
    device_class: DeviceClass
    count: int = 0
    everything: tuple[int, ...] | None = None
    meant: tuple[int, ...] | None = None

    @property
    def base_name(self) -> str:
        """The name by which constraints know the request."""
        return self.parent if self.parent is not None else self.request.name

    @property
    def subrequest_name(self) -> str | None:
        return self.request.name if self.parent is not None else None

    @property
    def result_name(self) -> str:
        return f"{self.parent}/{self.request.name}" if self.parent is not None else self.request.name


@dataclass(frozen=True, slots=True, eq=False)
class Alternatives:
    """The plans of one request: one, or one per subrequest in order of preference."""

    plans: tuple[RequestPlan, ...]
    first_available: bool


def claim_text(claim: ResourceClaim) -> str:
    """As klog.KObj prints it."""
    return claim.full_name


def abort(kind: AbortKind, claim_index: int, message: str, request: str = "", device: str = "") -> Abort:
    return Abort(Aborted(message, kind, claim_index, request, device))


def plan_request(
    problem: AllocationProblem, index: int, claim_index: int, position: int, request: ExactRequest, parent: str | None
) -> RequestPlan:
    """Check one request or subrequest; raises Abort with the allocator's text."""
    claim = problem.claims[claim_index]
    where = f"claim {claim_text(claim)}, request {request.name}"
    if request.derived_attributes and problem.minor >= 37 and "DerivedAttributes" not in problem.features:
        raise abort(
            "feature off", claim_index, f"{where}: cannot handle request with derived attributes, the feature is disabled", request.name
        )
    for number, selector in enumerate(request.selectors):
        if selector.expression is None:
            raise abort(
                "unsupported", claim_index, f"{where}, selector #{number}: CEL expression empty (unsupported selector type?)", request.name
            )
    if request.admin_access and "AdminAccess" not in problem.features:
        raise abort("feature off", claim_index, f"{where}: admin access is requested, but the feature is disabled", request.name)
    if not request.class_name:
        raise abort("unsupported", claim_index, f"{where}: missing device class name (unsupported request type?)", request.name)
    device_class = problem.classes.get(request.class_name)
    if device_class is None:
        raise abort(
            "class missing",
            claim_index,
            f'{where}: could not retrieve device class {request.class_name}: deviceclass.resource.k8s.io "{request.class_name}" not found',
            request.name,
        )
    plan = RequestPlan(index, claim_index, position, request, parent, device_class)
    if request.mode == "ExactCount":
        if request.count > MAX_INT:
            raise abort("limit", claim_index, f"{where}: exact count {request.count} is too large", request.name)
        plan.count = request.count
    elif request.mode != "All":
        raise abort("unsupported", claim_index, f"{where}: unsupported count mode {request.mode}", request.name)
    return plan


def check_features(problem: AllocationProblem, claim_index: int, position: int) -> None:
    """Refusals of a whole request because a feature is off."""
    claim = problem.claims[claim_index]
    request = claim.spec.requests[position]
    where = f"claim {claim_text(claim)}"
    if request.first_available and "PrioritizedList" not in problem.features:
        raise abort(
            "feature off",
            claim_index,
            f"{where}, request {request.name}: has subrequests, but the DRAPrioritizedList feature is disabled",
            request.name,
        )
    if "ConsumableCapacity" not in problem.features and problem.variant is not None and problem.variant.shares:
        if request.exactly is not None and request.exactly.capacity is not None:
            raise abort(
                "feature off",
                claim_index,
                f"{where}, request {request.name}: has capacity requests, but the DRAConsumableCapacity feature is disabled",
                request.name,
            )
        for subrequest in request.first_available:
            if subrequest.capacity is not None and problem.minor == 34:
                raise abort(
                    "feature off",
                    claim_index,
                    f"{where}, request {request.name}: has capacity requests, but the DRAConsumableCapacity feature is disabled",
                    request.name,
                )
            if subrequest.capacity is not None:
                raise abort(
                    "feature off",
                    claim_index,
                    f"{where}, subrequest {subrequest.name}: has capacity requests, but the DRAConsumableCapacity feature is disabled",
                    request.name,
                )


def check_limit(problem: AllocationProblem, claim_index: int, request: str, asked: int, before: int) -> None:
    """1.37 checks the limit of 32 results request by request."""
    if problem.minor >= 37 and asked > MAX_RESULTS - before:
        claim = claim_text(problem.claims[claim_index])
        raise abort(
            "limit",
            claim_index,
            f"claim {claim}, request {request}: adding {asked} devices exceeds the claim limit of {MAX_RESULTS}, "
            f"with {before} already accounted for",
            request,
        )


def check_claim_limit(problem: AllocationProblem, claim_index: int, asked: int) -> None:
    """Up to 1.36 the limit is checked for the claim as a whole."""
    if problem.minor < 37 and asked > MAX_RESULTS:
        claim = claim_text(problem.claims[claim_index])
        raise abort("limit", claim_index, f"claim {claim}: number of requested devices {asked} exceeds the claim limit of {MAX_RESULTS}")


def check_constraints(problem: AllocationProblem, claim_index: int) -> None:
    claim = problem.claims[claim_index]
    for number, constraint in enumerate(claim.spec.constraints):
        known = constraint.match_attribute is not None or (
            constraint.distinct_attribute is not None and problem.variant is not None and problem.variant.shares
        )
        if not known:
            raise abort(
                "unsupported",
                claim_index,
                f"claim {claim_text(claim)}, constraint #{number}: empty constraint (unsupported constraint type?)",
            )
