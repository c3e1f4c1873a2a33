"""Would these claims fit on this node, and with which devices: the door to the matching core.

`allocate` asks for one node, `allocate_each` for many (equal nodes are judged once). The answer is the allocator's of the problem's
release: the same devices where its order is defined, one of its answers where it isn't.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from math import factorial
from random import Random

from ..cel import Environment
from ..objects import Allocation, DeviceResult, NodeSelector, NodeSelectorTerm, Requirement
from ..view import derived
from .attributes import readers_of
from .candidates import Candidate, Candidates
from .capacity import NOTHING, Amounts, NotRepresentable, arithmetic_of, shortage
from .defects import Defect, can_show
from .node_classes import KEPT_QUESTIONS, ClassKey, NodeClasses
from .outcome import Abort, Aborted, Allocated, BoundReached, Outcome, Unallocatable, Unknown
from .pools import Pool, gather_pools
from .problem import AllocationProblem, InUse, TargetNode
from .pruning import Pruning
from .replay import Crashed, Replay, crashed
from .requests import (
    Alternatives,
    RequestPlan,
    abort,
    check_claim_limit,
    check_constraints,
    check_features,
    check_limit,
    claim_text,
    plan_request,
)
from .search import STEP_BOUND, Pick, Search, selector_error
from .selectors import SelectorChain, Verdict, chain, chain_verdicts
from .unmodelled import not_modelled

MAX_POOL_ORDERS = 24
"""Where the order of pools isn't defined, up to this many orders are tried (all of them up to four pools that matter)."""
MAX_ORDERS = 5040

KEPT_CLAIMS = 64
"""For so many different claims the outcomes of node classes are kept, for each way of reading devices."""

KEPT_DIVISIONS = 3
"""Divisions of nodes that are kept for a question: of all nodes, and of those that a pod leaves, as they are and with nothing in use."""


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """What of a problem doesn't depend on the node."""

    problem: AllocationProblem
    environment: Environment
    ordered: bool
    unknown: Unknown | None
    pools: dict[str, tuple[Mapping[str, str], tuple[Pool, ...]]]
    """By node: its labels, and the pools that it then sees. Which these are depends on nothing else, so they are kept with the slices."""


def prepare(problem: AllocationProblem) -> Prepared:
    environment = cel_environment(problem)
    unknown = not_modelled(problem)
    if unknown is None and problem.variant is None:
        unknown = Unknown(f"no variant of the 1.{problem.minor} allocator supports these gates together")
    pools = problem.inventory.kept.setdefault(("pools", problem.minor, problem.features, problem.variant), {})
    return Prepared(problem, environment, problem.variant is not None and problem.variant.ordered, unknown, pools)


def cel_environment(problem: AllocationProblem) -> Environment:
    return Environment(
        problem.minor,
        list_attributes=problem.cel_lists,
        consumable_capacity="ConsumableCapacity" in problem.features,
    )


def allocate(problem: AllocationProblem, node: TargetNode, pruned: bool = True, bound: int = STEP_BOUND) -> Outcome:
    """The outcome on one node. `pruned=False` is the literal search, for tests and for replaying a release's defects."""
    prepared = prepare(problem)
    if pruned and bound == STEP_BOUND:
        return _allocate_known(prepared, node)
    return _allocate(prepared, node, pruned, bound)


def allocate_in_every_order(problem: AllocationProblem, node: TargetNode, bound: int = STEP_BOUND) -> list[Outcome]:
    """Every outcome that some order of the pools gives, where the order isn't defined; else the one outcome. Orders past MAX_ORDERS are
    left out."""
    prepared = prepare(problem)
    pools = pools_of(prepared, node)
    if prepared.unknown is not None or prepared.ordered:
        return [_allocate_in(prepared, node, pools, True, bound)]
    return [_attempt(prepared, node, order, True, bound) for order in _orders(prepared, pools, MAX_ORDERS)]


def _orders(prepared: Prepared, pools: Sequence[Pool], most: int) -> Iterator[tuple[Pool, ...]]:
    """The orders of pools that can make a difference: all of them, or if there are more than `most` that many, each pool first and last
    in some of them and the rest drawn.

    A usable pool none of whose devices any request may look at changes nothing wherever it stands, so it stands last.
    """
    selectors = _chains(prepared)
    empty = tuple(pool for pool in pools if pool.usable and not _of_interest(pool, selectors))
    others = [pool for pool in pools if pool not in empty]
    if factorial(len(others)) <= most:
        yield from ((*order, *empty) for order in permutations(others))
        return
    turned = [(*order[place:], *order[:place], *empty) for order in (others, others[::-1]) for place in range(len(others))]
    yield from turned[:most]
    draw = Random(0)
    for _ in range(most - len(turned)):
        yield (*draw.sample(others, len(others)), *empty)


def _of_interest(pool: Pool, selectors: Sequence[SelectorChain]) -> bool:
    """Whether some device passes some request's selectors, or makes one fail."""
    return any(verdict is not False for entry in pool.slices for each in selectors for verdict in chain_verdicts(entry, each))


def allocate_each(problem: AllocationProblem, nodes: Iterable[TargetNode]) -> dict[str, Outcome]:
    """The outcome on each node by name. Nodes of one class share the verdict; devices and node selectors are made anew for each."""
    prepared = prepare(problem)
    targets = tuple(nodes)
    judged: dict[str, Outcome] = {}
    for group in node_groups(problem, targets):
        pools = pools_of(prepared, group[0])
        outcome = judged[group[0].name] = _allocate_known(prepared, group[0])
        for node in group[1:]:
            judged[node.name] = _moved(prepared, outcome, pools, node)
    return {node.name: judged[node.name] for node in targets}


def class_of(prepared: Prepared, node: TargetNode) -> ClassKey:
    """What makes two nodes the same to this problem."""
    return NodeClasses(prepared.problem, _chains(prepared), prepared.environment).class_of(pools_of(prepared, node), node)[0]


def node_groups(problem: AllocationProblem, nodes: Iterable[TargetNode]) -> tuple[tuple[TargetNode, ...], ...]:
    """Nodes that the problem can't tell apart, together: what is proven of one holds for its group.

    The last divisions for each question are kept with the slices: each holds for as long as the same is in use.
    """
    prepared = prepare(problem)
    targets = tuple(nodes)
    chains = _chains(prepared)
    questions = problem.inventory.kept.setdefault("node groups", {})
    question = (chains, readers_of(problem, prepared.environment), problem.minor, problem.features, problem.variant)
    kept: tuple[tuple[InUse, tuple[TargetNode, ...], tuple[tuple[TargetNode, ...], ...]], ...] = questions.get(question, ())
    for in_use, asked, groups_known in kept:
        if in_use is problem.in_use and asked == targets:
            return groups_known
    classes = NodeClasses(problem, chains, prepared.environment)
    groups: dict[ClassKey, list[TargetNode]] = {}
    operations = "OptionalNodeOperations" in problem.features  # then what the node declares decides too
    for node in targets:
        key, _ = classes.class_of(pools_of(prepared, node), node)
        groups.setdefault((key, node.declared_features) if operations else key, []).append(node)
    found = tuple(tuple(group) for group in groups.values())
    if question not in questions and len(questions) >= KEPT_QUESTIONS:
        questions.pop(next(iter(questions)))
    questions[question] = ((problem.in_use, targets, found), *kept[: KEPT_DIVISIONS - 1])
    return found


def pools_of(prepared: Prepared, node: TargetNode) -> tuple[Pool, ...]:
    found = prepared.pools.get(node.name)
    if found is None or found[0] is not node.labels:
        problem = prepared.problem
        pools = gather_pools(problem.inventory, node, problem.minor, problem.features, problem.variant)
        found = prepared.pools[node.name] = (node.labels, pools)
    return found[1]


def _chains(prepared: Prepared) -> tuple[SelectorChain, ...]:
    """The selectors of all requests whose class exists, in order."""
    problem = prepared.problem
    found: list[SelectorChain] = []
    for claim in problem.claims:
        for request in claim.spec.requests:
            for exact in request.alternatives:
                device_class = problem.classes.get(exact.class_name)
                if device_class is not None:
                    found.append(chain(prepared.environment, device_class, exact.selectors))
    return tuple(found)


def _allocate_known(prepared: Prepared, node: TargetNode) -> Outcome:
    """The outcome, or that of another node of this class, or of an earlier state in which the class was the same.

    Only of nodes with nothing but pools of their own: the class then holds all that is read (`node_classes`). Errors name what they are
    about, so they are met anew.
    """
    pools = pools_of(prepared, node)
    if prepared.unknown is not None:
        return prepared.unknown
    problem = prepared.problem
    classes = NodeClasses(problem, _chains(prepared), prepared.environment)
    key, local = classes.class_of(pools, node)
    if not local:
        return _allocate_in(prepared, node, pools, True, STEP_BOUND)
    asked = (_asked(problem), node.declared_features if "OptionalNodeOperations" in problem.features else None)
    if asked not in classes.outcomes and len(classes.outcomes) >= KEPT_CLAIMS:
        classes.outcomes.pop(next(iter(classes.outcomes)))
    kept: dict[ClassKey, tuple[Outcome, tuple[Pool, ...]]] = classes.outcomes.setdefault(asked, {})
    found = kept.get(key)
    if found is not None:
        outcome, seen = found
        return outcome if seen is pools else _moved(prepared, outcome, seen, node)
    outcome = _allocate_in(prepared, node, pools, True, STEP_BOUND)
    if isinstance(outcome, Allocated | Unallocatable):
        kept[key] = (outcome, pools)
    return outcome


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
    first = _attempt(prepared, node, pools, pruned, bound)
    if prepared.ordered or len(pools) < 2 or not _order_matters(prepared, first, pools):
        return first
    for order in _orders(prepared, pools, MAX_POOL_ORDERS):
        other = _attempt(prepared, node, order, pruned, bound)
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


def _attempt(prepared: Prepared, node: TargetNode, pools: Sequence[Pool], pruned: bool, bound: int) -> Outcome:
    problem = prepared.problem
    candidates = Candidates(problem, pools, node, prepared.environment)
    try:
        requests, plans, verdicts = plans_of(prepared, candidates, pools)
        defects = can_show(problem, pools, plans)
        if defects:
            search: Search = Replay(candidates, requests, verdicts, bound)
        else:
            search = Search(candidates, requests, verdicts, Pruning(candidates, plans, verdicts) if pruned else None, bound)
        try:
            solved = search.run()
        except BoundReached:
            return _out_of_steps(candidates, requests, plans, verdicts, search, defects, bound)
        if not solved:
            claim, _, placed = search.deepest
            invalid = problem.minor >= 35 and any(pool.state == "invalid" for pool in pools)
            missed = ""
            if defects and _solvable(candidates, requests, plans, verdicts, bound):
                missed = ", ".join(defect.name for defect in defects)
            return Unallocatable(claim, search.deepest_request, placed, search.steps, invalid, missed)
    except Abort as error:
        return error.outcome
    except Crashed as error:
        return crashed(error)
    allocations = tuple(_allocation(problem, picks, candidates, node) for picks in search.picks)
    return Allocated(lambda: allocations, search.steps)


def _solvable(
    candidates: Candidates,
    requests: Sequence[Sequence[Alternatives]],
    plans: Sequence[RequestPlan],
    verdicts: Sequence[Sequence[Verdict]],
    bound: int,
) -> bool:
    """Whether a solution exists at all, whatever the release makes of it."""
    requests = [[replace(entry, plans=tuple(map(_as_meant, entry.plans))) for entry in own] for own in requests]
    plans = [plan for own in requests for entry in own for plan in entry.plans]
    try:
        return Search(candidates, requests, verdicts, Pruning(candidates, plans, verdicts), bound).run()
    except (Abort, BoundReached):
        return False


def _as_meant(plan: RequestPlan) -> RequestPlan:
    return plan if plan.meant is None else replace(plan, everything=plan.meant, count=len(plan.meant))


def _impossible_alone(
    candidates: Candidates,
    requests: Sequence[Sequence[Alternatives]],
    plans: Sequence[RequestPlan],
    verdicts: Sequence[Sequence[Verdict]],
    bound: int,
) -> Unallocatable | None:
    """A request that can't be met with all others left out, so not with them either: what others take only ever leaves less.

    Not where an error can end the search before that: an `All` request, a selector that fails on some device, a derived attribute.
    """
    if sum(map(len, requests)) < 2:
        return None
    if any(plan.everything is not None or plan.request.derived_attributes for plan in plans):
        return None
    if any(type(verdict) is not bool for own in verdicts for verdict in own):
        return None
    found: Unallocatable | None = None
    for claim, own in enumerate(requests):
        for position in range(len(own)):
            alone = [
                [entry if (at, place) == (claim, position) else _asking_nothing(entry) for place, entry in enumerate(others)]
                for at, others in enumerate(requests)
            ]
            kept = [plan for others in alone for entry in others for plan in entry.plans]
            search = Search(candidates, alone, verdicts, Pruning(candidates, kept, verdicts), bound)
            try:
                if not search.run() and found is None:
                    found = Unallocatable(claim, search.deepest_request, search.deepest[2], search.steps, past_bound=True)
            except Abort:
                return None
            except BoundReached:
                continue
    return found


def _asking_nothing(alternatives: Alternatives) -> Alternatives:
    return Alternatives(tuple(replace(plan, count=0) for plan in alternatives.plans), False)


def _out_of_steps(
    candidates: Candidates,
    requests: Sequence[Sequence[Alternatives]],
    plans: Sequence[RequestPlan],
    verdicts: Sequence[Sequence[Verdict]],
    search: Search,
    defects: Sequence[Defect],
    bound: int,
) -> Outcome:
    lone = None if defects else _impossible_alone(candidates, requests, plans, verdicts, bound)
    if lone is not None:
        return lone
    reached = f"{search.deepest[2]} devices of request {search.deepest_request} were placed"
    if defects and _solvable(candidates, requests, plans, verdicts, bound):
        return Unknown(f"a solution exists; whether release 1.{candidates.problem.minor} finds it is unknown", reached)
    return Unknown("search bound reached", reached)


def plans_of(
    prepared: Prepared, candidates: Candidates, pools: Sequence[Pool]
) -> tuple[list[list[Alternatives]], list[RequestPlan], list[list[Verdict]]]:
    """Every request of the problem made ready for the search, checked in the allocator's order. Raises Abort where it refuses."""
    problem = prepared.problem
    requests: list[list[Alternatives]] = []
    plans: list[RequestPlan] = []
    verdicts: list[list[Verdict]] = []
    for claim_index, claim in enumerate(problem.claims):
        own: list[Alternatives] = []
        total = 0
        for position, request in enumerate(claim.spec.requests):
            check_features(problem, claim_index, position)
            first_available = bool(request.first_available)
            made: list[RequestPlan] = []
            for exact in request.alternatives:
                plan = plan_request(problem, len(plans), claim_index, position, exact, request.name if first_available else None)
                found = candidates.verdicts(chain(prepared.environment, plan.device_class, exact.selectors))
                plans.append(plan)
                verdicts.append(found)
                made.append(plan)
                if exact.mode == "All":
                    _list_everything(plan, made, candidates, verdicts, pools)
            fewest = min((plan.count for plan in made), default=0)
            check_limit(problem, claim_index, request.name, fewest, total)
            total += fewest
            own.append(Alternatives(tuple(made), first_available))
        check_claim_limit(problem, claim_index, total)
        check_constraints(problem, claim_index)
        requests.append(own)
    return requests, plans, verdicts


def _list_everything(
    plan: RequestPlan,
    alternatives: Sequence[RequestPlan],
    candidates: Candidates,
    verdicts: Sequence[Sequence[Verdict]],
    pools: Sequence[Pool],
) -> None:
    """Fix what "all" means. Up to 1.35 the second alternative takes the verdicts of the first if that asks for all, too."""
    first = alternatives[0]
    mistaken = candidates.problem.minor <= 35 and len(alternatives) == 2 and plan is alternatives[1] and first.everything is not None
    plan.everything = _everything(plan, candidates, verdicts[first.index if mistaken else plan.index], pools)
    plan.count = len(plan.everything)
    if mistaken:
        try:
            plan.meant = _everything(plan, candidates, verdicts[plan.index], pools)
        except Abort:
            plan.meant = None  # this release doesn't meet that error


def _everything(plan: RequestPlan, candidates: Candidates, verdicts: Sequence[Verdict], pools: Sequence[Pool]) -> tuple[int, ...]:
    """Every device that passes the selectors. A pool that can't be used makes it a fatal error."""
    problem = candidates.problem
    where = f"claim {claim_text(problem.claims[plan.claim])}, request {plan.request.name}"
    listed: list[int] = []
    index = 0
    for pool in pools:
        if not pool.usable:
            state = "being updated" if pool.incomplete else "invalid"
            raise abort(
                "all: pool", plan.claim, f"{where}: asks for all devices, but resource pool {pool} is currently {state}", plan.result_name
            )
        for _ in range(sum(len(entry.devices) for entry in pool.slices)):
            verdict = verdicts[index]
            if verdict is not True and verdict is not False:
                raise selector_error(candidates, plan, index, verdict)
            if verdict is True and _has_static_capacity(plan, candidates.all[index], candidates):
                listed.append(index)
            index += 1
    return tuple(listed)


def _has_static_capacity(plan: RequestPlan, candidate: Candidate, candidates: Candidates) -> bool:
    """`All` leaves out devices that are too small; up to 1.36 also those of which too little is left."""
    problem = candidates.problem
    if "ConsumableCapacity" not in problem.features:
        return True
    allocated: Amounts = problem.in_use.capacity.get(candidate.id, NOTHING) if problem.minor < 37 else NOTHING
    try:
        return shortage(plan.request.capacity, candidate.device.capacity, allocated, {}, arithmetic_of(problem)) is None
    except NotRepresentable as error:
        if problem.minor < 37:
            return False
        claim = claim_text(problem.claims[plan.claim])
        raise abort(
            "capacity",
            plan.claim,
            f"claim {claim}, request {plan.request.name}: checking capacity for device {candidate.device.name}: {error}",
            plan.result_name,
            str(candidate.id),
        ) from None


def _allocation(problem: AllocationProblem, picks: Sequence[Pick], candidates: Candidates, node: TargetNode) -> Allocation:
    results: list[DeviceResult] = []
    chosen: list[Candidate] = []
    binding = bool({"DeviceBindingAndStatus", "DeviceBinding"} & problem.features)
    for plan, index, consumed in picks:
        candidate = candidates.all[index]
        chosen.append(candidate)
        results.append(
            DeviceResult(
                request=plan.result_name,
                driver=candidate.pool.driver,
                pool=candidate.pool.name,
                device=candidate.device.name,
                admin_access=plan.request.admin_access,
                tolerations=plan.request.tolerations if problem.minor >= 35 else (),
                share_id="" if consumed is not None else None,
                consumed_capacity=consumed or None,
                binding_conditions=candidate.device.binding_conditions if binding else (),
                binding_failure_conditions=candidate.device.binding_failure_conditions if binding else (),
            )
        )
    return Allocation(tuple(results), node_selector_of(problem, chosen, node))


def node_selector_of(problem: AllocationProblem, chosen: Sequence[Candidate], node: TargetNode) -> NodeSelector | None:
    """Where the allocated devices can be used together: this node, a merged selector, or everywhere (None).

    Only the copies of the allocator that know consumable capacity also know bindsToNode.
    """
    binds = problem.variant is not None and problem.variant.shares
    expressions: list[Requirement] = []
    fields: list[Requirement] = []
    for candidate in chosen:
        selection = candidate.device.node_selection if candidate.slice.per_device_node_selection else candidate.slice.node_selection
        if selection.node_name is not None or (binds and candidate.device.binds_to_node):
            return NodeSelector((NodeSelectorTerm((), (Requirement("metadata.name", "In", (node.name,)),)),))
        if selection.selector is not None and selection.selector.terms:
            term = selection.selector.terms[0]
            _merge(term.fields, fields)
            _merge(term.expressions, expressions)
    if not expressions and not fields:
        return None
    return NodeSelector((NodeSelectorTerm(tuple(expressions), tuple(fields)),))


def _merge(requirements: Iterable[Requirement], into: list[Requirement]) -> None:
    for entry in requirements:
        if not any(
            entry.key == other.key and entry.operator == other.operator and set(entry.values) == set(other.values) for other in into
        ):
            into.append(entry)


def _moved(prepared: Prepared, outcome: Outcome, pools: Sequence[Pool], node: TargetNode) -> Outcome:
    """The verdict of a class, told for another of its nodes: same places, that node's own devices."""
    if isinstance(outcome, Unallocatable | Unknown):
        return outcome
    onto = pools_of(prepared, node)
    if isinstance(outcome, Aborted):
        if not outcome.device:
            return outcome
        return _attempt(prepared, node, onto, True, STEP_BOUND)  # the same error names this node's own device
    return Allocated(
        lambda: tuple(_moved_allocation(prepared.problem, allocation, pools, onto, node) for allocation in outcome.allocations),
        outcome.steps,
        outcome.order_dependent,
    )


def _moved_allocation(
    problem: AllocationProblem, allocation: Allocation, pools: Sequence[Pool], onto: Sequence[Pool], node: TargetNode
) -> Allocation:
    places = {(pool.driver, pool.name): (pool, other) for pool, other in zip(pools, onto, strict=True)}
    results: list[DeviceResult] = []
    chosen: list[Candidate] = []
    for result in allocation.results:
        source, target = places[(result.driver, result.pool)]
        candidate = _counterpart(source, target, result.device)
        chosen.append(candidate)
        results.append(replace(result, driver=target.driver, pool=target.name, device=candidate.device.name))
    return Allocation(tuple(results), node_selector_of(problem, chosen, node))


def _counterpart(source: Pool, target: Pool, name: str) -> Candidate:
    for number, entry in enumerate(source.slices):
        for place, device in enumerate(entry.devices):
            if device.name == name:
                twin = target.slices[number]
                return Candidate(twin.devices[place], twin, target, place)
    raise LookupError(name)
