"""Device taints: whether a device's taints keep a request away from it.

Rule: NoSchedule and NoExecute block unless tolerated, None and effects that aren't known don't (taintPreventsAllocation in
structured/internal/*; 1.34 lets every effect block). Toleration: resourceclaim.ToleratesTaint. Taints of DeviceTaintRules are merged
into the slices first (resourceslice/tracker): a rule adds its taint to every device that all of its set selectors name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ..cel import CompileError, Environment
from ..objects import DeviceClass, DeviceTaint, DeviceTaintRule, DeviceToleration, ResourceSlice
from .selectors import selector_verdicts

BLOCKING = frozenset({"NoSchedule", "NoExecute"})


def tolerates(toleration: DeviceToleration, taint: DeviceTaint) -> bool:
    """Empty effect and empty key match all; Equal compares values; an unknown operator tolerates nothing."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator in ("", "Equal"):
        return toleration.value == taint.value
    return toleration.operator == "Exists"


def blocking_taint(taints: Iterable[DeviceTaint], tolerations: Iterable[DeviceToleration], minor: int) -> DeviceTaint | None:
    """The first taint that keeps the request away, or None."""
    for taint in taints:
        if minor > 34 and taint.effect not in BLOCKING:
            continue
        if not any(tolerates(toleration, taint) for toleration in tolerations):
            return taint
    return None


def with_rules(
    slices: Sequence[ResourceSlice],
    rules: Sequence[DeviceTaintRule],
    classes: Mapping[str, DeviceClass],
    minor: int,
    environment: Environment,
) -> tuple[ResourceSlice, ...]:
    """The slices as the allocator sees them: the taints of every matching rule added, untouched slices unchanged.

    A rule with an empty selector means every device, one without a selector none (up to 1.36 every device, too). In 1.34 a rule also
    selects by class and by CEL; a selector that fails on a device leaves it alone.
    """
    active = [rule for rule in rules if rule.selects or minor <= 36]
    if not active:
        return tuple(slices)
    return tuple(_tainted(entry, active, classes, environment) for entry in slices)


def _tainted(
    entry: ResourceSlice, rules: Sequence[DeviceTaintRule], classes: Mapping[str, DeviceClass], environment: Environment
) -> ResourceSlice:
    matching = [
        rule
        for rule in rules
        if rule.driver in (None, entry.driver)
        and rule.pool in (None, entry.pool)
        and (rule.class_name is None or rule.class_name in classes)
    ]
    if not matching:
        return entry
    added = {rule.name: _selected(entry, rule, classes, environment) for rule in matching}
    devices = tuple(
        replace(device, taints=device.taints + own)
        if (own := tuple(rule.taint for rule in matching if added[rule.name][place]))
        else device
        for place, device in enumerate(entry.devices)
    )
    return replace(entry, devices=devices) if devices != entry.devices else entry


def _selected(
    entry: ResourceSlice, rule: DeviceTaintRule, classes: Mapping[str, DeviceClass], environment: Environment
) -> tuple[bool, ...]:
    """Which devices of the slice a rule taints."""
    selected = [rule.device in (None, device.name) for device in entry.devices]
    selectors = (*(classes[rule.class_name].selectors if rule.class_name is not None else ()), *rule.selectors)
    for selector in selectors:
        if selector.expression is None:
            continue
        verdicts = selector_verdicts(entry, selector.expression, environment)
        selected = [own and not isinstance(verdicts, CompileError) and verdicts[place] is True for place, own in enumerate(selected)]
    return tuple(selected)
