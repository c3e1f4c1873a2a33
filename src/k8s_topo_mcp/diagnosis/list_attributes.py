"""Attributes that are lists, where the scheduler's constraints compare no lists: to them a list is equal to nothing.

The API server keeps such attributes with its own gate DRAListTypeAttributes on; what kube-scheduler compares follows its own. Source:
`lookupAttribute` and the constraints of structured/internal/*; the 1.36 scheduler hands the gate to selectors alone
(pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go of v1.36.3, AllocatorFeatures).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from ..dra import constraints
from ..dra.allocation import allocate
from ..dra.features import LISTS, LISTS_FOR_CEL_ALONE, LISTS_GATE
from ..dra.funnel import Screened
from ..dra.outcome import Allocated
from ..dra.problem import NOTHING_HELD, AllocationProblem
from ..dra.variants import variant
from ..findings import Finding, finding
from ..objects import ObjectRef
from .ground import Ground

NAMED = 4


def lists_not_compared(ground: Ground, devices: Iterable[Screened], attribute: str, about: ObjectRef, field: str) -> Finding | None:
    """That a constraint fails only for the lists that the scheduler doesn't compare: with them the claims would fit somewhere, at least
    once nothing is held. None where that isn't so."""
    problem = ground.problem
    derived = any(own.name == attribute for each in ground.funnels for entry in each for own in entry.request.derived_attributes)
    if LISTS in problem.features or not (derived or any(_is_list(entry, attribute) for entry in devices)):
        return None
    comparing = with_lists(problem)
    tries = (comparing, replace(comparing, in_use=NOTHING_HELD))
    nodes = next((fits for each in tries if (fits := tuple(islice(_fitting(ground, each), NAMED)))), ())
    if not nodes:
        return None
    if problem.minor == LISTS_FOR_CEL_ALONE:
        effect = f"its scheduler tells selectors alone of {LISTS_GATE}; to a constraint a list of values is equal to nothing"
        return finding("RELEASE_MISSES", about, field, nodes=nodes, defects=(), effect=effect)
    return replace(finding("FEATURE_OFF", about, field, feature=LISTS_GATE), only_refuses=True)


def of_lists(found: Finding) -> bool:
    """Whether a finding is one of `lists_not_compared`: other solutions that a release misses are missed by a defect."""
    if found.code == "RELEASE_MISSES":
        return not found.values["defects"]
    return found.code == "FEATURE_OFF" and found.text("feature") == LISTS_GATE


def with_lists(problem: AllocationProblem) -> AllocationProblem:
    """The problem as a scheduler that compares lists has it."""
    features = problem.features | {LISTS}
    return replace(problem, features=features, variant=variant(problem.minor, features), cel_lists=True)


def _fitting(ground: Ground, problem: AllocationProblem) -> Iterator[str]:
    return (node.name for node in ground.kinds if isinstance(allocate(problem, node), Allocated))


def _is_list(entry: Screened, attribute: str) -> bool:
    found = entry.device.attribute(attribute, entry.pool.driver)
    return found is not None and found.kind in constraints.LIST_KINDS
