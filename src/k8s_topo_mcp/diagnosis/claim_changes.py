"""Changes of the claim that a cause names, smallest first."""

from __future__ import annotations

from collections.abc import Iterator

from ..dra.features import LISTS_GATE
from ..objects import DeviceTaintRule
from ..releases import NEWEST, release
from . import node_changes, request_changes, selector_changes
from .changes import Around
from .list_attributes import of_lists
from .pool_counts import published_whole
from .report import Cause, Change


def for_the_claim(around: Around, cause: Cause) -> Iterator[Change]:
    """Changes of the claim that the cause names."""
    found = cause.finding
    match found.code:
        case "CONSTRAINT_UNSATISFIABLE" | "CONSTRAINT_ATTRIBUTE_MISSING":
            index = request_changes.find_constraint(around.claim, found.field)
            if cause.groups is not None and len(cause.groups.requests) == 1:
                yield from request_changes.fewer(around, cause.groups.largest_free)
            if index is not None:
                yield from request_changes.constraint_changes(around, index, cause.look_alike)
            if cause.conflict:
                yield from _for_a_conflict(around, cause)
        case "SELECTOR_NO_MATCH":
            index = selector_changes.find_selector(found)
            if cause.comparison is not None and cause.near is not None:
                yield from selector_changes.literal_changes(around, index, cause.comparison, cause.near)
            if cause.missing is not None:
                yield from selector_changes.name_changes(around, index, cause.missing)
            yield from request_changes.fewer(around, found.number("matching"))
            yield around.selector(index, None, f"selectors[{index}] removed", False)
        case "CEL_KEY_MISSING":
            yield from _for_a_key(around, cause)
        case "CEL_ERROR" | "CEL_COMPILE_ERROR":
            if not found.text("selector").startswith("selectors["):
                return
            index = selector_changes.find_selector(found)
            if found.object is not None and found.object.kind == "ResourceClaim":
                yield around.selector(index, None, f"selectors[{index}] removed", False)
            else:
                device_class = around.prepared.problem.classes[around.request.class_name]
                yield from selector_changes.class_selector_changes(device_class, index)
        case "CLASS_MISSING":
            yield from request_changes.class_changes(around, keeps=True)
        case "CLASS_NO_MATCH":
            yield from request_changes.class_changes(around, keeps=False)
        case "NOT_ENOUGH_DEVICES":
            yield from request_changes.fewer(around, found.number("present"))
        case "DEVICES_TAINTED":
            taints = tuple(dict.fromkeys(entry.taint for entry in cause.taints))
            by_rules = frozenset(taints).difference(entry.taint for entry in cause.taints if not entry.rule)
            yield from request_changes.toleration_changes(around, taints or (found.text("taint"),), by_rules)
            rules = {rule.name: rule for rule in around.view.all(DeviceTaintRule)}
            yield from node_changes.rule_changes([rules[name] for name in dict.fromkeys(entry.rule for entry in cause.taints) if name])
            yield from request_changes.fewer(around, found.number("usable"))
        case "DEVICES_IN_USE":
            single = cause.groups is None or len(cause.groups.requests) == 1
            free = cause.groups.largest_free if cause.groups is not None else found.number("free")
            if single:
                yield from request_changes.fewer(around, free)
            index = request_changes.find_constraint(around.claim, found.field)
            if index is not None:
                yield from request_changes.constraint_changes(around, index)
        case "COUNTERS_EXHAUSTED":
            yield from request_changes.one_less(around)
            yield from request_changes.alternative_changes(around)
        case "CAPACITY_SHORT":
            if cause.capacity is not None:
                yield from request_changes.capacity_changes(around, cause.capacity)
            yield from request_changes.one_less(around)
        case "CAPACITY_MISSING" | "CAPACITY_NOT_REPRESENTABLE":
            yield from request_changes.capacity_removed(around)
        case "REQUESTS_COMPETE":
            yield from request_changes.one_less(around)
            yield from _for_a_conflict(around, cause)
        case "ALL_CONSTRAINT":
            yield from request_changes.order_changes(around)
            for index in range(len(around.claim.spec.constraints)):
                yield from request_changes.constraint_changes(around, index)
            yield from request_changes.exact_changes(around, 1)
        case "ALL_POOL_UNUSABLE":
            yield from request_changes.exact_changes(around, 1)
        case "TOO_MANY_RESULTS":
            yield from request_changes.limit_changes(around)
            if cause.funnel is not None and len(around.claim.spec.requests) == 1:
                yield from request_changes.fewer(around, cause.funnel.stages[-1].best)
        case "POOL_INCOMPLETE":
            if cause.pool is not None:
                yield from published_whole(cause.pool)
        case "FEATURE_OFF" if of_lists(found):
            yield from _for_lists(around, found.field)
        case "FEATURE_OFF":
            yield from request_changes.plain_requests(around)
        case "RELEASE_MISSES" if of_lists(found):
            yield from _for_a_release(around, LISTS_GATE)
        case "RELEASE_MISSES" | "ORDER_DEPENDENT" | "SCHEDULER_CRASH":
            yield from _for_a_release(around)
        case _:
            return


def _for_a_key(around: Around, cause: Cause) -> Iterator[Change]:
    """A selector reads an attribute that a device lacks."""
    found = cause.finding
    index = selector_changes.find_selector(found)
    if found.object is not None and found.object.kind == "DeviceClass":
        device_class = around.prepared.problem.classes[around.request.class_name]
        yield from selector_changes.class_selector_changes(device_class, index)
        return
    yield from selector_changes.key_changes(around, index, cause.missing)


def _for_a_conflict(around: Around, cause: Cause) -> Iterator[Change]:
    """Parts that can't hold together: each constraint and each request is left out in turn."""
    if cause.finding.code == "REQUESTS_COMPETE":
        for index in range(len(around.claim.spec.constraints)):
            yield next(request_changes.constraint_changes(around, index))
    yield from request_changes.alternative_changes(around)


def _for_lists(around: Around, field: str) -> Iterator[Change]:
    """A constraint that compares no lists: the feature that makes it, and no constraint."""
    own = around.view.release
    on = own.with_gate(LISTS_GATE, enabled=True, basis="given")
    how = f"start kube-scheduler with --feature-gates={LISTS_GATE}=true (off by default in {own})"
    yield Change(f"{LISTS_GATE} on in kube-scheduler", None, "", "false", "true", (), True, how, release=on)
    index = request_changes.find_constraint(around.claim, field)
    if index is not None:
        yield from request_changes.constraint_changes(around, index)


def _for_a_release(around: Around, gate: str = "") -> Iterator[Change]:
    """Another release, and with it the gate that is off there by default and without which it does the same; and asking less, which may go
    around the defect."""
    newest = release(NEWEST)
    if around.view.release.minor < NEWEST:
        own = str(around.view.release)
        how = f"upgrade the control plane to {newest} (judged with its default gates)"
        yield Change(f"Kubernetes {own} → {newest}", None, "", own, str(newest), (), True, how, release=newest)
        if gate and not newest.enabled(gate):
            on = release(NEWEST, {gate: True})
            how = f"upgrade the control plane to {newest} and start kube-scheduler with --feature-gates={gate}=true (off by default there)"
            yield Change(f"Kubernetes {own} → {newest} with {gate} on", None, "", own, str(newest), (), True, how, release=on)
    yield from request_changes.exact_changes(around, 1)
    for index in range(len(around.claim.spec.constraints)):
        yield next(request_changes.constraint_changes(around, index))
    yield from request_changes.one_less(around)
