"""Requests that have enough devices each, but not together: which rules keep them from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain

from ..dra.allocation import allocate, node_groups
from ..dra.funnel import Funnel, screened
from ..dra.outcome import Allocated
from ..dra.problem import NOTHING_HELD, AllocationProblem, TargetNode
from ..findings import finding
from .conflicts import Part, holds_on, minimal_conflict, part_text
from .ground import Ground, locate
from .groups import attribute_of, groups_of, kind_of, look_alike, same_values, values_in
from .list_attributes import lists_not_compared
from .remainders import capacity_left, counters_short, taint_counts
from .report import Cause
from .request_causes import alternatives_of, capacity_cause, most_of_a_node, taint_cause

NODES_EXAMINED = 16
"""Nodes of the best kind on which counters are looked at one by one."""


def joint_cause(ground: Ground) -> Cause:
    """Every request has enough devices by itself: which rules keep them from fitting together."""
    problem = ground.problem
    parts = minimal_conflict(problem, _fitting_if_empty(ground, ground.best) or ground.best[0])
    if all(part.claim >= 0 for part in parts):
        # The claims never fit there, whatever is free; where they would but for what others hold, the end of a pod may be enough.
        elsewhere = _fitting_if_empty(ground, ground.kinds)
        further = minimal_conflict(problem, elsewhere) if elsewhere is not None else ()
        parts = (*(part for part in further if part.claim < 0), *parts)
    kinds = {part.kind for part in parts}
    constraint = next((part for part in parts if part.kind == "constraint"), None)
    requests = [part for part in parts if part.kind == "request"] or [Part("request", 0, 0)]
    if constraint is not None:
        cause = _constraint_cause(ground, constraint, requests, kinds)
    else:
        cause = _competing_cause(ground, requests, kinds)
    several = len(requests) > 1 or sum(part.kind == "constraint" for part in parts) > 1
    if not several or not holds_on(problem, ground.kinds, parts):
        return cause
    return replace(cause, conflict=tuple(part_text(problem, part) for part in parts))


def _fitting_if_empty(ground: Ground, nodes: Sequence[TargetNode]) -> TargetNode | None:
    """Of the nodes where all would fit if nothing were held the one with the most free devices of what is asked."""
    empty = replace(ground.problem, in_use=NOTHING_HELD)
    groups = [group for group in node_groups(empty, nodes) if isinstance(allocate(empty, group[0]), Allocated)]
    asked = [entry.request for alternatives in ground.funnels for entry in alternatives]

    def free(node: TargetNode) -> int:
        return sum(not entry.held for request in asked for entry in screened(ground.prepared, (node,), request))

    return max((node for group in groups for node in group), key=free, default=None)


def _requests_of(ground: Ground, parts: Sequence[Part]) -> list[Funnel]:
    """The funnels of these requests, all alternatives of each. Requests of two claims may have one name."""
    problem = ground.problem
    wanted = {(part.claim, problem.claims[part.claim].spec.requests[part.number].name) for part in parts}
    return [entry for alternatives in ground.funnels for entry in alternatives if (entry.claim, entry.name.partition("/")[0]) in wanted]


def _constraint_cause(ground: Ground, part: Part, requests: Sequence[Part], kinds: set[str]) -> Cause:
    """A constraint is among what can't hold together."""
    prepared = ground.prepared
    claim = ground.problem.claims[part.claim]
    constraint = claim.spec.constraints[part.number]
    attribute, kind = attribute_of(constraint), kind_of(constraint)
    field = f"spec.devices.constraints[{part.number}]"
    of_claim = [entry for alternatives in ground.funnels for entry in alternatives if entry.claim == part.claim]
    own = [entry for entry in _requests_of(ground, requests) if entry.claim == part.claim] or of_claim
    concerned = [entry for entry in own if constraint.concerns(*_names(entry.name))] or own
    counted = concerned[0]
    groups = groups_of(prepared, ground.kinds, {entry.name: entry.request for entry in concerned}, constraint)
    competing = finding("REQUESTS_COMPETE", claim.ref, field, requests=tuple(entry.name for entry in own))
    base = replace(ground.cause(competing, counted), groups=groups)
    passing = [screened(prepared, ground.kinds, entry.request) for entry in concerned]
    unseen = lists_not_compared(ground, chain(*passing), attribute, claim.ref, field) if kinds <= {"constraint", "request"} else None
    if unseen is not None:
        return replace(base, finding=unseen)
    for entry, devices in zip(concerned, passing, strict=True):
        if devices and not any(values_in(prepared, entry.request, device, attribute) for device in devices):
            found = finding("CONSTRAINT_ATTRIBUTE_MISSING", claim.ref, field, constraint=field, attribute=attribute, kind=kind, present=0)
            alike = look_alike(prepared, entry.request, devices, attribute)
            if alike is None:
                compared = [each.request for each in of_claim if each is not entry and constraint.concerns(*_names(each.name))]
                others = [(each, screened(prepared, ground.kinds, each)) for each in compared]
                alike = same_values(prepared, devices, others, attribute)
            return replace(base, finding=found, funnel=entry, groups=None, look_alike=alike)
    needed = sum(_needed(concerned).values())
    if "counters" in kinds:
        return replace(_counters_cause(ground, requests), groups=groups)
    short = _shares_cause(ground, own) if "shares" in kinds else None
    if short is not None:
        return replace(short, groups=groups)
    if kinds & {"holders", "shares"}:
        found = finding("DEVICES_IN_USE", claim.ref, field, needed=needed, present=groups.largest_all, free=groups.largest_free)
        return replace(base, finding=found)
    if len({entry.claim for entry in _requests_of(ground, requests)}) > 1:
        names = _called(ground.problem, _needed(_requests_of(ground, requests)))
        return replace(base, finding=finding("REQUESTS_COMPETE", claim.ref, field, requests=names))
    found = finding(
        "CONSTRAINT_UNSATISFIABLE",
        claim.ref,
        field,
        constraint=field,
        attribute=attribute,
        kind=kind,
        needed=needed,
        largest=groups.largest_free,
    )
    alike = None
    if groups.without:
        alike = look_alike(prepared, counted.request, [*chain(*passing)], attribute)
    taints = taint_counts(prepared, ground.open, counted.request, ground.rules) if "taints" in kinds else ()
    return replace(base, finding=found, look_alike=alike, taints=taints)


def _needed(funnels: Iterable[Funnel]) -> dict[tuple[int, str], int]:
    """How many devices each request of each claim needs; the smallest alternative counts."""
    found: dict[tuple[int, str], int] = {}
    for entry in funnels:
        request = (entry.claim, entry.name.partition("/")[0])
        found[request] = min(found.get(request, entry.needed), entry.needed)
    return found


def _called(problem: AllocationProblem, requests: Iterable[tuple[int, str]]) -> tuple[str, ...]:
    """Requests by name, with that of the claim where they are of several."""
    asked = tuple(requests)
    if len({claim for claim, _ in asked}) < 2:
        return tuple(name for _, name in asked)
    return tuple(f"{name} of {problem.claims[claim].name}" for claim, name in asked)


def _competing_cause(ground: Ground, requests: Sequence[Part], kinds: set[str]) -> Cause:
    """Requests that want the same devices, or more of them than others leave."""
    claim = ground.problem.claims[requests[0].claim]
    own = _requests_of(ground, requests)
    counted = own[0]
    position, request = locate(claim, counted.name)
    field = claim.spec.path_of(position, request) if len(requests) == 1 else "spec.devices.requests"
    if "counters" in kinds:
        return _counters_cause(ground, requests)
    needed = sum(_needed(own).values())
    if "taints" in kinds:
        return taint_cause(ground, claim, field, counted, counted.stages[-1].best)
    short = _shares_cause(ground, own) if "shares" in kinds else None
    if short is not None:
        return short
    if kinds & {"holders", "shares"}:
        free = counted.stage("free")
        present = most_of_a_node(counted, "selector", counted.stages[1].best)
        found = finding("DEVICES_IN_USE", claim.ref, field, needed=needed, present=present, free=free.best if free is not None else 0)
    else:
        found = finding("REQUESTS_COMPETE", claim.ref, field, requests=_called(ground.problem, _needed(own)))
    return replace(ground.cause(found, counted), alternatives=alternatives_of(ground, own) if len(requests) == 1 else ())


def _shares_cause(ground: Ground, requests: Sequence[Funnel]) -> Cause | None:
    """Shares of others are among it: the capacity of which one of these requests finds too little on a device. None: each finds enough, if
    not all of them together."""
    for entry in requests:
        if capacity_left(ground.prepared, ground.open, entry.request) is not None:
            claim = ground.problem.claims[entry.claim]
            position, request = locate(claim, entry.name)
            return capacity_cause(ground, claim, claim.spec.path_of(position, request), entry)
    return None


def _counters_cause(ground: Ground, requests: Sequence[Part]) -> Cause:
    """Shared counters are among what can't hold together."""
    claim = ground.problem.claims[requests[0].claim]
    own = _requests_of(ground, requests)
    counted = own[0]
    position, request = locate(claim, counted.name)
    field = claim.spec.path_of(position, request) if len(requests) == 1 else "spec.devices.requests"
    if "PartitionableDevices" not in ground.problem.features:
        # The allocator leaves out devices that draw on counters, and from 1.35 on the slices that state them.
        off = replace(finding("FEATURE_OFF", claim.ref, field, feature="DRAPartitionableDevices"), only_refuses=True)
        return ground.cause(off, counted)
    for entry in own:
        counters = counters_short(ground.prepared, ground.best[:NODES_EXAMINED], entry.request, entry.needed)
        if counters:
            short = counters[0]
            name = f"{short.counter} of {short.counter_set}"
            found = finding("COUNTERS_EXHAUSTED", claim.ref, field, counter=name, needed=short.needed, left=short.left)
            return replace(ground.cause(found, entry), counters=counters)
    return ground.cause(finding("COUNTERS_EXHAUSTED", claim.ref, field, counter="", needed="", left=""), counted)


def _names(result_name: str) -> tuple[str, str | None]:
    parent, slash, name = result_name.partition("/")
    return parent, name if slash else None
