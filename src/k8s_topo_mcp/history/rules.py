"""What an administrator sets: device classes, device taint rules, quotas, limit ranges, priority classes."""

from __future__ import annotations

from collections.abc import Iterator

from ..objects import DeviceClass, DeviceTaintRule, LimitRange, PriorityClass, Quantity, ResourceQuota, Resources, Selector
from ..view.past import Effect
from .fields import Difference, amounts, came_and_went, text, value
from .slices import taints


def expression(selectors: tuple[Selector, ...]) -> str:
    """Selectors that hold together, as one expression."""
    found = [entry.expression if entry.expression is not None else "?" for entry in selectors]
    return found[0] if len(found) == 1 else " && ".join(f"({entry})" for entry in found)


def summary_of_class(entry: DeviceClass) -> str:
    """A class in one line."""
    extended = f", as {entry.extended_resource_name}" if entry.extended_resource_name else ""
    return text((expression(entry.selectors) or "all devices") + extended)


def compare_classes(before: DeviceClass, after: DeviceClass) -> Iterator[Difference]:
    """What is different in a device class."""
    yield from value("spec.selectors", expression(before.selectors), expression(after.selectors))
    yield from value("spec.extendedResourceName", before.extended_resource_name, after.extended_resource_name)
    yield from came_and_went(
        "spec.config", (entry.driver for entry in before.config), (entry.driver for entry in after.config), Effect.NOTE, Effect.NOTE
    )


def selected(rule: DeviceTaintRule) -> str:
    """Which devices a rule taints."""
    parts = [
        f"{name} {entry}"
        for name, entry in (("driver", rule.driver), ("pool", rule.pool), ("device", rule.device), ("class", rule.class_name))
        if entry
    ]
    parts += [expression(rule.selectors)] if rule.selectors else []
    return text(", ".join(parts) or ("every device" if rule.selects else "no device"))


def summary_of_rule(rule: DeviceTaintRule) -> str:
    """A rule in one line."""
    return text(f"{rule.taint} on {selected(rule)}")


def compare_taint_rules(before: DeviceTaintRule, after: DeviceTaintRule) -> Iterator[Difference]:
    """What is different in a taint rule."""
    yield from taints("spec.taint", (before.taint,), (after.taint,))
    yield from value("spec.deviceSelector", selected(before), selected(after))


def listed(resources: Resources, names: tuple[str, ...]) -> str:
    """`pods 3, requests.cpu 4`."""
    return text(", ".join(f"{name} {resources[name]}" for name in names if name in resources))


def compare_quotas(before: ResourceQuota, after: ResourceQuota) -> Iterator[Difference]:
    """What is different in a quota. All that is used more or less is one change: one pod moves several of its rows."""
    yield from amounts("status.hard", before.hard, after.hard)
    moved = tuple(name for name in sorted({*before.used, *after.used}) if before.used.get(name) != after.used.get(name))
    if moved:
        full = any(name in after.hard and after.used.get(name, _NONE) >= after.hard[name] for name in moved)
        yield Difference(
            "status.used", listed(before.used, moved) or None, listed(after.used, moved) or None, Effect.LESS if full else Effect.NOTE
        )
    old, new = "; ".join(map(str, before.scopes)), "; ".join(map(str, after.scopes))
    yield from value("spec.scopes", old, new)


_NONE = Quantity(0)


def summary_of_quota(quota: ResourceQuota) -> str:
    """A quota in one line."""
    return listed(quota.hard, tuple(sorted(quota.hard)))


def limits(entry: LimitRange) -> str:
    """A limit range in one line."""
    parts: list[str] = []
    for item in entry.limits:
        for word, amounts_of in (("min", item.min), ("max", item.max), ("default", item.default)):
            if amounts_of:
                parts.append(f"{item.type} {word} {listed(amounts_of, tuple(sorted(amounts_of)))}")
    return text("; ".join(parts))


def compare_limit_ranges(before: LimitRange, after: LimitRange) -> Iterator[Difference]:
    """What is different in a limit range."""
    yield from value("spec.limits", limits(before), limits(after))


def compare_priority_classes(before: PriorityClass, after: PriorityClass) -> Iterator[Difference]:
    """What is different in a priority class. Its value is immutable, so another one is another class of that name."""
    yield from value("value", before.value, after.value)
    yield from value("globalDefault", before.global_default, after.global_default)
    yield from value("preemptionPolicy", before.preemption_policy, after.preemption_policy)
