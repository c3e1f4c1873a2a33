"""What is left of the devices of a class: held, tainted, free, free but too few together, and the largest claim that still fits somewhere.

Counted on one node of each kind that a claim of the class can tell apart. "Free" is what `topology` calls free: a plain request for that
one device would get it, so a card of which a partition is in use isn't. The largest claim is one request for devices of the class, alone or
with matchAttribute, that the allocator still grants on a node that isn't cordoned. Devices of one NVLink domain are added up over its nodes
(label nvidia.com/gpu.clique): no driver publishes the domain as an attribute.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..dra.allocation import node_groups
from ..dra.attributes import Reader
from ..dra.counters import PoolCounters
from ..dra.pools import Pool
from ..dra.prepared import Prepared, pools_of, prepare
from ..dra.problem import AllocationProblem, TargetNode
from ..dra.selectors import chain, chain_verdicts
from ..dra.taints import blocking_taint
from ..objects import MAX_RESULTS, Attribute, Device, DeviceId, Node, ResourceSlice
from ..scheduling.dynamic_resources import problem_of
from ..scheduling.placement import targets_of
from ..view import ClusterView
from .largest import Largest, claim_for, largest

PLACES = ("resource.kubernetes.io/numaNode", "resource.kubernetes.io/pcieRoot")
DOMAIN = "nvidia.com/gpu.clique"


@dataclass(frozen=True, slots=True)
class Stock:
    """Devices of one class. `held` whole by claims; `shared`: some of its shares are; `split`: nobody holds it, but other devices took the
    counters that it needs; `tainted`: none of these, with a taint that a plain request doesn't tolerate; `free`: the rest, of which
    `together` at most can be had side by side, `cordoned` are on cordoned nodes, and `apart` on nodes that have fewer free ones than
    `needed`.

    `node`, `numa`, `root`, `domain`: the largest claim that still fits there; None where the place isn't published or wasn't asked for.
    `at_least` names those of the first three of which no more is known than that so many fit.
    """

    device_class: str
    total: int
    held: int
    shared: int
    split: int
    tainted: int
    free: int
    together: int
    cordoned: int
    apart: int
    needed: int
    node: int
    numa: int | None
    root: int | None
    domain: int | None
    at_least: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class _Kind:
    """Nodes alike: how many devices of each state one of them has, at most how many fit in one claim there, and how many with one value of
    each of PLACES. `own` and `together` are of pools that only such a node sees; `shared` are counts of the others, by slice, `among` at
    most how many of them can be had together, by pool."""

    nodes: Sequence[TargetNode]
    own: Counter[str]
    together: int
    most: int
    most_at: tuple[int, ...]
    published: tuple[bool, ...]
    shared: dict[int, Counter[str]]
    among: dict[tuple[str, str], int]

    @property
    def free(self) -> int:
        """What one node sees free."""
        return self.own["free"] + sum(entry["free"] for entry in self.shared.values())


def stock(view: ClusterView, device_class: str, needed: int, places: Sequence[str] = PLACES) -> Stock:
    """Count the devices of a class. `needed`: how many on one node the smallest claim wants that waits for want of free ones (0: none).
    `places`: for which of PLACES the largest claim is asked."""
    problem = problem_of(view, (claim_for(device_class, 1, *PLACES),))
    cordoned = {node.name for node in view.all(Node) if node.unschedulable}
    groups = node_groups(problem, targets_of(view))
    kinds = [_count(prepare(problem), group) for group in groups]
    total = Counter[str]()
    shared: dict[int, Counter[str]] = {}
    among: dict[tuple[str, str], int] = {}
    apart = closed = together = 0
    domains = Counter[str]()
    for kind in kinds:
        shared |= kind.shared
        among |= {pool: max(count, among.get(pool, 0)) for pool, count in kind.among.items()}
        for state, count in kind.own.items():
            total[state] += count * len(kind.nodes)
        together += kind.together * len(kind.nodes)
        if not kind.own["free"]:
            continue
        barred = sum(1 for node in kind.nodes if node.name in cordoned)
        closed += barred * kind.own["free"]
        apart += kind.own["free"] * (len(kind.nodes) - barred) if kind.free < needed else 0
        for node in kind.nodes:
            if node.name not in cordoned:
                domains[node.labels.get(DOMAIN, "")] += kind.together
    for count in shared.values():
        total.update(count)
    labelled = any(DOMAIN in node.metadata.labels for node in view.all(Node))
    del domains[""]
    usable = [(kind, node) for kind in kinds if (node := next((own for own in kind.nodes if own.name not in cordoned), None)) is not None]
    found: dict[str, Largest | None] = {"node": largest(problem, device_class, [(kind.most, node) for kind, node in usable])}
    for number, (name, place) in enumerate(zip(("numa", "root"), PLACES, strict=True)):
        asked = place in places and any(kind.published[number] for kind in kinds)
        bounds = [(kind.most_at[number], node) for kind, node in usable]
        found[name] = largest(problem, device_class, bounds, place) if asked else None
    counts = {name: None if entry is None else entry.count for name, entry in found.items()}
    return Stock(
        device_class,
        total=sum(total.values()),
        held=total["held"],
        shared=total["shared"],
        split=total["split"],
        tainted=total["tainted"],
        free=total["free"],
        together=min(total["free"], together + sum(among.values())),
        cordoned=closed,
        apart=apart,
        needed=needed,
        node=counts["node"] or 0,
        numa=counts["numa"],
        root=counts["root"],
        domain=max(domains.values(), default=0) if labelled else None,
        at_least=frozenset(name for name, entry in found.items() if entry is not None and not entry.proven),
    )


def _count(prepared: Prepared, nodes: Sequence[TargetNode]) -> _Kind:
    problem = prepared.problem
    own = Counter[str]()
    shared: dict[int, Counter[str]] = {}
    among: dict[tuple[str, str], int] = {}
    together = most = 0
    most_at = [Counter[Attribute]() for _ in PLACES]
    published = [False for _ in PLACES]
    readers = [Reader(name, None, prepared.environment) for name in PLACES]
    for pool in pools_of(prepared, nodes[0]):
        if not pool.usable:
            continue
        held = problem.in_use.names_in(pool.driver, pool.name)
        local = not pool.elsewhere and all(entry.node_selection.node_name for entry in pool.slices)
        for counters, slices in _counted_together(problem, pool):
            free: list[Device] = []
            offered: list[Device] = []
            at: list[dict[Attribute, list[Device]]] = [{} for _ in PLACES]
            for entry in slices:
                counts = own if local else shared.setdefault(id(entry), Counter[str]())
                values = [reader.read(entry) for reader in readers]
                for place, device in _matching(prepared, entry):
                    state = "held" if device.name in held else _state(problem, pool, device, counters)
                    counts[state] += 1
                    if state == "free":
                        free.append(device)
                    if state in ("free", "shared"):
                        offered.append(device)
                    for number, column in enumerate(values):
                        value = column[place]
                        published[number] = published[number] or isinstance(value, Attribute)
                        if state in ("free", "shared") and isinstance(value, Attribute):
                            at[number].setdefault(value, []).append(device)
            if local:
                together += counters.at_most(free)
            elif free:
                key = (pool.driver, pool.name)
                among[key] = among.get(key, 0) + counters.at_most(free)
            most += _most(problem, counters, offered)
            for number, values_at in enumerate(at):
                for value, devices in values_at.items():
                    most_at[number][value] += _most(problem, counters, devices)
    limits = tuple(max(entry.values(), default=0) for entry in most_at)
    return _Kind(nodes, own, together, most, limits, tuple(published), shared, among)


def _counted_together(problem: AllocationProblem, pool: Pool) -> Iterator[tuple[PoolCounters, Sequence[ResourceSlice]]]:
    """The slices of a pool whose devices share counters: all of them, in 1.34 each alone."""
    if problem.minor == 34:
        for entry in pool.slices:
            yield PoolCounters(pool, entry.shared_counters, (entry,), problem.in_use, problem.minor), (entry,)
    else:
        yield PoolCounters(pool, pool.counter_sets, (*pool.slices, *pool.elsewhere), problem.in_use, problem.minor), pool.slices


def _state(problem: AllocationProblem, pool: Pool, device: Device, counters: PoolCounters) -> str:
    """Of a device that isn't held whole."""
    if problem.in_use.shared and DeviceId(pool.driver, pool.name, device.name) in problem.in_use.shared:
        return "shared"
    if device.consumes_counters and not counters.at_most((device,)):
        return "split"
    return "tainted" if _tainted(problem, device) else "free"


def _most(problem: AllocationProblem, counters: PoolCounters, devices: Sequence[Device]) -> int:
    """How many results these devices can give one claim: one that gives shares may give all of them."""
    if "ConsumableCapacity" in problem.features and any(device.allow_multiple_allocations for device in devices):
        return MAX_RESULTS
    return counters.at_most(devices)


def _matching(prepared: Prepared, entry: ResourceSlice) -> Iterator[tuple[int, Device]]:
    problem = prepared.problem
    selectors = chain(prepared.environment, problem.classes[problem.claims[0].spec.requests[0].alternatives[0].class_name], ())
    verdicts = chain_verdicts(entry, selectors)
    return ((place, device) for place, device in enumerate(entry.devices) if verdicts[place] is True)


def _tainted(problem: AllocationProblem, device: Device) -> bool:
    return bool(device.taints) and "DeviceTaints" in problem.features and blocking_taint(device.taints, (), problem.minor) is not None
