"""What this matching core doesn't model yet: named, so that the answer is `unknown` and never wrong."""

from __future__ import annotations

from ..objects import DeviceCapacity
from .outcome import Unknown
from .problem import AllocationProblem
from .selectors import device_class_unsupported


def not_modelled(problem: AllocationProblem) -> Unknown | None:
    """Why the problem can't be decided, or None."""
    if problem.minor < 37 and "ConsumableCapacity" in problem.features and (changed := _changed_in_place(problem)):
        return Unknown(changed)
    for claim in problem.claims:
        for request in claim.spec.requests:
            if not request.alternatives:
                return Unknown(f"request {request.name} of claim {claim.full_name} is of a kind that this model doesn't know")
            for exact in request.alternatives:
                device_class = problem.classes.get(exact.class_name)
                if device_class is not None and device_class_unsupported(device_class):
                    return Unknown(f"DeviceClass {device_class.name} has a selector of a kind that this model doesn't know")
    return None


DECIMAL = 10**18
"""From here on Go keeps an amount as a decimal behind a pointer (infDecAmount in apimachinery's resource.Quantity), below in 64 bits."""


def _changed_in_place(problem: AllocationProblem) -> str:
    """
    A request so large that the allocator adds to it while it looks, so that what it asks depends on the devices looked at before.

    Up to 1.36 CmpRequestOverCapacity (structured/internal/*/consumable_capacity.go) adds what is in flight to a copy that shares its
    decimal with the claim, unless the request policy rounded it to an amount of its own. 1.37 copies it whole.
    """
    large = {
        (claim.full_name, name)
        for claim in problem.claims
        for request in claim.spec.requests
        for exact in request.alternatives
        for name, amount in (exact.capacity or {}).items()
        if abs(amount.value) >= DECIMAL
    }
    names = {name for _, name in large}
    if not names or not any(
        name in names and _hands_on(entry)
        for piece in problem.inventory.slices
        for device in piece.devices
        if device.allow_multiple_allocations
        for name, entry in device.capacity.items()
    ):
        return ""
    claim, name = min(large)
    return f"claim {claim} asks for {name} beyond {DECIMAL:.0e}, an amount that releases before 1.37 change while they search"


def _hands_on(entry: DeviceCapacity) -> bool:
    """Whether the amount consumed may be the claim's own object."""
    policy = entry.policy
    if policy is None:
        return False
    return policy.valid_range is None or policy.valid_range.minimum is None or policy.valid_range.step is None
