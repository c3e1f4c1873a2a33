"""Where devices drop out for one request: counted while candidates are screened, never inside the search.

The stages are printed in a reader's order: all devices in usable pools, those of the class, those that pass each selector, those not held
by another claim, those without a taint in the way, those with enough capacity left. Counts are over all devices, so a held device shows
up as matching first; the allocator itself never evaluates it. A device of a node to come, of which it isn't known yet whether it passes,
is still there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import add
from typing import Literal

from ..cel import CompileError
from ..objects import Device, DeviceId, ExactRequest, ResourceSlice
from .capacity import NotRepresentable, arithmetic_of, shortage
from .divisions import divided
from .inventory import kept_for
from .pools import Pool
from .prepared import Prepared, pools_of
from .problem import TargetNode
from .selectors import Verdict, chain, chain_verdicts, conjunct_verdicts, may_pass
from .taints import blocking_taint
from .visible import slices_of

StageKind = Literal["devices", "class", "selector", "conjunct", "free", "untainted", "capacity"]
EXAMPLES = 4
KEPT_FUNNELS = 8
"""So many whole funnels are kept."""


@dataclass(frozen=True, slots=True)
class Stage:
    """`left` devices in all, at most `best` on one node. For a selector `index` is its place, for a conjunct `part` the operand's."""

    kind: StageKind
    name: str
    left: int
    best: int
    index: int = -1
    part: int = -1


@dataclass(frozen=True, slots=True, eq=False)
class Funnel:
    """One request of one claim over some nodes. `lacking` maps a node to the first stage where it has fewer devices than needed; nodes
    that have enough are absent. `unusable` are pools that give no devices, each with a node that sees it."""

    claim: int
    request: ExactRequest
    name: str
    needed: int
    nodes: int
    stages: tuple[Stage, ...]
    lacking: Mapping[str, int]
    unusable: tuple[Pool, ...]

    def stage(self, kind: StageKind) -> Stage | None:
        return next((stage for stage in self.stages if stage.kind == kind), None)


@dataclass(frozen=True, slots=True, eq=False)
class Screened:
    """A device that some node offers, where it sits, and whether a claim holds it."""

    device: Device
    slice: ResourceSlice
    pool: Pool
    held: bool

    @property
    def id(self) -> DeviceId:
        return DeviceId(self.pool.driver, self.pool.name, self.device.name)


def needed_devices(request: ExactRequest) -> int:
    """How many devices a request needs at least: for `All` one."""
    return request.count if request.mode == "ExactCount" else 1


def funnel(prepared: Prepared, nodes: Sequence[TargetNode], claim: int, request: ExactRequest, name: str) -> Funnel:
    """Count the stages of one request over these nodes; the last counts are kept for pods that ask the same."""
    problem = prepared.problem
    nodes = tuple(nodes)
    kept: list[tuple[object, Sequence[TargetNode], Funnel]] = problem.inventory.kept.setdefault("funnels", {}).setdefault("last", [])
    asked = (
        problem.classes.get(request.class_name), request.selectors, request.mode, request.count, request.tolerations, request.capacity,
        problem.minor, problem.features, problem.variant, prepared.environment,
    )  # fmt: skip
    for known, over, found in kept:
        if known == (problem.in_use, asked) and over == nodes:
            return replace(found, claim=claim, request=request, name=name)
    found = _count(prepared, nodes, claim, request, name)
    kept[KEPT_FUNNELS - 1 :] = ()
    kept.insert(0, ((problem.in_use, asked), nodes, found))
    return found


def _count(prepared: Prepared, nodes: Sequence[TargetNode], claim: int, request: ExactRequest, name: str) -> Funnel:
    problem = prepared.problem
    device_class = problem.classes.get(request.class_name)
    needed = needed_devices(request)
    if device_class is None:
        return Funnel(claim, request, name, needed, len(nodes), (), {}, ())
    of_class = chain(prepared.environment, device_class, ())
    kinds: list[tuple[StageKind, str, int]] = [("devices", "devices", -1), ("class", f"class {device_class.name}", -1)]
    kinds.extend(("selector", f"selectors[{index}]", index) for index in range(len(request.selectors)))
    kinds.extend((("free", "free", -1), ("untainted", "untainted", -1)))
    with_capacity = "ConsumableCapacity" in problem.features and (request.capacity is not None or bool(problem.in_use.shared))
    if with_capacity:
        kinds.append(("capacity", "capacity left", -1))
    chains = [
        of_class,
        *(chain(prepared.environment, device_class, request.selectors[: index + 1]) for index in range(len(request.selectors))),
    ]
    known: dict[int, tuple[int, ...]] = {}
    totals = [0] * len(kinds)
    best = [0] * len(kinds)
    lacking: dict[str, int] = {}
    unusable: dict[tuple[str, str], Pool] = {}

    # How many devices of a slice are left at each stage depends on what is held of it, and on nothing else that changes.
    questions = problem.inventory.passed_on.setdefault("funnel", {})
    question = (tuple(chains), request.tolerations, problem.minor, "DeviceTaints" in problem.features)
    # Asked with what is held and with nothing held, in turns: both are kept.
    kept: dict[tuple[int, bool], tuple[ResourceSlice, frozenset[str], tuple[int, ...]]] = kept_for(questions, question, dict)
    if problem.inventory.outgrown_by(len(kept)):
        kept.clear()

    def count(pool: Pool, entry: ResourceSlice) -> tuple[int, ...]:
        held = problem.in_use.names_in(pool.driver, pool.name)
        if with_capacity:
            return recount(pool, entry, held)
        key = (id(entry), not held)
        found = kept.get(key)
        if found is None or found[0] is not entry or found[1] is not held:
            found = kept[key] = (entry, held, recount(pool, entry, held))
        return found[2]

    def recount(pool: Pool, entry: ResourceSlice, held: frozenset[str]) -> tuple[int, ...]:
        rows: list[Sequence[Verdict]] = [chain_verdicts(entry, selectors) for selectors in chains]
        if entry.bindings:
            rows = [tuple(map(may_pass, row)) for row in rows]
        last = rows[-1]
        free = [verdict is True and device.name not in held for verdict, device in zip(last, entry.devices, strict=True)]
        clear = free
        if "DeviceTaints" in problem.features and any(device.taints for device in entry.devices):
            clear = [
                ok and blocking_taint(device.taints, request.tolerations, problem.minor) is None
                for ok, device in zip(free, entry.devices, strict=True)
            ]
        counts = [len(entry.devices), *(sum(verdict is True for verdict in row) for row in rows), sum(free), sum(clear)]
        if with_capacity:
            counts.append(
                sum(ok and _has_capacity(prepared, pool, device, request) for ok, device in zip(clear, entry.devices, strict=True))
            )
        return tuple(counts)

    nothing = (0,) * len(kinds)
    alike: dict[tuple[int, ...], list[str]] = {}  # nodes by what they have left at each stage

    def look(node: TargetNode) -> tuple[int, ...]:
        here = nothing
        for pool in pools_of(prepared, node):
            if not pool.usable:
                unusable[(pool.driver, pool.name)] = pool
                continue
            for entry in pool.slices:
                counts = known.get(id(entry))
                if counts is None:
                    counts = known[id(entry)] = count(pool, entry)
                here = counts if here is nothing else tuple(map(add, here, counts))
        return here

    apart = nodes
    if not with_capacity:
        # Of nodes that see nothing but pools of their own, and that these selectors can't tell apart, one stands for all.
        one_by_one: list[TargetNode] = []
        for group, own in divided(prepared, chains, nodes).told:
            if own and all(pool.usable for pool in pools_of(prepared, group[0])):
                here = look(group[0])
                alike.setdefault(here, []).extend([node.name for node in group])
                totals = [total + amount * (len(group) - 1) for total, amount in zip(totals, here, strict=True)]
            else:
                one_by_one += group
        apart = one_by_one
        if len(one_by_one) > 1:
            asked = {node.name for node in one_by_one}
            apart = [node for node in nodes if node.name in asked]  # pools that can't be used are told in the order of the nodes
    for node in apart:
        alike.setdefault(look(node), []).append(node.name)
    for counts, times in Counter(known.values()).items():
        for position, amount in enumerate(counts):
            totals[position] += amount * times
    for here, names in alike.items():
        best = list(map(max, best, here))
        dry = next((position for position, amount in enumerate(here) if amount < needed), None)
        if dry is not None:
            lacking.update(dict.fromkeys(names, dry))
    stages = tuple(Stage(kind, label, totals[position], best[position], index) for position, (kind, label, index) in enumerate(kinds))
    return Funnel(claim, request, name, needed, len(nodes), stages, lacking, tuple(unusable.values()))


def _has_capacity(prepared: Prepared, pool: Pool, device: Device, request: ExactRequest) -> bool:
    problem = prepared.problem
    allocated = problem.in_use.capacity.get(DeviceId(pool.driver, pool.name, device.name), {})
    try:
        return shortage(request.capacity, device.capacity, allocated, {}, arithmetic_of(problem)) is None
    except NotRepresentable:
        return False


def screened(prepared: Prepared, nodes: Iterable[TargetNode], request: ExactRequest, selectors: int | None = None) -> list[Screened]:
    """Devices that pass the class and the first `selectors` selectors of the request (None: all of them), held ones included."""
    return screened_in(prepared, slices_of(prepared, nodes), request, selectors)


def screened_in(
    prepared: Prepared, slices: Iterable[tuple[Pool, ResourceSlice]], request: ExactRequest, selectors: int | None = None
) -> list[Screened]:
    """The same of some slices."""
    problem = prepared.problem
    device_class = problem.classes.get(request.class_name)
    if device_class is None:
        return []
    chosen = request.selectors if selectors is None else request.selectors[:selectors]
    own = chain(prepared.environment, device_class, chosen)
    found: list[Screened] = []
    for pool, entry in slices:
        held = problem.in_use.names_in(pool.driver, pool.name)
        for device, verdict in zip(entry.devices, chain_verdicts(entry, own), strict=True):
            if may_pass(verdict):
                found.append(Screened(device, entry, pool, device.name in held))
    return found


def conjunct_stages(prepared: Prepared, nodes: Sequence[TargetNode], request: ExactRequest, index: int) -> tuple[Stage, ...]:
    """How many devices are left after each `&&` operand of selector `index`, operands applied one after the other."""
    expression = request.selectors[index].expression
    if expression is None:
        return ()
    device_class = prepared.problem.classes[request.class_name]
    before = chain(prepared.environment, device_class, request.selectors[:index])
    totals: list[int] = []
    for _, entry in slices_of(prepared, nodes):
        parts = conjunct_verdicts(entry, expression, prepared.environment)
        if isinstance(parts, CompileError):
            return ()
        for verdict, row in zip(chain_verdicts(entry, before), parts, strict=True):
            if not may_pass(verdict):
                continue
            totals.extend([0] * (len(row) - len(totals)))
            for position, part in enumerate(row):
                if part is not True and not isinstance(part, tuple):
                    break
                totals[position] += 1
    return tuple(
        Stage("conjunct", f"selectors[{index}] part {position + 1}", left, left, index, position) for position, left in enumerate(totals)
    )
