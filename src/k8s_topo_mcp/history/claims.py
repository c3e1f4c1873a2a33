"""ResourceClaims: which devices they hold, for whom, and whether they are on their way out. Templates: what they ask for.

A claim's spec is immutable; one that asks for something else is another claim of the same name (another uid).
"""

from __future__ import annotations

from collections.abc import Iterator

from ..objects import ClaimSpec, DeviceStatus, ExactRequest, ResourceClaim, ResourceClaimTemplate
from ..view.past import Effect
from .fields import Difference, at_key, came_and_went, names, text, value

RESULTS = "status.allocation.devices.results"


def devices(claim: ResourceClaim) -> str | None:
    """The devices that a claim holds; None without an allocation."""
    if claim.allocation is None:
        return None
    results = claim.allocation.results
    return names([str(result.id) if len(results) < 3 else f"{result.pool}/{result.device}" for result in results]) or "no device"


def asks(spec: ClaimSpec) -> str:
    """What a claim asks for, in one line."""
    parts = [" or ".join(_request(choice) for choice in request.alternatives) or "?" for request in spec.requests]
    constraints = [
        f"{kind} {name}"
        for entry in spec.constraints
        for kind, name in (("matchAttribute", entry.match_attribute), ("distinctAttribute", entry.distinct_attribute))
        if name
    ]
    return text("; ".join([*parts, *constraints]), 300)


def _request(choice: ExactRequest) -> str:
    count = "all" if choice.mode == "All" else str(choice.count)
    selectors = "".join(f" where {text(entry.expression or '?', 120)}" for entry in choice.selectors)
    return f"{count} × {choice.class_name}{selectors}"


def compare(before: ResourceClaim, after: ResourceClaim) -> Iterator[Difference]:
    """What is different in a claim."""
    if before.spec is not after.spec:
        yield from value("spec.devices", asks(before.spec), asks(after.spec))
    held, holds = devices(before), devices(after)
    if held != holds:
        yield Difference(RESULTS, held, holds, Effect.LESS if held is None else Effect.MORE if holds is None else Effect.OTHER)
    yield from came_and_went(
        "status.reservedFor",
        (f"{entry.resource}/{entry.name}" for entry in before.reserved_for),
        (f"{entry.resource}/{entry.name}" for entry in after.reserved_for),
        Effect.NOTE,
        Effect.NOTE,
    )
    yield from _device_conditions(before.devices, after.devices)


def _device_conditions(before: tuple[DeviceStatus, ...], after: tuple[DeviceStatus, ...]) -> Iterator[Difference]:
    if before is after:
        return
    old, new = _conditions(before), _conditions(after)
    for path in sorted({*old, *new}):
        yield from value(path, old.get(path), new.get(path), Effect.NOTE)


def _conditions(statuses: tuple[DeviceStatus, ...]) -> dict[str, str]:
    return {
        at_key(f"{at_key('status.devices', entry.device)}.conditions", condition.type): f"{condition.status} ({condition.reason})"
        for entry in statuses
        for condition in entry.conditions
    }


def compare_templates(before: ResourceClaimTemplate, after: ResourceClaimTemplate) -> Iterator[Difference]:
    """What is different in a template."""
    yield from value("spec.spec.devices", asks(before.spec), asks(after.spec))
