"""A request that lacks devices by itself: at which stage they run out, and what it lacks there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..dra.funnel import Funnel, StageKind, screened, screened_in
from ..dra.pools import Pool
from ..dra.prepared import prepare
from ..dra.problem import AllocationProblem
from ..dra.visible import slices_of
from ..findings import finding
from ..objects import DeviceClass, ExactRequest, ObjectRef, ResourceClaim, ResourceSlice
from ..view import derived
from .ground import Ground, depth, locate
from .missing_keys import unpublished
from .nearest import failing_comparison, near_miss
from .pool_counts import slice_counts
from .remainders import capacity_left, taint_counts
from .report import Alternative, Cause, NearMiss


def alternatives_of(ground: Ground, funnels: Sequence[Funnel]) -> tuple[Alternative, ...]:
    """What each subrequest fails by, in the order tried. Nothing for a request without alternatives."""
    if "/" not in funnels[0].name:
        return ()
    lacks = {entry.name: any(node.name not in entry.lacking for node in ground.kinds) for entry in funnels}
    return tuple(
        Alternative(entry.name.partition("/")[2], None if lacks[entry.name] else stage_cause(ground, entry).finding) for entry in funnels
    )


def stage_cause(ground: Ground, counted: Funnel) -> Cause:
    """A request that runs out of devices by itself: at which stage, and what it lacks there."""
    prepared, problem = ground.prepared, ground.problem
    claim = problem.claims[counted.claim]
    position, _ = locate(claim, counted.name)
    request = counted.request
    base = claim.spec.path_of(position, request)
    _, place = max(depth(counted, node.name) for node in ground.kinds if node.name in counted.lacking)
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
            near = near_miss(*comparison) if comparison is not None else None
            missing = None
            if near is None and not stage.left:
                expression = request.selectors[stage.index].expression or ""
                missing = unpublished(prepared, expression, ground.open, request, stage.index)
            read = comparison[0] if comparison is not None else None
            return replace(ground.cause(found, counted), near=near, comparison=read, missing=missing)
        case "free":
            present = most_of_a_node(counted, "selector", class_stage.best if class_stage else 0)
            found = finding("DEVICES_IN_USE", claim.ref, base, needed=counted.needed, present=present, free=stage.best)
            return ground.cause(found, counted)
        case "untainted":
            return taint_cause(ground, claim, base, counted, stage.best)
        case _:
            return capacity_cause(ground, claim, base, counted)


def _class_cause(ground: Ground, counted: Funnel, base: str) -> Cause:
    """Too few devices of the class, or none at all."""
    problem, request = ground.problem, counted.request
    claim = problem.claims[counted.claim]
    helpful = next((pool for pool in counted.unusable if _would_help(problem, request, pool.driver)), None)
    if helpful is not None:
        return pool_cause(ground, counted, helpful)
    drivers = tuple(sorted({entry.driver for _, entry in slices_of(ground.prepared, ground.kinds)}))
    if not drivers:
        return ground.cause(finding("NO_DEVICES", claim.ref, f"{base}.deviceClassName", device_class=request.class_name), counted)
    stage = counted.stage("class")
    if stage is not None and stage.left:
        found = finding("NOT_ENOUGH_DEVICES", claim.ref, f"{base}.count", needed=counted.needed, present=stage.best)
        return ground.cause(found, counted)
    device_class = problem.classes[request.class_name]
    found = finding(
        "CLASS_NO_MATCH",
        device_class.ref,
        "spec.selectors",
        device_class=request.class_name,
        needed=counted.needed,
        matching=0,
        expression=" && ".join(selector.expression or "" for selector in device_class.selectors),
    )
    return replace(ground.cause(found, counted), drivers=drivers, near=_near_the_class(ground, request, device_class))


def _near_the_class(ground: Ground, request: ExactRequest, device_class: DeviceClass) -> NearMiss | None:
    """What comes closest to the first selector of a class that no device passes: judged as if the request had the selectors."""
    bare = derived(device_class, "without selectors", lambda: replace(device_class, selectors=()))
    asked = replace(request, selectors=device_class.selectors)
    prepared = prepare(replace(ground.problem, classes={**ground.problem.classes, asked.class_name: bare}))
    for index in range(len(asked.selectors)):
        if not screened(prepared, ground.kinds, asked, index + 1):
            comparison = failing_comparison(prepared, ground.kinds, asked, index)
            return near_miss(*comparison) if comparison is not None else None
    return None


def pool_cause(ground: Ground, counted: Funnel, pool: Pool) -> Cause:
    """A pool whose devices would do gives none."""
    code = "POOL_INCOMPLETE" if pool.state == "incomplete" else "POOL_INVALID"
    reason = slice_counts(pool) or pool.reason
    found = finding(code, ObjectRef("ResourceSlice", "", _slice_name(pool.slices)), "spec.pool", pool=str(pool), reason=reason)
    return replace(ground.cause(found, counted), pool=pool)


def with_enough(ground: Ground, counted: Funnel) -> Pool | None:
    """A pool that gives no devices and has enough free ones of what the request asks: other nodes get further, but none of them as near."""
    for pool in counted.unusable:
        if _would_help(ground.problem, counted.request, pool.driver):
            there = screened_in(ground.prepared, [(pool, entry) for entry in pool.slices], counted.request)
            if sum(not entry.held for entry in there) >= counted.needed:
                return pool
    return None


def taint_cause(ground: Ground, claim: ResourceClaim, base: str, counted: Funnel, usable: int) -> Cause:
    taints = taint_counts(ground.prepared, ground.open, counted.request, ground.rules)
    tainted = sum(entry.devices for entry in taints)
    first = taints[0].taint if taints else ""
    found = finding("DEVICES_TAINTED", claim.ref, f"{base}.tolerations", needed=counted.needed, usable=usable, taint=first, tainted=tainted)
    return replace(ground.cause(found, counted), taints=taints)


def capacity_cause(ground: Ground, claim: ResourceClaim, base: str, counted: Funnel) -> Cause:
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


def most_of_a_node(counted: Funnel, kind: StageKind, otherwise: int) -> int:
    """The most devices of one node after the last stage of a kind."""
    found = [stage.best for stage in counted.stages if stage.kind == kind]
    return found[-1] if found else otherwise
