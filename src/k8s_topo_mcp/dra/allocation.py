"""Would these claims fit on this node, and with which devices: the door to the matching core.

`allocate` asks for one node, `allocate_each` for many (equal nodes are judged once). The answer is the allocator's of the problem's
release: the same devices where its order is defined, one of its answers where it isn't.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from operator import is_not

from ..view import derived
from .attempt import attempt
from .attributes import readers_of
from .divisions import KEPT_DIVISIONS, Division, Group, divided
from .effort import Effort, effort
from .inventory import kept_for
from .node_classes import ClassKey, NodeClasses
from .outcome import Aborted, Allocated, Outcome, Unallocatable, Unknown
from .pool_orders import orders
from .pools import Pool
from .prepared import Prepared, chains_of, pools_of, prepare
from .problem import AllocationProblem, InUse, TargetNode
from .results import moved_allocation
from .search import STEP_BOUND
from .worlds import has_bindings, in_every_world

MAX_POOL_ORDERS = 24
"""Where the order of pools isn't defined, up to this many orders are tried (all of them up to four pools that matter)."""
MAX_ORDERS = 5040

NAMES_POOL = frozenset({"all: pool", "invalid pool"})
"""Kinds of errors whose text names a pool."""

KEPT_CLAIMS = 64
"""For so many different claims the outcomes of node classes are kept, for each way of reading devices."""

KEPT_BY_NAME = 4
"""For so many the outcomes by node."""


@dataclass(frozen=True, slots=True, eq=False)
class _Judged:
    """What was said of each node by name, and by the keys of the division."""

    division: Division
    outcomes: Mapping[Hashable, Outcome]
    by_name: Mapping[str, Outcome]


def allocate(problem: AllocationProblem, node: TargetNode, pruned: bool = True, bound: int = STEP_BOUND) -> Outcome:
    """The outcome on one node; `Unknown` past `bound` steps. `pruned=False` is the literal search, for tests and for replaying a release's
    defects."""
    prepared = prepare(problem)
    if pruned:
        return _allocate_known(prepared, node, bound)
    return _allocate(prepared, node, pruned, bound)


def allocate_in_every_order(problem: AllocationProblem, node: TargetNode, bound: int = STEP_BOUND) -> list[Outcome]:
    """Every outcome that some order of the pools gives, where the order isn't defined; else the one outcome. Orders past MAX_ORDERS are
    left out."""
    prepared = prepare(problem)
    pools = pools_of(prepared, node)
    if prepared.unknown is not None or prepared.ordered or has_bindings(pools):
        return [_allocate_in(prepared, node, pools, True, bound)]
    return [attempt(prepared, node, order, True, bound) for order in orders(prepared, pools, MAX_ORDERS)]


def allocate_each(problem: AllocationProblem, nodes: Iterable[TargetNode]) -> Mapping[str, Outcome]:
    """The outcome on each node by name, in the order of the nodes. Nodes of one class share the verdict; devices and node selectors are
    made anew for each.

    What was told last of the same claims is kept with the slices: nodes of which the same is said are taken over.
    """
    prepared = prepare(problem)
    division = _division(prepared, tuple(nodes))
    classes = NodeClasses(problem, chains_of(prepared), prepared.environment)
    outcomes = {key: _allocate_known(prepared, division.groups[key][0], STEP_BOUND, classes) for key in division.order}
    kept: list[_Judged] = kept_for(classes.judged, (_asked(problem), not problem.in_use.by_pool), list, KEPT_BY_NAME)
    before = next((entry for entry in tuple(kept) if entry.division.names is division.names), None)
    if before is None:
        judged = dict[str, Outcome](dict.fromkeys(division.names, _NOT_JUDGED))
        others = set(outcomes)
    else:
        others = {key for key, outcome in outcomes.items() if before.outcomes.get(key) is not outcome}
        moved = list(compress(range(len(division.names)), map(is_not, division.keys, before.division.keys)))
        if not moved and not others:
            return before.by_name
        judged = dict(before.by_name)
        for place in moved:
            judged[division.names[place]] = outcomes[division.keys[place]]
    for key, outcome in outcomes.items():
        group = division.groups[key]
        if not isinstance(outcome, Unallocatable | Unknown):
            pools = pools_of(prepared, group[0])
            judged[group[0].name] = outcome
            for node in group[1:]:
                judged[node.name] = _moved(prepared, outcome, pools, node)
        elif key in others:  # the same for all of them
            judged.update(dict.fromkeys([node.name for node in group], outcome))
    plain = all(isinstance(outcome, Unallocatable | Unknown) for outcome in outcomes.values())  # others hold on to their problem
    kept[:] = [_Judged(division, outcomes, judged)] if plain else []
    return judged


_NOT_JUDGED = Unknown("")


def allocate_groups(problem: AllocationProblem, groups: Iterable[Group]) -> Iterator[tuple[Group, Outcome]]:
    """Groups of nodes (`node_groups`), each with the outcome on its first node."""
    prepared = prepare(problem)
    classes = NodeClasses(problem, chains_of(prepared), prepared.environment)
    for group in groups:
        yield group, _allocate_known(prepared, group[0], STEP_BOUND, classes)


def class_of(prepared: Prepared, node: TargetNode) -> ClassKey:
    """What makes two nodes the same to this problem."""
    return NodeClasses(prepared.problem, chains_of(prepared), prepared.environment).class_of(pools_of(prepared, node), node)[0]


def node_groups(problem: AllocationProblem, nodes: Iterable[TargetNode]) -> tuple[Group, ...]:
    """Nodes that the problem can't tell apart, together: what is proven of one holds for its group."""
    return _division(prepare(problem), tuple(nodes)).ordered


def _division(prepared: Prepared, targets: tuple[TargetNode, ...]) -> Division:
    """These nodes divided by all that the problem reads.

    The last divisions for each question are kept with the slices: each holds for as long as the same is in use.
    """
    problem = prepared.problem
    chains = chains_of(prepared)
    questions = problem.inventory.kept.setdefault("node groups", {})
    question = (chains, readers_of(problem, prepared.environment), problem.minor, problem.features, problem.variant)
    kept: list[tuple[InUse, tuple[TargetNode, ...], Division]] = kept_for(questions, question, list)
    for in_use, asked, known in tuple(kept):
        if in_use is problem.in_use and asked == targets:
            return known
    found = divided(prepared, chains, targets)
    kept.insert(0, (problem.in_use, targets, found))
    del kept[KEPT_DIVISIONS:]
    return found


def _allocate_known(prepared: Prepared, node: TargetNode, bound: int, known: NodeClasses | None = None) -> Outcome:
    """The outcome, or that of another node of this class, or of an earlier state in which the class was the same.

    Only of nodes with nothing but pools of their own: the class then holds all that is read (`node_classes`). Errors name what they are
    about, so they are met anew.
    """
    pools = pools_of(prepared, node)
    if prepared.unknown is not None:
        return prepared.unknown
    problem = prepared.problem
    classes = known or NodeClasses(problem, chains_of(prepared), prepared.environment)
    key, local = classes.class_of(pools, node)
    if not local:
        return _allocate_in(prepared, node, pools, True, bound)
    asked = (bound, _asked(problem), node.declared_features if "OptionalNodeOperations" in problem.features else None)
    kept: dict[ClassKey, tuple[Outcome, tuple[Pool, ...]]] = kept_for(classes.outcomes, asked, dict, KEPT_CLAIMS)
    found = kept.get(key)
    if found is not None:
        outcome, seen = found
        return outcome if seen is pools else _moved(prepared, outcome, seen, node)
    outcome = _allocate_in(prepared, node, pools, True, bound)
    if isinstance(outcome, Allocated | Unallocatable | Unknown):
        kept[key] = (outcome, pools)
    return outcome


def effort_on(problem: AllocationProblem, node: TargetNode, bound: int) -> Effort | None:
    """`dra.effort` of one node, or that of another node of its class: it searches among what the class says."""
    return next(efforts_on(problem, (node,), bound))[1]


def efforts_on(problem: AllocationProblem, nodes: Iterable[TargetNode], bound: int) -> Iterator[tuple[TargetNode, Effort | None]]:
    """The same of several nodes, each counted as it is asked for."""
    prepared = prepare(problem)
    classes, asked = NodeClasses(problem, chains_of(prepared), prepared.environment), _asked(problem)
    for node in nodes:
        key, local = classes.class_of(pools_of(prepared, node), node) if prepared.unknown is None else (None, False)
        if not local:
            yield node, effort(prepared, node, bound)
            continue
        features = node.declared_features if "OptionalNodeOperations" in problem.features else None
        kept: dict[ClassKey, tuple[Effort | None]] = kept_for(classes.outcomes, ("effort", bound, asked, features), dict, KEPT_CLAIMS)
        found = kept.get(key)
        if found is None:
            found = kept[key] = (effort(prepared, node, bound),)
        yield node, found[0]


def _asked(problem: AllocationProblem) -> Hashable:
    """What the claims ask, and of which classes."""
    names = {exact.class_name for claim in problem.claims for request in claim.spec.requests for exact in request.alternatives}
    classes = tuple(problem.classes.get(name) for name in sorted(names))
    return tuple([derived(claim.spec, "text", lambda claim=claim: repr(claim.spec)) for claim in problem.claims]), classes


def _allocate(prepared: Prepared, node: TargetNode, pruned: bool, bound: int) -> Outcome:
    return _allocate_in(prepared, node, pools_of(prepared, node), pruned, bound)


def _allocate_in(prepared: Prepared, node: TargetNode, pools: tuple[Pool, ...], pruned: bool, bound: int) -> Outcome:
    if prepared.unknown is not None:
        return prepared.unknown
    if has_bindings(pools):
        return in_every_world(prepared, node, pools, lambda these: _allocate_among(prepared, node, these, pruned, bound))
    return _allocate_among(prepared, node, pools, pruned, bound)


def _allocate_among(prepared: Prepared, node: TargetNode, pools: tuple[Pool, ...], pruned: bool, bound: int) -> Outcome:
    first = attempt(prepared, node, pools, pruned, bound)
    if prepared.ordered or len(pools) < 2 or not _order_matters(prepared, first, pools):
        return first
    for order in orders(prepared, pools, MAX_POOL_ORDERS):
        other = attempt(prepared, node, order, pruned, bound)
        if type(other) is not type(first):
            return _depends(first if isinstance(first, Allocated | Aborted) else other)
    return first


def _order_matters(prepared: Prepared, first: Outcome, pools: Sequence[Pool]) -> bool:
    """Without an error in sight every order finds a solution or none."""
    if isinstance(first, Aborted):
        return True
    return (prepared.problem.minor == 34 and any(pool.state == "invalid" for pool in pools)) or isinstance(first, Allocated)


def _depends(outcome: Outcome) -> Outcome:
    match outcome:
        case Allocated():
            return Allocated(outcome.make, outcome.steps, order_dependent=True)
        case Aborted():
            return Aborted(
                outcome.message, outcome.kind, outcome.claim, outcome.request, outcome.device, outcome.failure, outcome.steps, True
            )
        case _:
            return outcome


def _moved(prepared: Prepared, outcome: Outcome, pools: Sequence[Pool], node: TargetNode) -> Outcome:
    """The verdict of a class, told for another of its nodes: same places, that node's own devices."""
    if isinstance(outcome, Unallocatable | Unknown):
        return outcome
    onto = pools_of(prepared, node)
    if isinstance(outcome, Aborted):
        if not outcome.device and outcome.kind not in NAMES_POOL:
            return outcome
        return attempt(prepared, node, onto, True, STEP_BOUND)  # the same error names this node's own device or pool
    return Allocated(
        lambda: tuple(moved_allocation(prepared.problem, allocation, pools, onto, node) for allocation in outcome.allocations),
        outcome.steps,
        outcome.order_dependent,
    )
