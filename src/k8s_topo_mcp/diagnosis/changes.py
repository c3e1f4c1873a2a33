"""Where changes start from: a request of a claim, how an edit of it is written, and how it is applied.

How to apply follows the API server's rules: the specs of claims and templates are immutable, so a claim is deleted and made again under its
name (the pod may stay), a template is replaced and its pod made again. A DeviceClass can be edited and is read at the next attempt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..cel import CompileError, Program, compile_selector
from ..dra.prepared import Prepared
from ..dra.problem import TargetNode
from ..objects import ClaimSpec, DeviceConstraint, DeviceRequest, ExactRequest, Node, Pod, ResourceClaim, Selector
from ..view import ClusterView, Edit, Replace
from .report import Change


def claim_apply(pod: Pod | None, claim: ResourceClaim) -> str:
    """How a claim's spec is changed."""
    template = template_of(pod, claim) if pod is not None else None
    if template is None:
        return f"claim spec is immutable: delete and re-create ResourceClaim {claim.full_name} under the same name; the pod may stay"
    owner = pod.metadata.controller if pod is not None else None
    again = f"its {owner.kind} makes a new one" if owner is not None else "then create it again"
    return (
        f"template spec is immutable: replace ResourceClaimTemplate {claim.namespace}/{template} (delete and re-create), "
        f"then delete the pod; {again}"
    )


def pod_apply(pod: Pod) -> str:
    """How a pod's spec is changed."""
    owner = pod.metadata.controller
    return (
        f"change the pod template of {owner.kind} {owner.name}"
        if owner is not None
        else "pod spec is immutable: delete and re-create the pod"
    )


def template_of(pod: Pod, claim: ResourceClaim) -> str | None:
    """The template from which the pod's claim was generated."""
    for entry in pod.resource_claims:
        if entry.template_name is not None and pod.claim_name_for(entry) == claim.name:
            return entry.template_name
    return None


@dataclass(frozen=True, slots=True, eq=False)
class Around:
    """What changes are proposed for: one request of one claim of a pod, and the nodes where devices decide."""

    view: ClusterView
    pod: Pod | None
    claim: ResourceClaim
    position: int
    request: ExactRequest
    prepared: Prepared
    nodes: Sequence[TargetNode]
    objects: Sequence[Node]

    @property
    def apply(self) -> str:
        """How the claim is changed."""
        return claim_apply(self.pod, self.claim)

    @property
    def base(self) -> str:
        """Where the request stands."""
        return self.claim.spec.path_of(self.position, self.request)

    def with_request(self, request: ExactRequest) -> tuple[Edit, ...]:
        """The claim with this request in place of the one in question."""
        requests = list(self.claim.spec.requests)
        shape = requests[self.position]
        if shape.first_available:
            alternatives = tuple(request if entry is self.request else entry for entry in shape.first_available)
            requests[self.position] = replace(shape, first_available=alternatives)
        else:
            requests[self.position] = replace(shape, exactly=request)
        return self.with_requests(requests)

    def with_requests(self, requests: Sequence[DeviceRequest]) -> tuple[Edit, ...]:
        """The claim with these requests."""
        return self.with_spec(replace(self.claim.spec, requests=tuple(requests)))

    def with_constraints(self, constraints: Sequence[DeviceConstraint]) -> tuple[Edit, ...]:
        """The claim with these constraints."""
        return self.with_spec(replace(self.claim.spec, constraints=tuple(constraints)))

    def with_spec(self, spec: ClaimSpec) -> tuple[Edit, ...]:
        """The claim with this spec."""
        return (Replace(replace(self.claim, spec=spec)),)

    def change(self, text: str, field: str, before: str, after: str, edits: tuple[Edit, ...], keeps: bool = False) -> Change:
        """A change of the claim; `field` is below the request's path if it starts with a dot, the request itself if it is ""."""
        path = self.base + field if field.startswith(".") or not field else field
        return Change(text, self.claim.ref, path, before, after, edits, keeps, self.apply)

    def selector(self, index: int, expression: str | None, text: str, keeps: bool, vain: str = "") -> Change:
        """Selector `index` with another expression, or without it."""
        selectors = list(self.request.selectors)
        before = selectors[index].expression or ""
        field = f".selectors[{index}]" + ("" if expression is None else ".cel.expression")
        if expression is None:
            del selectors[index]
        else:
            selectors[index] = Selector(expression)
        edits = self.with_request(replace(self.request, selectors=tuple(selectors)))
        return replace(self.change(text, field, before, expression or "", edits, keeps), vain=vain)

    def program(self, index: int) -> Program | None:
        """Selector `index`, compiled."""
        found = compile_selector(self.request.selectors[index].expression or "", self.prepared.environment)
        return None if isinstance(found, CompileError) else found
