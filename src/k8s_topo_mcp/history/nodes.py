"""Nodes: labels, taints, what can be allocated, conditions, cordons, the kubelet's version. Heartbeats don't count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..objects import Node, Resources
from ..view.past import Effect
from .fields import Difference, amounts, at_key, came_and_went, conditions, entries, text, value

GOOD = ("Ready",)
BAD = ("MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable")
_TICKING = ("timestamp", "last-applied", "heartbeat")
"""Labels whose names end so say only that somebody wrote them (nvidia.com/gfd.timestamp)."""


def accelerators(resources: Resources) -> dict[str, str]:
    """Extended resources: those with a domain of their own."""
    return {name: str(amount) for name, amount in resources.items() if "/" in name and not name.startswith("kubernetes.io/")}


def summary(node: Node) -> str:
    """A node in one line."""
    found = [f"{name} {amount}" for name, amount in sorted(accelerators(node.allocatable).items())]
    return text(", ".join([f"kubelet {node.kubelet_version}" if node.kubelet_version else "no kubelet yet", *found]))


def labels(given: Mapping[str, str]) -> Mapping[str, str]:
    """Labels without those that tick."""
    return {key: entry for key, entry in given.items() if not key.endswith(_TICKING)}


def compare(before: Node, after: Node) -> Iterator[Difference]:
    """What is different in a node."""
    if before.metadata.labels != after.metadata.labels:
        yield from entries("metadata.labels", labels(before.metadata.labels), labels(after.metadata.labels))
    if before.unschedulable != after.unschedulable:
        effect = Effect.LESS if after.unschedulable else Effect.MORE
        yield Difference("spec.unschedulable", text(before.unschedulable), text(after.unschedulable), effect)
    old, new = {str(taint): taint for taint in before.taints}, {str(taint): taint for taint in after.taints}
    for name in sorted({*old, *new}):
        if name in old and name in new:
            continue
        soft = (old.get(name) or new[name]).effect == "PreferNoSchedule"
        effect = Effect.NOTE if soft else Effect.MORE if name in old else Effect.LESS
        yield Difference(at_key("spec.taints", name), "there" if name in old else None, "there" if name in new else None, effect)
    yield from amounts("status.allocatable", before.allocatable, after.allocatable)
    yield from conditions("status.conditions", before.conditions, after.conditions, GOOD, BAD)
    yield from value("status.nodeInfo.kubeletVersion", before.kubelet_version, after.kubelet_version)
    yield from came_and_went(
        "status.declaredFeatures", before.declared_features or (), after.declared_features or (), Effect.MORE, Effect.LESS
    )
