"""The requests of a problem made ready for the search, checked in the allocator's order.

What `All` means is fixed here, before the search, as the allocator does it.
"""

from __future__ import annotations

from collections.abc import Sequence

from .candidates import Candidate, Candidates
from .capacity import NOTHING, Amounts, NotRepresentable, arithmetic_of, shortage
from .outcome import Abort
from .pools import Pool
from .prepared import Prepared
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
from .search import selector_error
from .selectors import Verdict, chain


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
