"""What new nodes still have once the pods are on them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..dra.allocation import allocate
from ..dra.outcome import Allocated
from ..objects import ClaimSpec, DeviceClass, DeviceRequest, ExactRequest, Metadata, Node, Pod, ResourceClaim
from ..objects.quantity import Quantity
from ..scheduling.dynamic_resources import in_use, problem_of
from ..scheduling.node_info import node_info
from ..scheduling.placement import target
from ..view import ClusterView
from ..view.indices import claims_of, slices_of_node

MOST_OF_ONE_CLASS = 32
"""Results that a claim may have (AllocationResultsMaxSize): more devices of a class on one node aren't counted."""


@dataclass(frozen=True, slots=True)
class Devices:
    """Of one driver: how many devices there are, and how many of them a claim holds."""

    total: int
    held: int


@dataclass(frozen=True, slots=True, eq=False)
class LeftOver:
    """Summed over `nodes`, of which `empty` run no pod but daemons. `resources`: what is free of each that the nodes offer. `drivers`:
    devices by driver. `classes`: how many devices of a class one more claim on each node could still get; partitions that exclude each
    other count once."""

    nodes: tuple[str, ...]
    empty: int
    resources: Mapping[str, Quantity]
    drivers: Mapping[str, Devices]
    classes: Mapping[str, int]


def left_over(view: ClusterView, nodes: Sequence[Node], daemons: int, classes: Iterable[str] = ()) -> LeftOver:
    """Of the nodes in the view; each runs so many `daemons`, and is empty if it runs nothing else."""
    free: dict[str, int | float] = {}
    shapes: dict[str, Quantity] = {}
    drivers: dict[str, Devices] = {}
    counts = dict.fromkeys(classes, 0)
    held = in_use(view)
    empty = 0
    for node in nodes:
        info = node_info(view, node)
        empty += len(info.pods) <= daemons
        for name, amount in info.allocatable.items():
            taken = len(info.pods) if name == "pods" else info.requested.get(name, 0)
            free[name] = free.get(name, 0) + amount.value - taken  # type: ignore[operator]
            shapes.setdefault(name, amount)
        for entry in slices_of_node(view, node.name):
            known = drivers.get(entry.driver, Devices(0, 0))
            names = held.names_in(entry.driver, entry.pool)
            taken = sum(device.name in names for device in entry.devices)
            drivers[entry.driver] = Devices(known.total + len(entry.devices), known.held + taken)
        for name in counts:
            counts[name] += _most(view, node, name)
    resources = {name: Quantity(int(amount * 1000), -3, shapes[name].format) for name, amount in free.items()}
    return LeftOver(tuple(node.name for node in nodes), empty, resources, drivers, counts)


def classes_asked(view: ClusterView, pods: Sequence[Pod]) -> tuple[str, ...]:
    """The classes of devices that the pods ask for."""
    found: dict[str, None] = {}
    for pod in pods:
        for entry in claims_of(view, pod):
            for request in entry.claim.spec.requests if entry.claim is not None else ():
                found.update(dict.fromkeys(exact.class_name for exact in request.alternatives if exact.class_name))
    return tuple(found)


def _most(view: ClusterView, node: Node, name: str) -> int:
    """The largest count that a claim for devices of the class could have on the node."""
    if view.get(DeviceClass, name) is None:
        return 0
    low, high = 0, MOST_OF_ONE_CLASS
    while low < high:
        middle = (low + high + 1) // 2
        spec = ClaimSpec((DeviceRequest("r", ExactRequest("r", name, count=middle)),))
        claim = ResourceClaim(Metadata(name="left-over", namespace="default"), spec)
        if isinstance(allocate(problem_of(view, (claim,)), target(node)), Allocated):
            low = middle
        else:
            high = middle - 1
    return low
