"""What of a problem doesn't depend on the node, and what is kept of it: the pools that each node sees, the selectors of the requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..cel import Environment
from .outcome import Unknown
from .pools import Pool, counters_everywhere, gather_pools
from .problem import AllocationProblem, TargetNode
from .selectors import SelectorChain, chain
from .unmodelled import not_modelled


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """What of a problem doesn't depend on the node."""

    problem: AllocationProblem
    environment: Environment
    ordered: bool
    unknown: Unknown | None
    pools: dict[str, tuple[Mapping[str, str], tuple[Pool, ...]]]
    """By node: its labels, and the pools that it then sees. Which these are depends on nothing else, so they are kept with the slices."""


def prepare(problem: AllocationProblem) -> Prepared:
    environment = cel_environment(problem)
    unknown = not_modelled(problem)
    if unknown is None and problem.variant is None:
        unknown = Unknown(f"no variant of the 1.{problem.minor} allocator supports these gates together")
    question = (problem.minor, problem.features, problem.variant)
    inventory = problem.inventory
    if counters_everywhere(problem.minor, problem.variant):
        pools = inventory.kept_by_node.setdefault(question, {})
    else:
        pools = inventory.kept_by_own_node.setdefault(question, {})
    return Prepared(problem, environment, problem.variant is not None and problem.variant.ordered, unknown, pools)


def cel_environment(problem: AllocationProblem) -> Environment:
    return Environment(
        problem.minor,
        list_attributes=problem.cel_lists,
        consumable_capacity="ConsumableCapacity" in problem.features,
    )


def pools_of(prepared: Prepared, node: TargetNode) -> tuple[Pool, ...]:
    found = prepared.pools.get(node.name)
    if found is None or found[0] is not node.labels:
        problem = prepared.problem
        if found is not None and _whatever_the_labels(problem, node):
            pools = found[1]
        else:
            pools = gather_pools(problem.inventory, node, problem.minor, problem.features, problem.variant)
        found = prepared.pools[node.name] = (node.labels, pools)
    return found[1]


def _whatever_the_labels(problem: AllocationProblem, node: TargetNode) -> bool:
    """Whether every slice that could be for the node names its nodes, so that no selector decides."""
    inventory = problem.inventory
    if inventory.shared or inventory.named_counters:
        return False
    return not any(entry.per_device_node_selection for entry in inventory.by_node.get(node.name, ()))


def chains_of(prepared: Prepared) -> tuple[SelectorChain, ...]:
    """The selectors of all requests whose class exists, in order."""
    problem = prepared.problem
    found: list[SelectorChain] = []
    for claim in problem.claims:
        for request in claim.spec.requests:
            for exact in request.alternatives:
                device_class = problem.classes.get(exact.class_name)
                if device_class is not None:
                    found.append(chain(prepared.environment, device_class, exact.selectors))
    return tuple(found)
