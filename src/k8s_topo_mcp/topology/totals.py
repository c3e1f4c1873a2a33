"""The numbers above a picture: nodes, zones, shapes, devices by state, and whose they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from k8s_topo_mcp.view import derived

from .joins import Kind
from .nodes import Hardware, NodeHardware
from .placed import PlacedDevice, State, Tally, summed
from .shapes import Shape


@dataclass(frozen=True, slots=True, eq=False)
class Totals:
    """`by_kind` counts every kind, accelerators first; `accelerators` sums their states. `closed` counts free accelerators on nodes where
    nothing new starts, `namespaces` held accelerators by the namespace of the claim (or the pod, for device plugins)."""

    nodes: int
    zones: int
    unlabelled: int
    shapes: int
    accelerators: Mapping[State, int]
    total: int
    closed: int
    by_kind: Mapping[Kind, tuple[Mapping[State, int], int]]
    namespaces: Mapping[str, int]


def totals(nodes: Sequence[NodeHardware], shapes: Mapping[str, Shape]) -> Totals:
    """Count them."""
    by_kind: dict[Kind, list[Tally]] = {}
    for node in nodes:
        for kind, tally in node.tallies.items():
            found = by_kind.get(kind)
            if found is None:
                by_kind[kind] = [tally]
            else:
                found.append(tally)
    kinds = {kind: summed(tallies) for kind, tallies in by_kind.items()}
    ordered = sorted(kinds, key=lambda kind: (not kind.is_accelerator, -kinds[kind][1], kind.order))
    accelerators, number = summed(node.accelerators for node in nodes)
    zones = {node.places.get("zone") for node in nodes}
    return Totals(
        nodes=len(nodes),
        zones=len(zones - {None}),
        unlabelled=sum(1 for node in nodes if node.places.get("zone") is None),
        shapes=len({shapes[node.name].name for node in nodes}),
        accelerators=accelerators,
        total=number,
        closed=sum(node.accelerators.free for node in nodes if node.closed),
        by_kind={kind: kinds[kind] for kind in ordered},
        namespaces=_namespaces(nodes),
    )


def _namespaces(nodes: Iterable[NodeHardware]) -> Mapping[str, int]:
    found: dict[str, int] = {}
    for node in nodes:
        for space, count in derived(node, "topology.namespaces", lambda node=node: _of_node(node)):
            found[space] = found.get(space, 0) + count
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def _of_node(node: NodeHardware) -> tuple[tuple[str, int], ...]:
    found: Counter[str] = Counter()
    for device in node.devices:
        if device.kind.is_accelerator and (device.holds or device.parts):
            found.update(_owners(device))
    for entry in node.plugin:
        if entry.role == "accelerator" and entry.requested:
            spaces = {pod.namespace for pod in entry.users}
            # A plugin says how many a pod requests, the list of pods only who: split evenly would be a guess, so one owner or none.
            if len(spaces) == 1:
                found[next(iter(spaces))] += min(entry.requested, entry.allocatable)
    return tuple(found.items())


def _owners(device: PlacedDevice) -> set[str]:
    if len(device.holds) == 1 and not device.parts:
        return {device.holds[0].holder.claim.namespace}
    return {hold.holder.claim.namespace for part in (device, *device.parts) for hold in part.holds}


def gaps(facts: Hardware) -> tuple[str, ...]:
    """What slices and claims say that the picture of nodes can't show."""
    found: list[str] = []
    if facts.superseded:
        found.append(f"{facts.superseded:,} devices in slices of an older pool generation (not counted)")
    if facts.unseen:
        found.append(f"{facts.unseen:,} devices in slices that no node can use")
    if facts.lost:
        holders = {hold.holder.name for hold in facts.lost}
        found.append(f"{len(facts.lost):,} allocated devices that no slice lists, held by {_few(holders)}")
    double = [node.name for node in facts.nodes if _twice(node)]
    if double:
        text = "accelerators published by a DRA driver and by a device plugin; the same hardware may count twice"
        found.append(f"{_few(set(double))}: {text}")
    return tuple(found)


def _twice(node: NodeHardware) -> bool:
    sources = {kind.from_plugin for kind in node.tallies if kind.role == "accelerator"}
    return len(sources) == 2


def _few(names: set[str]) -> str:
    ordered = sorted(names)
    return ", ".join(ordered[:2]) + (f" and {len(ordered) - 2:,} more" if len(ordered) > 2 else "")
