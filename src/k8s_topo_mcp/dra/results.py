"""The allocation that a claim's status would get: devices, shares, and where they can be used together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..objects import Allocation, DeviceResult, NodeSelector, NodeSelectorTerm, Requirement
from .candidates import Candidate, Candidates
from .pools import Pool
from .problem import AllocationProblem, TargetNode
from .search import Pick


def allocation_of(problem: AllocationProblem, picks: Sequence[Pick], candidates: Candidates, node: TargetNode) -> Allocation:
    results: list[DeviceResult] = []
    chosen: list[Candidate] = []
    binding = bool({"DeviceBindingAndStatus", "DeviceBinding"} & problem.features)
    for plan, index, consumed in picks:
        candidate = candidates.all[index]
        chosen.append(candidate)
        results.append(
            DeviceResult(
                request=plan.result_name,
                driver=candidate.pool.driver,
                pool=candidate.pool.name,
                device=candidate.device.name,
                admin_access=plan.request.admin_access,
                tolerations=plan.request.tolerations if problem.minor >= 35 else (),
                share_id="" if consumed is not None else None,
                consumed_capacity=consumed or None,
                binding_conditions=candidate.device.binding_conditions if binding else (),
                binding_failure_conditions=candidate.device.binding_failure_conditions if binding else (),
            )
        )
    return Allocation(tuple(results), node_selector_of(problem, chosen, node))


def node_selector_of(problem: AllocationProblem, chosen: Sequence[Candidate], node: TargetNode) -> NodeSelector | None:
    """Where the allocated devices can be used together: this node, a merged selector, or everywhere (None).

    Only the copies of the allocator that know consumable capacity also know bindsToNode.
    """
    binds = problem.variant is not None and problem.variant.shares
    expressions: list[Requirement] = []
    fields: list[Requirement] = []
    for candidate in chosen:
        selection = candidate.device.node_selection if candidate.slice.per_device_node_selection else candidate.slice.node_selection
        if selection.node_name is not None or (binds and candidate.device.binds_to_node):
            return NodeSelector((NodeSelectorTerm((), (Requirement("metadata.name", "In", (node.name,)),)),))
        if selection.selector is not None and selection.selector.terms:
            term = selection.selector.terms[0]
            _merge(term.fields, fields)
            _merge(term.expressions, expressions)
    if not expressions and not fields:
        return None
    return NodeSelector((NodeSelectorTerm(tuple(expressions), tuple(fields)),))


def _merge(requirements: Iterable[Requirement], into: list[Requirement]) -> None:
    for entry in requirements:
        if not any(
            entry.key == other.key and entry.operator == other.operator and set(entry.values) == set(other.values) for other in into
        ):
            into.append(entry)


def moved_allocation(
    problem: AllocationProblem, allocation: Allocation, pools: Sequence[Pool], onto: Sequence[Pool], node: TargetNode
) -> Allocation:
    places = {(pool.driver, pool.name): (pool, other) for pool, other in zip(pools, onto, strict=True)}
    results: list[DeviceResult] = []
    chosen: list[Candidate] = []
    for result in allocation.results:
        source, target = places[(result.driver, result.pool)]
        candidate = _counterpart(source, target, result.device)
        chosen.append(candidate)
        results.append(replace(result, driver=target.driver, pool=target.name, device=candidate.device.name))
    return Allocation(tuple(results), node_selector_of(problem, chosen, node))


def _counterpart(source: Pool, target: Pool, name: str) -> Candidate:
    for number, entry in enumerate(source.slices):
        for place, device in enumerate(entry.devices):
            if device.name == name:
                twin = target.slices[number]
                return Candidate(twin.devices[place], twin, target, place)
    raise LookupError(name)
