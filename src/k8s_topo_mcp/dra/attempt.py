"""One attempt on one node, with its pools in one order: the search, the replay where a defect of the release can show, and what is
known when the steps run out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .candidates import Candidates
from .defects import Defect, can_show
from .outcome import Abort, Allocated, BoundReached, Outcome, Unallocatable, Unknown
from .plans import plans_of
from .pools import Pool
from .prepared import Prepared
from .problem import TargetNode
from .pruning import Pruning
from .replay import Crashed, Replay, crashed
from .requests import Alternatives, RequestPlan
from .results import allocation_of
from .search import Search
from .selectors import Verdict
from .too_few import too_few_devices


def attempt(prepared: Prepared, node: TargetNode, pools: Sequence[Pool], pruned: bool, bound: int) -> Outcome:
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
    allocations = tuple(allocation_of(problem, picks, candidates, node) for picks in search.picks)
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


def _out_of_steps(
    candidates: Candidates,
    requests: Sequence[Sequence[Alternatives]],
    plans: Sequence[RequestPlan],
    verdicts: Sequence[Sequence[Verdict]],
    search: Search,
    defects: Sequence[Defect],
    bound: int,
) -> Outcome:
    proof = None if defects else _impossible(candidates, requests, plans, verdicts, bound, search)
    if proof is not None:
        return proof
    reached = f"{search.deepest[2]} devices of request {search.deepest_request} were placed"
    if defects and _solvable(candidates, requests, plans, verdicts, bound):
        return Unknown(f"a solution exists; whether release 1.{candidates.problem.minor} finds it is unknown", reached)
    return Unknown("search bound reached", reached)


def _impossible(
    candidates: Candidates,
    requests: Sequence[Sequence[Alternatives]],
    plans: Sequence[RequestPlan],
    verdicts: Sequence[Sequence[Verdict]],
    bound: int,
    reached: Search,
) -> Unallocatable | None:
    """One request can't be met with all others left out, so not with them either: what others take only ever leaves less. Or all together
    ask for more devices than there are.

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
    if found is None and too_few_devices(candidates, requests, verdicts):
        return Unallocatable(reached.deepest[0], reached.deepest_request, reached.deepest[2], reached.steps, past_bound=True)
    return found


def _asking_nothing(alternatives: Alternatives) -> Alternatives:
    return Alternatives(tuple(replace(plan, count=0) for plan in alternatives.plans), False)
