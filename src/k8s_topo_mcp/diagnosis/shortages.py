"""Why no open node can allocate the claims: the request that lacks devices on the nodes that get furthest, and at which stage.

A node gets further than another if fewer of the claim's requests lack devices there, and if they run out at a later stage. Where every
request has enough devices by itself, what can't hold together is taken apart (`conflicts`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ..cel import CompileError, compile_selector
from ..dra.allocation import allocate, node_groups
from ..dra.funnel import Funnel, StageKind, funnel, screened, screened_in, slices_of
from ..dra.outcome import Unallocatable
from ..dra.pools import Pool
from ..dra.prepared import Prepared, prepare
from ..dra.problem import NOTHING_HELD, AllocationProblem, TargetNode
from ..findings import Finding, finding
from ..objects import DeviceTaintRule, ExactRequest, ObjectRef, ResourceClaim, ResourceSlice
from ..scheduling.dynamic_resources import active_rules
from ..view import ClusterView
from .conflicts import Part, holds_on, minimal_conflict, part_text
from .groups import attribute_of, groups_of, kind_of, look_alike, same_values, values_in
from .nearest import failing_comparison, near_miss
from .pool_counts import slice_counts
from .remainders import capacity_left, counters_short, taint_counts
from .report import Alternative, Cause, Narrowing

NODES_EXAMINED = 16
"""Nodes of the best kind on which counters are looked at one by one."""


ORDER: tuple[StageKind, ...] = ("devices", "class", "selector", "conjunct", "free", "untainted", "capacity")
CONSTRAINTS = "spec.devices.constraints["


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """What a search for the cause stands on: `open` are the nodes where devices decide, `kinds` one of each kind that the problem can tell
    apart, `best` those of them that get furthest, `total` how many nodes there are."""

    prepared: Prepared
    open: Sequence[TargetNode]
    kinds: Sequence[TargetNode]
    best: Sequence[TargetNode]
    funnels: Sequence[Sequence[Funnel]]
    rules: Sequence[DeviceTaintRule]
    total: int

    @property
    def problem(self) -> AllocationProblem:
        return self.prepared.problem

    def cause(self, found: Finding, counted: Funnel | None) -> Cause:
        """A cause without facts."""
        return Cause(found, len(self.open), self.total, counted, narrowed=_narrowed(self.prepared, counted) if counted is not None else ())


def _narrowed(prepared: Prepared, counted: Funnel) -> tuple[Narrowing, ...]:
    """The selectors of a request that leave out devices."""
    found: list[Narrowing] = []
    for before, stage in pairwise(counted.stages):
        if stage.kind != "selector" or stage.left == before.left:
            continue
        expression = counted.request.selectors[stage.index].expression or ""
        program = compile_selector(expression, prepared.environment)
        parts = () if isinstance(program, CompileError) else tuple(part.comparison for part in program.conjuncts)
        comparisons = tuple(part for part in parts if part is not None)
        found.append(Narrowing(stage.index, expression, comparisons if len(comparisons) == len(parts) else ()))
    return tuple(found)


def locate(claim: ResourceClaim, name: str) -> tuple[int, ExactRequest]:
    """The request (and its place) that a result name such as "gpu" or "gpu/small" means; the first one for an unknown name."""
    for position, request in enumerate(claim.spec.requests):
        for entry in request.alternatives:
            if name in (entry.name, f"{request.name}/{entry.name}", request.name):
                return position, entry
    return 0, claim.spec.requests[0].alternatives[0]


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
        return _joint_cause(ground)
    chosen = max(lacking, key=lambda entry: _depth(entry, best[0].name))
    cause = replace(_stage_cause(ground, chosen), alternatives=_alternatives(ground, lacking))
    unused = _with_enough(ground, chosen) if cause.pool is None else None
    if unused is not None:
        return _pool_cause(ground, chosen, unused)
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


def _depth(counted: Funnel, node: str) -> tuple[int, int]:
    """How far a request gets on a node: the kind of the stage where it runs dry, then which of that kind."""
    place = counted.lacking[node]
    return (ORDER.index(counted.stages[place].kind), place)


def _progress(funnels: Sequence[Sequence[Funnel]], node: str) -> tuple[int, tuple[int, int]]:
    """(minus the number of requests that lack devices, the latest stage at which the first of them runs out)."""
    lacking = 0
    stage = (len(ORDER), 0)
    for alternatives in funnels:
        if all(node in entry.lacking for entry in alternatives):
            lacking += 1
            stage = min(stage, max(_depth(entry, node) for entry in alternatives))
    return (-lacking, stage)


def _alternatives(ground: Ground, funnels: Sequence[Funnel]) -> tuple[Alternative, ...]:
    """What each subrequest fails by, in the order tried. Nothing for a request without alternatives."""
    if "/" not in funnels[0].name:
        return ()
    lacks = {entry.name: any(node.name not in entry.lacking for node in ground.kinds) for entry in funnels}
    return tuple(
        Alternative(entry.name.partition("/")[2], None if lacks[entry.name] else _stage_cause(ground, entry).finding) for entry in funnels
    )


def _stage_cause(ground: Ground, counted: Funnel) -> Cause:
    """A request that runs out of devices by itself: at which stage, and what it lacks there."""
    prepared, problem = ground.prepared, ground.problem
    claim = problem.claims[counted.claim]
    position, _ = locate(claim, counted.name)
    request = counted.request
    base = claim.spec.path_of(position, request)
    _, place = max(_depth(counted, node.name) for node in ground.kinds if node.name in counted.lacking)
    stage = counted.stages[place]
    before = counted.stages[place - 1] if place else None
    class_stage = counted.stage("class")
    match stage.kind:
        case "devices" | "class":
            return _class_cause(ground, counted, base)
        case "selector":
            if stage.left and before is not None and stage.left == before.left:
                found = finding("NOT_ENOUGH_DEVICES", claim.ref, f"{base}.count", needed=counted.needed, present=stage.best)
                return ground.cause(found, counted)
            comparison = failing_comparison(prepared, ground.open, request, stage.index)
            found = finding(
                "SELECTOR_NO_MATCH",
                claim.ref,
                f"{base}.selectors[{stage.index}]",
                selector=f"selectors[{stage.index}]",
                expression=request.selectors[stage.index].expression or "",
                needed=counted.needed,
                matching=stage.best,
                before=before.left if before is not None else 0,
            )
            if comparison is None:
                return ground.cause(found, counted)
            return replace(ground.cause(found, counted), near=near_miss(*comparison), comparison=comparison[0])
        case "free":
            present = _best(counted, "selector", class_stage.best if class_stage else 0)
            found = finding("DEVICES_IN_USE", claim.ref, base, needed=counted.needed, present=present, free=stage.best)
            return ground.cause(found, counted)
        case "untainted":
            return _taint_cause(ground, claim, base, counted, stage.best)
        case _:
            return _capacity_cause(ground, claim, base, counted)


def _class_cause(ground: Ground, counted: Funnel, base: str) -> Cause:
    """Too few devices of the class, or none at all."""
    problem, request = ground.problem, counted.request
    claim = problem.claims[counted.claim]
    helpful = next((pool for pool in counted.unusable if _would_help(problem, request, pool.driver)), None)
    if helpful is not None:
        return _pool_cause(ground, counted, helpful)
    drivers = tuple(sorted({entry.driver for _, entry in slices_of(ground.prepared, ground.kinds)}))
    if not drivers:
        return ground.cause(finding("NO_DEVICES", claim.ref, f"{base}.deviceClassName", device_class=request.class_name), counted)
    stage = counted.stage("class")
    if stage is not None and stage.left:
        found = finding("NOT_ENOUGH_DEVICES", claim.ref, f"{base}.count", needed=counted.needed, present=stage.best)
        return ground.cause(found, counted)
    about = problem.classes[request.class_name].ref
    found = finding("CLASS_NO_MATCH", about, "spec.selectors", device_class=request.class_name, needed=counted.needed, matching=0)
    return replace(ground.cause(found, counted), drivers=drivers)


def _pool_cause(ground: Ground, counted: Funnel, pool: Pool) -> Cause:
    """A pool whose devices would do gives none."""
    code = "POOL_INCOMPLETE" if pool.state == "incomplete" else "POOL_INVALID"
    reason = slice_counts(pool) or pool.reason
    found = finding(code, ObjectRef("ResourceSlice", "", _slice_name(pool.slices)), "spec.pool", pool=str(pool), reason=reason)
    return replace(ground.cause(found, counted), pool=pool)


def _with_enough(ground: Ground, counted: Funnel) -> Pool | None:
    """A pool that gives no devices and has enough free ones of what the request asks: other nodes get further, but none of them as near."""
    for pool in counted.unusable:
        if _would_help(ground.problem, counted.request, pool.driver):
            there = screened_in(ground.prepared, [(pool, entry) for entry in pool.slices], counted.request)
            if sum(not entry.held for entry in there) >= counted.needed:
                return pool
    return None


def _taint_cause(ground: Ground, claim: ResourceClaim, base: str, counted: Funnel, usable: int) -> Cause:
    taints = taint_counts(ground.prepared, ground.open, counted.request, ground.rules)
    tainted = sum(entry.devices for entry in taints)
    first = taints[0].taint if taints else ""
    found = finding("DEVICES_TAINTED", claim.ref, f"{base}.tolerations", needed=counted.needed, usable=usable, taint=first, tainted=tainted)
    return replace(ground.cause(found, counted), taints=taints)


def _capacity_cause(ground: Ground, claim: ResourceClaim, base: str, counted: Funnel) -> Cause:
    left = capacity_left(ground.prepared, ground.open, counted.request)
    if left is None:
        asked = ", ".join(counted.request.capacity or {})
        return ground.cause(finding("CAPACITY_MISSING", claim.ref, f"{base}.capacity.requests", capacity=asked), counted)
    field = f"{base}.capacity.requests.{left.capacity}"
    found = finding(
        "CAPACITY_SHORT", claim.ref, field, capacity=left.capacity, asked=left.asked or left.rounded, rounded=left.rounded, left=left.left
    )
    return replace(ground.cause(found, counted), capacity=left)


def _slice_name(slices: Sequence[ResourceSlice]) -> str:
    return slices[0].name if slices else ""


def _would_help(problem: AllocationProblem, request: ExactRequest, driver: str) -> bool:
    """Whether a pool of this driver could be what the request lacks: its class or a selector names the driver, or names none."""
    texts = [selector.expression or "" for selector in (*problem.classes[request.class_name].selectors, *request.selectors)]
    return not texts or any(driver in text for text in texts)


def _best(counted: Funnel, kind: StageKind, otherwise: int) -> int:
    """The most devices of one node after the last stage of a kind."""
    found = [stage.best for stage in counted.stages if stage.kind == kind]
    return found[-1] if found else otherwise


def _joint_cause(ground: Ground) -> Cause:
    """Every request has enough devices by itself: which rules keep them from fitting together."""
    problem = ground.problem
    parts = minimal_conflict(problem, ground.best[0])
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
    for entry in concerned:
        devices = screened(prepared, ground.kinds, entry.request)
        if devices and not any(values_in(prepared, entry.request, device, attribute) for device in devices):
            found = finding("CONSTRAINT_ATTRIBUTE_MISSING", claim.ref, field, constraint=field, attribute=attribute, kind=kind, present=0)
            alike = look_alike(prepared, entry.request, devices, attribute)
            if alike is None:
                compared = [each.request for each in of_claim if each is not entry and constraint.concerns(*_names(each.name))]
                others = [(each, screened(prepared, ground.kinds, each)) for each in compared]
                alike = same_values(prepared, devices, others, attribute)
            return replace(base, finding=found, funnel=entry, groups=None, look_alike=alike)
    needed = sum(_needed(concerned).values())
    if "holders" in kinds:
        found = finding("DEVICES_IN_USE", claim.ref, field, needed=needed, present=groups.largest_all, free=groups.largest_free)
        return replace(base, finding=found)
    if "counters" in kinds:
        return replace(_counters_cause(ground, requests), groups=groups)
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
        matching = [each for entry in concerned for each in screened(prepared, ground.kinds, entry.request)]
        alike = look_alike(prepared, counted.request, matching, attribute)
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
        return _taint_cause(ground, claim, field, counted, counted.stages[-1].best)
    if "holders" in kinds:
        free = counted.stage("free")
        present = _best(counted, "selector", counted.stages[1].best)
        found = finding("DEVICES_IN_USE", claim.ref, field, needed=needed, present=present, free=free.best if free is not None else 0)
    else:
        found = finding("REQUESTS_COMPETE", claim.ref, field, requests=_called(ground.problem, _needed(own)))
    return replace(ground.cause(found, counted), alternatives=_alternatives(ground, own) if len(requests) == 1 else ())


def _counters_cause(ground: Ground, requests: Sequence[Part]) -> Cause:
    """Shared counters are among what can't hold together."""
    claim = ground.problem.claims[requests[0].claim]
    own = _requests_of(ground, requests)
    counted = own[0]
    position, request = locate(claim, counted.name)
    field = claim.spec.path_of(position, request) if len(requests) == 1 else "spec.devices.requests"
    needed = sum(_needed(own).values())
    for entry in own:
        counters = counters_short(ground.prepared, ground.best[:NODES_EXAMINED], entry.request, needed)
        if counters:
            short = counters[0]
            name = f"{short.counter} of {short.counter_set}"
            found = finding("COUNTERS_EXHAUSTED", claim.ref, field, counter=name, needed=short.needed, left=short.left)
            return replace(ground.cause(found, entry), counters=counters)
    return ground.cause(finding("COUNTERS_EXHAUSTED", claim.ref, field, counter="", needed="", left=""), counted)


def _names(result_name: str) -> tuple[str, str | None]:
    parent, slash, name = result_name.partition("/")
    return parent, name if slash else None
