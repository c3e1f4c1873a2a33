"""What of devices claims read by themselves: nodes that are alike in as much or more are alike to them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from ..dra.problem import AllocationProblem
from ..objects import DeviceConstraint
from .groups import attribute_of

USUAL = frozenset({"resource.kubernetes.io/numaNode", "resource.kubernetes.io/pcieRoot"})
"""Attributes that changes often compare: nodes are divided by them at once."""

Reads = tuple[frozenset[Hashable], frozenset[str]]


def reading(problem: AllocationProblem, attributes: frozenset[str]) -> AllocationProblem:
    """A problem that reads these attributes too, to divide nodes by."""
    first = problem.claims[0]
    constraints = (*first.spec.constraints, *(DeviceConstraint((), match_attribute=name) for name in sorted(attributes)))
    claim = replace(first, spec=replace(first.spec, constraints=constraints))
    return replace(problem, claims=(claim, *problem.claims[1:]))


def reads_of(problem: AllocationProblem) -> Reads:
    """What of devices the claims read by themselves: selectors with their class, and attributes that constraints compare."""
    selectors = frozenset(
        (entry.class_name, tuple(selector.expression for selector in entry.selectors), entry.derived_attributes)
        for claim in problem.claims
        for request in claim.spec.requests
        for entry in request.alternatives
    )
    return selectors, frozenset(attribute_of(constraint) for claim in problem.claims for constraint in claim.spec.constraints)
