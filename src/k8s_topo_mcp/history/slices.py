"""ResourceSlices: devices that come and go, what is published of them, taints, and the pool's generation.

A driver that republishes a pool may do it under new slice names (k8s.io/dynamic-resource-allocation resourceslice.Controller), so `about`
names the pool: one slice gone and another there isn't a loss of devices. Which is why pools, not slices, are compared between two views.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..objects import Device, DeviceTaint, NodeSelection, ResourceSlice
from ..view.past import Effect
from .fields import Difference, at_key, came_and_went, entries, names, text, value

SPEC = "spec.devices"
MANY = 32
"""Devices that a slice's line names."""


def pool(piece: ResourceSlice) -> str:
    """How `about` names a slice's pool."""
    return text(f"{piece.driver}/{piece.pool}")


def summary(piece: ResourceSlice) -> str:
    """A slice in one line. The names tell whether another slice has the same devices (`recent`)."""
    count = len(piece.devices)
    listed = f": {names([device.name for device in piece.devices], MANY)}" if count else ""
    return text(f"generation {piece.generation} of {text(piece.driver, 80)}, {count} device{'' if count == 1 else 's'}{listed}", 600)


def compare(before: ResourceSlice, after: ResourceSlice) -> Iterator[Difference]:
    """What is different in a slice."""
    where = pool(after)
    differences = (
        *compare_devices(before.devices, after.devices),
        *value("spec.pool.name", before.pool, after.pool),
        *value("spec.pool.generation", before.generation, after.generation, Effect.NOTE),
        *value("spec.pool.resourceSliceCount", before.slice_count, after.slice_count, Effect.NOTE),
        *value("spec.driver", before.driver, after.driver),
        *selection("spec", before.node_selection, after.node_selection),
        *counters(before, after),
    )
    for found in differences:
        yield found._replace(about=where)


def compare_devices(before: Iterable[Device], after: Iterable[Device]) -> Iterator[Difference]:
    """What is different in devices of one pool, by their names."""
    old, new = {device.name: device for device in before}, {device.name: device for device in after}
    yield from came_and_went(SPEC, old, new, Effect.MORE, Effect.LESS)
    for name, device in new.items():
        known = old.get(name)
        if known is not None and known is not device:
            yield from _device(at_key(SPEC, name), known, device)


def _device(path: str, old: Device, new: Device) -> Iterator[Difference]:
    yield from entries(f"{path}.attributes", old.attributes, new.attributes)
    yield from entries(
        f"{path}.capacity",
        {key: entry.value for key, entry in old.capacity.items()},
        {key: entry.value for key, entry in new.capacity.items()},
    )
    yield from taints(f"{path}.taints", old.taints, new.taints)
    yield from selection(path, old.node_selection, new.node_selection)
    yield from value(f"{path}.allowMultipleAllocations", old.allow_multiple_allocations, new.allow_multiple_allocations)
    yield from came_and_went(f"{path}.bindingConditions", old.binding_conditions, new.binding_conditions, Effect.OTHER, Effect.OTHER)
    yield from value(f"{path}.consumesCounters", _consumed(old), _consumed(new))


def taints(path: str, old: Iterable[DeviceTaint], new: Iterable[DeviceTaint]) -> Iterator[Difference]:
    """Taints by key, value and effect; when they were added doesn't count."""
    before, after = {str(taint): taint for taint in old}, {str(taint): taint for taint in new}
    for name in sorted({*before, *after}):
        if name in before and name in after:
            continue
        taint = before.get(name) or after[name]
        hurts = taint.effect != "None"
        effect = (Effect.MORE if name in before else Effect.LESS) if hurts else Effect.NOTE
        yield Difference(at_key(path, name), "there" if name in before else None, "there" if name in after else None, effect)


def _consumed(device: Device) -> str:
    return "; ".join(
        f"{entry.counter_set}: " + ", ".join(f"{name} {amount}" for name, amount in sorted(entry.counters.items()))
        for entry in device.consumes_counters
    )


def selection(path: str, old: NodeSelection, new: NodeSelection) -> Iterator[Difference]:
    """On which nodes devices can be used."""
    yield from value(f"{path}.nodeName", old.node_name, new.node_name)
    yield from value(f"{path}.allNodes", old.all_nodes or None, new.all_nodes or None)
    if old.selector != new.selector:
        yield Difference(f"{path}.nodeSelector", _selected(old), _selected(new), Effect.OTHER)


def _selected(given: NodeSelection) -> str | None:
    if given.selector is None:
        return None
    terms = (" and ".join(str(entry) for entry in (*term.expressions, *term.fields)) for term in given.selector.terms)
    return text(" or ".join(terms))


def counters(before: ResourceSlice, after: ResourceSlice) -> Iterator[Difference]:
    """Counters that devices of the pool share."""
    old = {f"{entry.name}.{name}": amount for entry in before.shared_counters for name, amount in entry.counters.items()}
    new = {f"{entry.name}.{name}": amount for entry in after.shared_counters for name, amount in entry.counters.items()}
    yield from entries("spec.sharedCounters", old, new)
