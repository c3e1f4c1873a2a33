"""Would this claim or pod fit, where, with which devices, and how many copies of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..dra.allocation import allocate, allocate_each, class_of
from ..dra.outcome import Aborted, Allocated, Outcome, Unknown
from ..dra.prepared import prepare
from ..dra.problem import NOTHING_HELD, AllocationProblem, InUse, TargetNode
from ..findings import finding
from ..objects import Allocation, DeviceId, Node, ObjectRef, Pod, ResourceClaim
from ..scheduling.dynamic_resources import missing_class, problem_of, unread
from ..scheduling.gang_scheduling import Gang, gang_of
from ..scheduling.node_info import effective_requests, node_info
from ..scheduling.placement import Placement, place, target
from ..view import ClusterView
from ..view.indices import allocated_claims
from .cause import find_cause, outcome_cause
from .layers import drivers
from .node_changes import cordon_changes
from .remedies import Remedies, has_remedies, try_for_claims, try_for_pod
from .report import Cause, Holder, Trial
from .request_changes import deallocated
from .shortages import device_cause

NOTHING: Remedies = ((), (), ())

CORDONED = "the node is cordoned"
ENDED = "it would do, but the error on another node ends the attempt"

MAX_COPIES = 100_000
"""Counting stops here: nobody asks for more."""


@dataclass(frozen=True, slots=True)
class NodeAnswer:
    """One node: whether it fits, with which devices, or what keeps it from fitting. `taken` are the same devices in full."""

    node: str
    fits: bool
    devices: tuple[str, ...] = ()
    why: str = ""
    choices: int = 0
    taken: tuple[DeviceId, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Feasibility:
    """`copies`: how many could run side by side now; `copies_if_released`: with every other holder gone."""

    subject: ObjectRef
    claims: tuple[ResourceClaim, ...]
    pod: Pod | None
    verdict: str
    nodes: tuple[NodeAnswer, ...]
    copies: int | None
    copies_if_released: int | None
    cause: Cause | None
    remedies: tuple[Trial, ...] = ()
    not_helping: tuple[Trial, ...] = ()
    holders: tuple[Holder, ...] = ()
    assumptions: tuple[str, ...] = ()


def released(view: ClusterView) -> ClusterView:
    """The same cluster with every claim's allocation gone."""
    return view.with_edits(*(deallocated(claim) for claim in allocated_claims(view)))


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """How things stand, node by node, and what keeps the subject off all of them (`cause` None: something fits), without remedies and
    copies. `claims` are those that were judged; `unjudged`: no node was looked at, the cause says why."""

    claims: tuple[ResourceClaim, ...]
    nodes: tuple[NodeAnswer, ...]
    cause: Cause | None
    problem: AllocationProblem | None = None
    placement: Placement | None = None
    unjudged: bool = False


def claim_standing(view: ClusterView, claims: Sequence[ResourceClaim], nodes: Sequence[Node]) -> Standing:
    """Claims by themselves, together on one node, as if none of them were allocated. A cordoned node is closed."""
    fresh = tuple(replace(claim, allocation=None, reserved_for=()) for claim in claims)
    problem = problem_of(view, fresh)
    missing = next((found for claim in fresh if (found := missing_class(view, claim)) is not None), None)
    if missing is not None:
        return Standing(fresh, (), Cause(missing, 0, len(nodes)), problem, unjudged=True)
    blind = "Nodes could not be read" if not nodes and view.unknown("Node") is not None else unread(view)
    if blind:
        cause = Cause(finding("UNREADABLE", fresh[0].ref, what=blind), 0, len(nodes))
        return Standing(fresh, (), cause, problem, unjudged=True)
    open_nodes, cordoned = _by_cordon(nodes)
    targets = [target(node) for node in open_nodes or cordoned]
    outcomes = allocate_each(problem, targets)
    answers = tuple(
        NodeAnswer(node.name, False, why=CORDONED) if node.unschedulable else _answer(node.name, outcomes[node.name]) for node in nodes
    )
    cause = _with_drivers(view, problem, _judge(view, problem, outcomes, targets))
    if cause is None and not open_nodes:
        cause = Cause(finding("NODE_UNSCHEDULABLE", cordoned[0].ref, "spec.unschedulable"), 0, len(nodes))
    return Standing(fresh, _ended(answers, cause), cause, problem)


def _by_cordon(nodes: Sequence[Node]) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """(open nodes, cordoned ones)."""
    return tuple(node for node in nodes if not node.unschedulable), tuple(node for node in nodes if node.unschedulable)


def pod_standing(view: ClusterView, pod: Pod, nodes: Sequence[Node], subject: ObjectRef | None = None) -> Standing:
    """A pod with all of its claims, through every filter that is modelled. `subject`: what it is judged for, if not for itself."""
    placement = place(view, pod, tuple(nodes))
    problem = placement.devices.problem
    cause = _with_drivers(view, problem, find_cause(view, placement))
    if cause is None and view.unknown("Pod") is not None:
        what = "Pods could not be read, so what nodes have left isn't known"
        cause = Cause(finding("UNREADABLE", subject or pod.ref, what=what), 0, len(nodes))
    answers = tuple(_pod_answer(entry.node.name, entry.fits, entry.outcome, entry.reasons) for entry in placement.nodes.values())
    if placement.pod_wide or (cause is not None and cause.finding.code == "UNREADABLE" and view.unknown("Pod") is not None):
        answers = ()  # what holds the pod everywhere leaves nothing to say of a single node
    return Standing(problem.claims if problem is not None else (), _ended(answers, cause), cause, problem, placement)


def claim_feasibility(view: ClusterView, claims: Sequence[ResourceClaim], nodes: Sequence[Node]) -> Feasibility:
    """Claims by themselves, together on one node; a node's other limits (taints, cpu, memory) are left out. A cordoned node is closed."""
    standing = claim_standing(view, claims, nodes)
    fresh, cause, problem = standing.claims, standing.cause, standing.problem
    subject = fresh[0].ref
    assert problem is not None
    if standing.unjudged and cause is not None:
        if cause.finding.code == "UNREADABLE":
            return Feasibility(subject, fresh, None, "unknown", (), None, None, cause)
        tried = try_for_claims(view, problem, cause, nodes) if has_remedies(cause) else NOTHING
        return Feasibility(subject, fresh, None, word_of(cause), (), 0, 0, cause, *tried)
    verdict = "fits" if cause is None else word_of(cause)
    open_nodes, cordoned = _by_cordon(nodes)
    helping, vain, holders = NOTHING
    if cause is not None and has_remedies(cause) and open_nodes:
        helping, vain, holders = try_for_claims(view, problem, cause, open_nodes)
    if verdict == "aborted by an error":
        return Feasibility(subject, fresh, None, verdict, standing.nodes, 0, 0, cause, helping, vain, holders)
    if verdict == "no":
        helping = (*_uncordoned(problem, cordoned), *helping)
    targets = [target(node) for node in open_nodes]
    copies = count_copies(problem, targets, {}) if verdict == "fits" else 0
    ever = count_copies(replace(problem, in_use=NOTHING_HELD), targets, {})
    return Feasibility(subject, fresh, None, verdict, standing.nodes, copies, ever, cause, helping, vain, holders)


def _uncordoned(problem: AllocationProblem, cordoned: Sequence[Node]) -> tuple[Trial, ...]:
    """The first cordoned node on which the claims would fit, opened."""
    for node, outcome in zip(cordoned, allocate_each(problem, [target(node) for node in cordoned]).values(), strict=True):
        if isinstance(outcome, Allocated) and not outcome.order_dependent:
            return (Trial(next(cordon_changes(node)), (node.name,)),)
    return ()


def pod_feasibility(view: ClusterView, pod: Pod, nodes: Sequence[Node], subject: ObjectRef) -> Feasibility:
    """A pod with all of its claims, through every filter that is modelled."""
    standing = pod_standing(view, pod, nodes, subject)
    placement, problem, cause = standing.placement, standing.problem, standing.cause
    assert placement is not None
    remedies = try_for_pod(view, pod, cause, placement) if cause is not None and has_remedies(cause) else NOTHING
    verdict = "fits" if cause is None else word_of(cause)
    copies: int | None
    ever: int | None
    if placement.unknown or (cause is not None and cause.finding.status in ("unknown", "error")):
        copies = ever = None if placement.unknown or cause is None or cause.finding.status == "unknown" else 0
    elif placement.pod_wide:
        copies = ever = 0
    else:
        copies = _pod_copies(view, pod, placement, problem)
        ever = _pod_copies(view, pod, placement, replace(problem, in_use=NOTHING_HELD) if problem is not None else None)
    notes = (f"not checked yet: {', '.join(placement.unchecked)}",) if placement.unchecked else ()
    assumptions = (*with_others(view, pod), *notes)
    return Feasibility(subject, standing.claims, pod, verdict, standing.nodes, copies, ever, cause, *remedies, assumptions)


def with_others(view: ClusterView, pod: Pod) -> tuple[str, ...]:
    """That a pod of a group is judged without the others of it."""
    gang = gang_of(view, pod)
    if gang is None:
        return ()
    if isinstance(gang, Gang):
        if gang.policy != "gang" and not gang.topology_key:
            return ()
        asked = f"{gang.min_count} of its pods have to fit together" if gang.policy == "gang" else f"all have to share {gang.topology_key}"
        return (f"this pod alone is judged, but it starts with {gang.ref.kind} {gang.name}: {asked}; explain_pending judges the group",)
    about = f"{gang.object.kind} {gang.object.name}" if gang.object is not None else "its group"
    return (f"this pod alone is judged, but it starts with {about}, which can't be judged ({gang.code})",)


def _with_drivers(view: ClusterView, problem: AllocationProblem | None, cause: Cause | None) -> Cause | None:
    """The cause with what is seen of the drivers behind it."""
    if cause is None or problem is None:
        return cause
    seen = drivers.behind(view, problem, cause.finding)
    return replace(cause, evidence=(*cause.evidence, *seen)) if seen else cause


def _judge(view: ClusterView, problem: AllocationProblem, outcomes: Mapping[str, Outcome], nodes: Sequence[TargetNode]) -> Cause | None:
    about = problem.claims[0].ref
    cause = outcome_cause(about, problem, outcomes, nodes, len(nodes))
    if cause is not None or any(isinstance(outcome, Allocated) for outcome in outcomes.values()):
        return cause
    if not nodes:
        return Cause(finding("NO_DEVICES", about, device_class=""), 0, 0)
    return device_cause(view, problem, nodes, len(nodes))


def word_of(cause: Cause) -> str:
    if cause.finding.code == "RELEASE_MISSES":
        return "missed by this release"
    status = cause.finding.status
    return "unknown" if status == "unknown" else "aborted by an error" if status == "error" else "no"


def _ended(answers: tuple[NodeAnswer, ...], cause: Cause | None) -> tuple[NodeAnswer, ...]:
    """The same where an error ends the attempt: whatever nodes would offer, none is chosen."""
    if cause is None or word_of(cause) != "aborted by an error":
        return answers
    return tuple(NodeAnswer(entry.node, False, why=ENDED) if entry.fits else entry for entry in answers)


def _answer(node: str, outcome: Outcome) -> NodeAnswer:
    if isinstance(outcome, Allocated):
        return NodeAnswer(node, True, devices_of(outcome.allocations), taken=_taken(outcome.allocations))
    if isinstance(outcome, Aborted):
        return NodeAnswer(node, False, why=outcome.message)
    if isinstance(outcome, Unknown):
        return NodeAnswer(node, False, why=f"unknown: {outcome.why}")
    return NodeAnswer(node, False, why="cannot allocate all claims")


def _pod_answer(node: str, fits: bool, outcome: Outcome | None, reasons: Sequence[str]) -> NodeAnswer:
    if fits:
        allocations = outcome.allocations if isinstance(outcome, Allocated) else ()
        return NodeAnswer(node, True, devices_of(allocations), taken=_taken(allocations))
    return NodeAnswer(node, False, why=", ".join(reasons))


def devices_of(allocations: Sequence[Allocation]) -> tuple[str, ...]:
    return tuple(result.device for allocation in allocations for result in allocation.results)


def _taken(allocations: Sequence[Allocation]) -> tuple[DeviceId, ...]:
    return tuple(result.id for allocation in allocations for result in allocation.results)


def occupy(problem: AllocationProblem, outcome: Allocated) -> AllocationProblem:
    """The problem after this outcome has been allocated to somebody."""
    devices: set[DeviceId] = set(problem.in_use.devices)
    shared: set[DeviceId] = set(problem.in_use.shared)
    capacity = {device: dict(amounts) for device, amounts in problem.in_use.capacity.items()}
    for allocation in outcome.allocations:
        for result in allocation.results:
            if result.admin_access:
                continue
            if result.share_id is None:
                devices.add(result.id)
                continue
            shared.add(result.id)
            total = capacity.setdefault(result.id, {})
            for name, amount in (result.consumed_capacity or {}).items():
                total[name] = total[name] + amount if name in total else amount
    return replace(problem, in_use=InUse(frozenset(devices), frozenset(shared), capacity, problem.in_use.holders))


def count_copies(problem: AllocationProblem, nodes: Sequence[TargetNode], limits: Mapping[str, int]) -> int:
    """How many times the claims can be allocated side by side, filling node by node. `limits` bounds a node by its other resources.

    Nodes that no request can tell apart and whose devices are their own are counted once. A claim that holds nothing (adminAccess)
    has no bound of its own: only the nodes' limits count, else MAX_COPIES.
    """
    total = 0
    known: dict[object, int] = {}
    outcomes = allocate_each(problem, nodes)
    local = not problem.inventory.shared
    prepared = prepare(problem)
    for node in nodes:
        first = outcomes[node.name]
        if not isinstance(first, Allocated):
            continue
        limit = min(limits.get(node.name, MAX_COPIES), MAX_COPIES - total)
        key = class_of(prepared, node) if local else None
        count = known.get(key) if key is not None else None
        if count is None and key is not None:
            count = known[key] = _fill(_seen_from(problem, node), node, MAX_COPIES - total)[0]
        elif count is None:
            count, problem = _fill(problem, node, limit)
        total += min(count, limit)
        if total >= MAX_COPIES:
            return MAX_COPIES
    return total


def _seen_from(problem: AllocationProblem, node: TargetNode) -> AllocationProblem:
    """The problem with what is in use of the node's own pools alone: nothing else matters there, and each copy then costs little."""
    used = problem.in_use
    pools = {(entry.driver, entry.pool) for entry in problem.inventory.near(node.name)}
    devices = frozenset(DeviceId(driver, pool, name) for driver, pool in pools for name in used.names_in(driver, pool))
    shared = frozenset(device for device in used.shared if (device.driver, device.pool) in pools)
    capacity = {device: amounts for device, amounts in used.capacity.items() if (device.driver, device.pool) in pools}
    return replace(problem, in_use=InUse(devices, shared, capacity))


def _fill(problem: AllocationProblem, node: TargetNode, limit: int) -> tuple[int, AllocationProblem]:
    count = 0
    before: tuple[int, object] = (-1, None)
    while count < limit:
        outcome = allocate(problem, node)
        if not isinstance(outcome, Allocated):
            break
        count += 1
        problem = occupy(problem, outcome)
        state = (len(problem.in_use.devices), repr(sorted(problem.in_use.capacity.items(), key=str)))
        if state == before:
            return limit, problem  # nothing is taken, so nothing runs out
        before = state
    return count, problem


def _pod_copies(view: ClusterView, pod: Pod, placement: Placement, problem: AllocationProblem | None) -> int:
    """Copies of the pod on its open nodes: devices, cpu, memory, pod slots, whichever runs out first."""
    limits: dict[str, int] = {}
    for entry in placement.opened:
        if not entry.elsewhere:
            limits[entry.node.name] = room_for(view, pod, entry.node)
    if problem is None:
        return min(sum(limits.values()), MAX_COPIES)
    targets = [entry.target for entry in placement.opened if entry.node.name in limits]
    return count_copies(problem, targets, limits)


def room_for(view: ClusterView, pod: Pod, node: Node) -> int:
    """How many more such pods the node's cpu, memory, other resources and pod slots allow."""
    info = node_info(view, node)
    slots = info.allocatable.get("pods")
    room = int(slots.value) - len(info.pods) if slots is not None else 0
    for name, asked in effective_requests(pod).items():
        if asked.value <= 0:
            continue
        there = info.allocatable.get(name)
        free = (there.value if there is not None else 0) - info.requested.get(name, 0)  # type: ignore[operator]
        room = min(room, int(free // asked.value))  # type: ignore[operator]
    return max(room, 0)
