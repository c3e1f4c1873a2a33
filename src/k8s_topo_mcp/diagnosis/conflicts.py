"""Which parts of the claims can't hold together on a node: a minimal set, found by leaving out one part after the other.

Parts are requests, constraints, and what stands outside the claims: devices that others hold, taints, counters. What lies outside is left
out first: where the claims fail even on an empty, untainted node, nobody but the claims is to blame. A part stays if without it the claims
fit, or if it can't be told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..dra.allocation import allocate
from ..dra.inventory import Inventory
from ..dra.outcome import Unallocatable
from ..dra.prepared import pools_of, prepare
from ..dra.problem import NOTHING_HELD, AllocationProblem, InUse, TargetNode
from ..objects import ClaimSpec, ResourceClaim, ResourceSlice
from .groups import attribute_of, kind_of

MOST_PARTS = 24
"""Claims with more parts than this aren't taken apart."""


@dataclass(frozen=True, slots=True)
class Part:
    """A request or constraint of a claim by its number, or a whole class of facts outside the claims."""

    kind: Literal["holders", "shares", "taints", "counters", "constraint", "request"]
    claim: int = -1
    number: int = -1


def minimal_conflict(problem: AllocationProblem, node: TargetNode) -> tuple[Part, ...]:
    """Parts that can't hold together on the node, none of which can be left out. Empty where the problem has too many parts."""
    parts = parts_of(problem, node)
    if len(parts) > MOST_PARTS:
        return ()
    dropped: frozenset[Part] = frozenset()
    for part in parts:
        trial = dropped | {part}
        if isinstance(allocate(without(problem, node, trial), node), Unallocatable):
            dropped = trial
    return tuple(part for part in parts if part not in dropped)


def parts_of(problem: AllocationProblem, node: TargetNode) -> tuple[Part, ...]:
    """All parts, those that are left out first in front."""
    pools = pools_of(prepare(problem), node)
    devices = [device for pool in pools for entry in pool.slices for device in entry.devices]
    found: list[Part] = []
    if any(problem.in_use.names_in(pool.driver, pool.name) for pool in pools):
        found.append(Part("holders"))
    if problem.in_use.shared:
        found.append(Part("shares"))
    if any(device.taints for device in devices):
        found.append(Part("taints"))
    if any(device.consumes_counters for device in devices):
        found.append(Part("counters"))
    for claim, entry in enumerate(problem.claims):
        found += [Part("constraint", claim, number) for number in range(len(entry.spec.constraints))]
    for claim, entry in enumerate(problem.claims):
        found += [Part("request", claim, number) for number in range(len(entry.spec.requests))]
    return tuple(found)


def without(problem: AllocationProblem, node: TargetNode, parts: frozenset[Part]) -> AllocationProblem:
    """The problem with these parts left out."""
    kinds = {part.kind for part in parts}
    claims = tuple(_claim_without(claim, number, parts) for number, claim in enumerate(problem.claims))
    changed = replace(problem, claims=claims)
    if "holders" in kinds or "shares" in kinds:
        changed = replace(changed, in_use=_in_use_without(problem.in_use, kinds))
    if "taints" in kinds:
        changed = replace(changed, features=changed.features - {"DeviceTaints"})
    if "counters" in kinds:
        changed = replace(changed, inventory=_uncounted(problem, node))
    return changed


def _in_use_without(in_use: InUse, kinds: set[str]) -> InUse:
    """What is held whole, or by shares, or neither."""
    if "shares" not in kinds:
        return InUse(shared=in_use.shared, capacity=in_use.capacity, holders=in_use.holders) if in_use.shared else NOTHING_HELD
    return NOTHING_HELD if "holders" in kinds else replace(in_use, shared=frozenset(), capacity={})


def _claim_without(claim: ResourceClaim, number: int, parts: frozenset[Part]) -> ResourceClaim:
    spec = claim.spec
    requests = tuple(entry for place, entry in enumerate(spec.requests) if Part("request", number, place) not in parts)
    constraints = tuple(entry for place, entry in enumerate(spec.constraints) if Part("constraint", number, place) not in parts)
    if len(requests) == len(spec.requests) and len(constraints) == len(spec.constraints):
        return claim
    return replace(claim, spec=ClaimSpec(requests, constraints, spec.config))


def _uncounted(problem: AllocationProblem, node: TargetNode) -> Inventory:
    """The slices of the pools that the node sees, whose devices take nothing from any counter."""
    inventory = problem.inventory
    keys = {(entry.driver, entry.pool): None for entry in inventory.near(node.name)}
    chosen = {id(entry): entry for key in keys for entry in inventory.by_pool[key]}
    ordered = sorted(chosen.values(), key=lambda entry: inventory.places[id(entry)])
    return Inventory.of(_without_counters(entry) for entry in ordered)


def _without_counters(entry: ResourceSlice) -> ResourceSlice:
    return replace(entry, devices=tuple(replace(device, consumes_counters=()) for device in entry.devices))


def holds_on(problem: AllocationProblem, nodes: Sequence[TargetNode], parts: Sequence[Part]) -> bool:
    """Whether these parts alone can't hold together on any of the nodes."""
    return all(
        isinstance(allocate(without(problem, node, frozenset(parts_of(problem, node)) - frozenset(parts)), node), Unallocatable)
        for node in nodes
    )


def part_text(problem: AllocationProblem, part: Part) -> str:
    """A part by its path, short."""
    if part.claim < 0:
        return {
            "holders": "devices that others hold",
            "shares": "shares that others hold",
            "taints": "device taints",
            "counters": "shared counters",
        }[part.kind]
    claim = problem.claims[part.claim]
    prefix = f"{claim.name}: " if len(problem.claims) > 1 else ""
    if part.kind == "constraint":
        constraint = claim.spec.constraints[part.number]
        over = f" over {', '.join(constraint.requests)}" if constraint.requests else ""
        return f"{prefix}{kind_of(constraint)} {attribute_of(constraint).rpartition('/')[2]}{over}"
    request = claim.spec.requests[part.number]
    if request.exactly is None:
        return f"{prefix}request {request.name}"
    count = "all" if request.exactly.mode == "All" else str(request.exactly.count)
    return f"{prefix}request {request.name} ({count} × {request.exactly.class_name})"
