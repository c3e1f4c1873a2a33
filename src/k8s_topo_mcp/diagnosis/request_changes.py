"""Changes of what a claim asks: counts, constraints, capacities, tolerations, classes, alternatives, the order of requests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches

from ..dra.funnel import screened
from ..objects import MAX_RESULTS, DeviceConstraint, DeviceRequest, DeviceToleration, ResourceClaim
from ..view import Edit, Replace
from ..view.indices import claims_of
from .changes import Around
from .classes import class_created, drivers_taken, stands_in
from .fields import below, flow
from .groups import attribute_of, kind_of
from .nearest import quantity_or_none
from .report import CapacityLeft, Change, LookAlike
from .spelling import misspelt


def fewer(around: Around, largest: int) -> Iterator[Change]:
    """Ask for as many as fit."""
    request = around.request
    if request.mode == "ExactCount" and 0 < largest < request.count:
        edits = around.with_request(replace(request, count=largest))
        yield around.change(f"count {request.count} → {largest}", ".count", str(request.count), str(largest), edits)


def one_less(around: Around, *others: int) -> Iterator[Change]:
    """Halve the count and take one off: for causes that don't say how many would fit. `others` are asked for too; the most first."""
    count = around.request.count
    for fitting in sorted({count - 1, count // 2, 1, *others}, reverse=True):
        yield from fewer(around, fitting)


def constraint_changes(around: Around, index: int, alike: LookAlike | None = None) -> Iterator[Change]:
    """The attribute that was meant, another standard one, or no constraint."""
    constraints = around.claim.spec.constraints
    own = constraints[index]
    attribute, kind = attribute_of(own), kind_of(own)
    if alike is not None:
        yield _other_attribute(around, index, kind, alike.attribute, True)
    field = f"spec.devices.constraints[{index}]"
    whole = flow({"matchAttribute" if own.match_attribute is not None else "distinctAttribute": attribute})
    name = "constraint removed" if len(constraints) == 1 else f"constraint {attribute.rpartition('/')[2]} removed"
    yield around.change(name, field, whole, "", around.with_constraints((*constraints[:index], *constraints[index + 1 :])))
    if own.match_attribute is not None:
        for other in _standard_attributes(around, attribute):
            if alike is None or other != alike.attribute:
                yield _other_attribute(around, index, kind, other, False)


def _other_attribute(around: Around, index: int, kind: str, name: str, keeps: bool) -> Change:
    constraints = around.claim.spec.constraints
    own = constraints[index]
    changed = (
        DeviceConstraint(own.requests, match_attribute=name)
        if own.match_attribute is not None
        else DeviceConstraint(own.requests, distinct_attribute=name)
    )
    edits = around.with_constraints((*constraints[:index], changed, *constraints[index + 1 :]))
    return around.change(f"{kind} {name}", f"spec.devices.constraints[{index}].{kind}", attribute_of(own), name, edits, keeps)


def _standard_attributes(around: Around, attribute: str) -> tuple[str, ...]:
    """Standard attributes that the devices publish with fewer values than devices, so that grouping by them makes sense."""
    devices = screened(around.prepared, around.nodes[:4], around.request)
    values: dict[str, set[str]] = {}
    for entry in devices:
        for key, value in entry.device.attributes.items():
            if key.startswith("resource.kubernetes.io/") and key != attribute and not key.endswith("/pciBusID"):
                values.setdefault(key, set()).add(f"{entry.slice.name} {value}")
    return tuple(sorted(key for key, found in values.items() if len(found) < len(devices)))[:2]


def find_constraint(claim: ResourceClaim, field: str) -> int | None:
    """The constraint that a finding's field names."""
    prefix = "spec.devices.constraints["
    if not field.startswith(prefix):
        return None
    index = int(field.removeprefix(prefix).rstrip("]"))
    return index if index < len(claim.spec.constraints) else None


def capacity_changes(around: Around, left: CapacityLeft) -> Iterator[Change]:
    """Ask for as much of the capacity as is left somewhere."""
    request = around.request
    if request.capacity is None or left.capacity not in request.capacity:
        return
    for value in dict.fromkeys((left.grants, left.left, left.total)):
        amount = quantity_or_none(value)
        if amount is None or amount.value <= 0 or not amount < request.capacity[left.capacity]:
            continue
        edits = around.with_request(replace(request, capacity={**request.capacity, left.capacity: amount}))
        yield around.change(
            f"{left.capacity} {left.asked} → {value}", f".capacity.requests{below(left.capacity)}", left.asked, value, edits
        )


def capacity_removed(around: Around) -> Iterator[Change]:
    """No request for a capacity that the device doesn't have."""
    if around.request.capacity:
        asked = flow({"requests": {name: str(amount) for name, amount in around.request.capacity.items()}})
        edits = around.with_request(replace(around.request, capacity=None))
        yield around.change("capacity request removed", ".capacity", asked, "", edits)


def toleration_changes(around: Around, taints: Sequence[str], by_rules: frozenset[str]) -> Iterator[Change]:
    """Tolerate device taints: the commonest, then all of them. Those that DeviceTaintRules alone put there, `by_rules`, say for whom or
    when a device is; with one that its driver put there a device is no longer what was asked for."""
    for chosen in (taints[:1], taints) if len(taints) > 1 else (taints,):
        added = tuple(_toleration(taint) for taint in chosen)
        edits = around.with_request(replace(around.request, tolerations=(*around.request.tolerations, *added)))
        text = f"toleration for {chosen[0]}" if len(chosen) == 1 else f"tolerations for all {len(chosen)} taints"
        entries = [{"key": entry.key, "operator": "Exists", "effect": entry.effect} for entry in added]
        yield around.change(text, ".tolerations", "", flow(entries if len(entries) > 1 else entries[0]), edits, by_rules.issuperset(chosen))


def _toleration(taint: str) -> DeviceToleration:
    """A toleration for a taint as it is printed: key, perhaps =value, then :effect."""
    rest, _, effect = taint.rpartition(":")
    return DeviceToleration(rest.partition("=")[0], "Exists", "", effect)


def class_changes(around: Around, keeps: bool) -> Iterator[Change]:
    """Another class that may have been meant, the one of the nearest name first; else the class itself, if there is none of that name."""
    wrong, classes = around.request.class_name, around.prepared.problem.classes
    others = sorted(name for name, entry in classes.items() if name != wrong and stands_in(wrong, classes.get(wrong), entry))
    for name in (get_close_matches(wrong, others, n=1, cutoff=0.6) or others)[:2]:
        edits = around.with_request(replace(around.request, class_name=name))
        yield around.change(f"deviceClassName {wrong} → {name}", ".deviceClassName", wrong, name, edits, keeps and misspelt(wrong, name))
    if wrong not in classes and (not others or drivers_taken(around.view, wrong)):
        others_too = claims_of(around.view, around.pod) if around.pod is not None else ()
        claims = (*around.prepared.problem.claims, *(entry.claim for entry in others_too if entry.claim is not None))
        yield from class_created(around.view, wrong, claims)


def order_changes(around: Around) -> Iterator[Change]:
    """The requests in another order: an `All` request takes its devices as they come, whatever the constraints then say."""
    requests = around.claim.spec.requests
    if len(requests) < 2:
        return
    rest = tuple(entry for place, entry in enumerate(requests) if place != around.position)
    own = requests[around.position]
    names = flow([entry.name for entry in requests])
    for order in ((own, *rest), (*rest, own), tuple(reversed(requests))):
        if order != requests:
            after = ", ".join(entry.name for entry in order)
            wanted = flow([entry.name for entry in order])
            text = f"requests in the order {after}"
            yield around.change(text, "spec.devices.requests[*].name", names, wanted, around.with_requests(order), True)


def exact_changes(around: Around, count: int) -> Iterator[Change]:
    """A fixed number in place of All."""
    if around.request.mode == "All" and count > 0:
        edits = around.with_request(replace(around.request, mode="ExactCount", count=count))
        wanted = flow({"allocationMode": "ExactCount", "count": count})
        yield around.change(f"allocationMode All → ExactCount {count}", "", flow({"allocationMode": "All"}), wanted, edits)


def limit_changes(around: Around) -> Iterator[Change]:
    """As many devices as one claim may have."""
    requests = around.claim.spec.requests
    if len(requests) == 1:
        yield from fewer(around, MAX_RESULTS)


def alternative_changes(around: Around) -> Iterator[Change]:
    """One request or one more alternative less: each request that may be the one too many is left out in turn."""
    requests = around.claim.spec.requests
    for place, entry in enumerate(requests):
        if len(requests) > 1:
            rest = (*requests[:place], *requests[place + 1 :])
            edits = around.with_spec(replace(around.claim.spec, requests=rest, constraints=_without_request(around.claim, entry)))
            yield around.change(f"request {entry.name} removed", f"spec.devices.requests[{place}]", flow({"name": entry.name}), "", edits)


def _without_request(claim: ResourceClaim, request: DeviceRequest) -> tuple[DeviceConstraint, ...]:
    """Constraints that no longer name a request; those about it alone go with it."""
    kept: list[DeviceConstraint] = []
    for constraint in claim.spec.constraints:
        names = tuple(name for name in constraint.requests if name.partition("/")[0] != request.name)
        if names or not constraint.requests:
            kept.append(replace(constraint, requests=names))
    return tuple(kept)


def plain_requests(around: Around) -> Iterator[Change]:
    """Without what the feature that is off is needed for."""
    request = around.request
    if request.admin_access:
        yield around.change("adminAccess removed", ".adminAccess", "true", "", around.with_request(replace(request, admin_access=False)))
    yield from capacity_removed(around)
    shape = around.claim.spec.requests[around.position]
    if shape.first_available:
        requests = list(around.claim.spec.requests)
        first = replace(shape.first_available[0], name=shape.name)
        requests[around.position] = DeviceRequest(shape.name, first)
        edits: tuple[Edit, ...] = around.with_requests(requests)
        yield around.change("only the first alternative", f"spec.devices.requests[{around.position}]", "firstAvailable", "exactly", edits)


def deallocated(claim: ResourceClaim) -> Replace:
    """The claim without its allocation."""
    return Replace(replace(claim, allocation=None, reserved_for=()))
