"""What is left of the devices of a class: held, tainted, free, free but too few together, and the largest claim that still fits somewhere.

Counted on one node of each kind that a claim of the class can tell apart. The largest claim is one request for devices of the class, alone
or with matchAttribute, that the allocator still grants on a node that isn't cordoned. Devices of one NVLink domain are added up over its
nodes (label nvidia.com/gpu.clique): no driver publishes the domain as an attribute.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..dra.allocation import allocate, node_groups
from ..dra.attributes import Reader
from ..dra.outcome import Allocated
from ..dra.prepared import Prepared, pools_of, prepare
from ..dra.problem import AllocationProblem, TargetNode
from ..dra.selectors import chain, chain_verdicts
from ..dra.taints import blocking_taint
from ..objects import (
    MAX_RESULTS,
    Attribute,
    ClaimSpec,
    Device,
    DeviceConstraint,
    DeviceRequest,
    ExactRequest,
    Metadata,
    Node,
    ResourceClaim,
    ResourceSlice,
)
from ..scheduling.dynamic_resources import problem_of
from ..scheduling.placement import targets_of
from ..view import ClusterView

PLACES = ("resource.kubernetes.io/numaNode", "resource.kubernetes.io/pcieRoot")
DOMAIN = "nvidia.com/gpu.clique"


@dataclass(frozen=True, slots=True)
class Stock:
    """Devices of one class. `held` by claims; `tainted`: not held, with a taint that a plain request doesn't tolerate; `free`: the rest, of
    which `cordoned` on cordoned nodes, and `apart` on nodes that have fewer free ones than `needed`. `node`, `numa`, `root`, `domain`: the
    largest claim that still fits there; None where the place isn't published."""

    device_class: str
    total: int
    held: int
    tainted: int
    free: int
    cordoned: int
    apart: int
    needed: int
    node: int
    numa: int | None
    root: int | None
    domain: int | None


@dataclass(frozen=True, slots=True, eq=False)
class _Kind:
    """Nodes alike: how many devices of each state one of them has, and the most free ones with one value of each of PLACES. `shared` are
    counts of pools that other nodes see too, by slice."""

    nodes: Sequence[TargetNode]
    own: Counter[str]
    together: tuple[int, ...]
    published: tuple[bool, ...]
    shared: dict[int, Counter[str]]

    @property
    def free(self) -> int:
        """What one node sees free."""
        return self.own["free"] + sum(entry["free"] for entry in self.shared.values())


def stock(view: ClusterView, device_class: str, needed: int) -> Stock:
    """Count the devices of a class. `needed`: how many on one node the smallest claim wants that waits for want of free ones (0: none)."""
    problem = problem_of(view, (_claim(device_class, 1, *PLACES),))
    cordoned = {node.name for node in view.all(Node) if node.unschedulable}
    groups = node_groups(problem, targets_of(view))
    kinds = [_count(prepare(problem), group) for group in groups]
    total = Counter[str]()
    shared: dict[int, Counter[str]] = {}
    apart = closed = 0
    domains = Counter[str]()
    for kind in kinds:
        shared |= kind.shared
        for state, count in kind.own.items():
            total[state] += count * len(kind.nodes)
        if not kind.own["free"]:
            continue
        barred = sum(1 for node in kind.nodes if node.name in cordoned)
        closed += barred * kind.own["free"]
        apart += kind.own["free"] * (len(kind.nodes) - barred) if kind.free < needed else 0
        for node in kind.nodes:
            if node.name not in cordoned:
                domains[node.labels.get(DOMAIN, "")] += kind.own["free"]
    for count in shared.values():
        total.update(count)
    labelled = any(DOMAIN in node.metadata.labels for node in view.all(Node))
    del domains[""]
    usable = [(kind, node) for kind in kinds if (node := next((own for own in kind.nodes if own.name not in cordoned), None)) is not None]
    places = [
        _largest(problem, device_class, [(kind.together[place], node) for kind, node in usable], PLACES[place])
        if any(kind.published[place] for kind in kinds)
        else None
        for place in range(len(PLACES))
    ]
    return Stock(
        device_class,
        sum(total.values()),
        total["held"],
        total["tainted"],
        total["free"],
        closed,
        apart,
        needed,
        _largest(problem, device_class, [(kind.free, node) for kind, node in usable]),
        places[0],
        places[1],
        max(domains.values(), default=0) if labelled else None,
    )


def _claim(device_class: str, count: int, *attributes: str) -> ResourceClaim:
    request = DeviceRequest("devices", ExactRequest("devices", device_class, count=count))
    constraints = tuple(DeviceConstraint((), match_attribute=name) for name in attributes)
    return ResourceClaim(Metadata(name="stock", namespace="default"), ClaimSpec((request,), constraints))


def _count(prepared: Prepared, nodes: Sequence[TargetNode]) -> _Kind:
    problem = prepared.problem
    own = Counter[str]()
    shared: dict[int, Counter[str]] = {}
    together = [Counter[Attribute]() for _ in PLACES]
    published = [False for _ in PLACES]
    readers = [Reader(name, None, prepared.environment) for name in PLACES]
    for pool in pools_of(prepared, nodes[0]):
        if not pool.usable:
            continue
        held = problem.in_use.names_in(pool.driver, pool.name)
        local = not pool.elsewhere and all(entry.node_selection.node_name for entry in pool.slices)
        for entry in pool.slices:
            counts = own if local else shared.setdefault(id(entry), Counter[str]())
            values = [reader.read(entry) for reader in readers]
            for place, device in _matching(prepared, entry):
                state = "held" if device.name in held else "tainted" if _tainted(problem, device) else "free"
                counts[state] += 1
                for number, column in enumerate(values):
                    value = column[place]
                    published[number] = published[number] or isinstance(value, Attribute)
                    if state == "free" and isinstance(value, Attribute):
                        together[number][value] += 1
    most = tuple(max(entry.values(), default=0) for entry in together)
    return _Kind(nodes, own, most, tuple(published), shared)


def _matching(prepared: Prepared, entry: ResourceSlice) -> Iterator[tuple[int, Device]]:
    problem = prepared.problem
    selectors = chain(prepared.environment, problem.classes[problem.claims[0].spec.requests[0].alternatives[0].class_name], ())
    verdicts = chain_verdicts(entry, selectors)
    return ((place, device) for place, device in enumerate(entry.devices) if verdicts[place] is True)


def _tainted(problem: AllocationProblem, device: Device) -> bool:
    return bool(device.taints) and "DeviceTaints" in problem.features and blocking_taint(device.taints, (), problem.minor) is not None


def _largest(problem: AllocationProblem, device_class: str, bounds: Sequence[tuple[int, TargetNode]], *attributes: str) -> int:
    """The most devices that one claim gets on one of these nodes; a bound says how many are free there. Fewer fit where more do."""

    def fits(count: int, node: TargetNode) -> bool:
        return isinstance(allocate(replace(problem, claims=(_claim(device_class, count, *attributes),)), node), Allocated)

    best = 0
    for bound, node in sorted(bounds, key=lambda pair: -pair[0]):
        most = min(bound, MAX_RESULTS)
        if most <= best:
            break
        if fits(most, node):
            best = most
            continue
        while best + 1 < most and fits(best + 1, node):
            best += 1
    return best
