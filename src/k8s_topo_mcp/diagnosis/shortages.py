"""Why no open node can allocate the claims: the request that lacks devices on the nodes that get furthest, and at which stage.

A node gets further than another if fewer of the claim's requests lack devices there, and if they run out at a later stage. Where every
request has enough devices by itself, what can't hold together is taken apart (`conflicts`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..dra.allocation import allocate, node_groups
from ..dra.funnel import Funnel, funnel
from ..dra.outcome import Unallocatable
from ..dra.prepared import prepare
from ..dra.problem import NOTHING_HELD, AllocationProblem, TargetNode
from ..scheduling.dynamic_resources import active_rules
from ..view import ClusterView
from .ground import ORDER, Ground, depth
from .groups import groups_of
from .joint_causes import joint_cause
from .report import Cause
from .request_causes import alternatives_of, pool_cause, stage_cause, with_enough

CONSTRAINTS = "spec.devices.constraints["


def device_cause(view: ClusterView, problem: AllocationProblem, nodes: Sequence[TargetNode], total: int) -> Cause:
    """The cause of a problem that no node solves."""
    prepared = prepare(problem)
    funnels = [
        [
            funnel(prepared, nodes, index, entry, f"{request.name}/{entry.name}" if request.first_available else request.name)
            for entry in request.alternatives
        ]
        for index, claim in enumerate(problem.claims)
        for request in claim.spec.requests
    ]
    kinds = [group[0] for group in node_groups(problem, nodes)]
    progress = {node.name: _progress(funnels, node.name) for node in kinds}
    furthest = max(progress.values())
    best = [node for node in kinds if progress[node.name] == furthest]
    ground = Ground(prepared, nodes, kinds, best, funnels, active_rules(view), total)
    lacking = next((alternatives for alternatives in funnels if all(best[0].name in entry.lacking for entry in alternatives)), None)
    if lacking is None:
        return joint_cause(ground)
    chosen = max(lacking, key=lambda entry: depth(entry, best[0].name))
    cause = replace(stage_cause(ground, chosen), alternatives=alternatives_of(ground, lacking))
    unused = with_enough(ground, chosen) if cause.pool is None else None
    if unused is not None:
        return pool_cause(ground, chosen, unused)
    return _in_use_cause(view, ground, cause) if cause.finding.code == "DEVICES_IN_USE" else cause


def _in_use_cause(view: ClusterView, ground: Ground, cause: Cause) -> Cause:
    """Others hold too much; but where the claims don't even fit with every claim released, what keeps them then is the cause."""
    empty = replace(ground.problem, in_use=NOTHING_HELD)
    kinds = [group[0] for group in node_groups(empty, ground.open)]
    if not all(isinstance(allocate(empty, node), Unallocatable) for node in kinds):
        return cause
    deeper = device_cause(view, empty, ground.open, ground.total)
    then = None if deeper.funnel is None else (deeper.funnel.claim, deeper.funnel.name)
    counted = next((entry for each in ground.funnels for entry in each if (entry.claim, entry.name) == then), None)
    groups = deeper.groups
    if groups is not None and deeper.finding.field.startswith(CONSTRAINTS):
        number = next(place for place, claim in enumerate(ground.problem.claims) if claim.ref == deeper.finding.object)
        claim = ground.problem.claims[number]
        constraint = claim.spec.constraints[int(deeper.finding.field.removeprefix(CONSTRAINTS).rstrip("]"))]
        of_claim = [entry for each in ground.funnels for entry in each if entry.claim == number]
        asked = {entry.name: entry.request for entry in of_claim if entry.name in groups.requests}
        now = groups_of(ground.prepared, ground.kinds, asked, constraint)
        groups = replace(groups, largest_free=now.largest_free, node=now.node, values=now.values)
    return replace(deeper, funnel=counted, groups=groups)


def _progress(funnels: Sequence[Sequence[Funnel]], node: str) -> tuple[int, tuple[int, int]]:
    """(minus the number of requests that lack devices, the latest stage at which the first of them runs out)."""
    lacking = 0
    stage = (len(ORDER), 0)
    for alternatives in funnels:
        if all(node in entry.lacking for entry in alternatives):
            lacking += 1
            stage = min(stage, max(depth(entry, node) for entry in alternatives))
    return (-lacking, stage)
