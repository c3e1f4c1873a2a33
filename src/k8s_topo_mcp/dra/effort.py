"""How many steps the real, unpruned search takes on a node: whether kube-scheduler's filter gives up before it ends.

The literal tree is counted without walking it: subtrees below equal states (see `dra.pruning`) have equally many steps, so each state is
walked once and its steps are added wherever it comes again. Only searches that end without a solution are worth counting; a step is one
call of allocateOne, as the allocator itself counts them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .candidates import Candidates
from .outcome import Abort, BoundReached
from .plans import plans_of
from .prepared import Prepared, pools_of
from .problem import TargetNode
from .pruning import Pruning
from .requests import Alternatives, RequestPlan
from .search import STEP_BOUND, End, Search
from .selectors import Verdict
from .worlds import has_bindings

FILTER_LIMIT = 10.0
"""Seconds after which the filter of one node is cut off (DRASchedulerFilterTimeout)."""

SECONDS_PER_STEP = 3e-6
"""What a step of the 1.37 allocator takes, a lower figure: `python -m benchmarks.allocator` prints it for the machine at hand."""

STEPS_PER_REFUSAL = 0.3
"""What it takes to try a device that a constraint, a counter or a taint refuses, in steps; a lower figure, printed beside a step's."""

SLOW, STALLED = 4, 20
"""So many times as long the search may take on a machine that is slower or does other things too, and on one that hardly gets on: with
two cores for 25 busy processes, a step took 6 µs of a CPU and 36 µs by the clock."""


@dataclass(frozen=True, slots=True)
class Effort:
    """`steps` of the literal search and about how many devices it is `refused`; `complete` False: at least so many, the count was cut
    off. `work`: what counting them took."""

    steps: int
    complete: bool
    work: int = 0
    refused: int = 0

    @property
    def seconds(self) -> float:
        """What the real allocator needs at least."""
        return (self.steps + self.refused * STEPS_PER_REFUSAL) * SECONDS_PER_STEP

    def exceeds(self, limit: float) -> bool:
        """Whether the real allocator needs so many seconds at least."""
        return self.seconds >= limit

    @property
    def may_exceed_filter(self) -> bool:
        """Whether the limit may be passed: so where the count was cut off, or on a slow machine."""
        return not self.complete or self.seconds * SLOW > FILTER_LIMIT

    @property
    def can_exceed_filter(self) -> bool:
        """Whether it can be that the limit was passed, if the scheduler says so."""
        return not self.complete or self.seconds * STALLED > FILTER_LIMIT


class _Count(Search):
    """The search without sibling pruning; what a failed state cost is remembered instead of being walked again."""

    def __init__(
        self,
        candidates: Candidates,
        requests: Sequence[Sequence[Alternatives]],
        verdicts: Sequence[Sequence[Verdict]],
        pruning: Pruning,
        bound: int,
    ) -> None:
        super().__init__(candidates, requests, verdicts, pruning, bound)
        self._cost: dict[object, tuple[End, int, int]] = {}
        self.refused: int = 0
        variant = self._problem.variant
        self._in_every_order = variant is not None and not variant.ordered

    def _next_start(self, index: int) -> int:
        # Up to 1.35, and in every stable copy, a set of devices is tried in every order.
        return 0 if self._in_every_order else index + 1

    def _scan(self, plan: RequestPlan, placed: int, start: int, chosen: bool, sub: int) -> End:
        key = self._state(plan, placed, start)
        known = self._cost.get(key)
        if known is not None:
            self.work += 1
            self.steps += known[1]
            self.refused += known[2]
            return known[0]
        before, refused = self.steps, self.refused
        end = self._try_candidates(plan, placed, start, chosen, sub, None)
        if end is not End.FOUND:
            self._cost[key] = (end, self.steps - before, self.refused - refused)
        return end

    def _take(self, plan: RequestPlan, index: int, must: bool) -> bool:
        taken = super()._take(plan, index, must)
        self.refused += not taken
        return taken


def effort(prepared: Prepared, node: TargetNode, bound: int = STEP_BOUND) -> Effort | None:
    """The steps of the literal search on one node; None where an error ends it, where the problem isn't modelled, or where they depend on
    what isn't known of a node to come."""
    if prepared.unknown is not None:
        return None
    pools = pools_of(prepared, node)
    if has_bindings(pools):
        return None
    candidates = Candidates(prepared.problem, pools, node, prepared.environment)
    try:
        requests, plans, verdicts = plans_of(prepared, candidates, pools)
        search = _Count(candidates, requests, verdicts, Pruning(candidates, plans, verdicts), bound)
        try:
            search.run()
        except BoundReached:
            return Effort(search.steps, False, search.work, search.refused)
    except Abort:
        return None
    return Effort(search.steps, True, search.work, search.refused)
