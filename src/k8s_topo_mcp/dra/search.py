"""The depth-first search of the allocator: claims, requests, devices in order; the first full solution, none, or a fatal error.

Rule: allocateOne and allocateDevice in structured/internal/*/allocator_*.go. A device in use is passed over before its selector runs; an
error in a selector is fatal only when the search reaches that device; an `All` request has one fixed list and fails as a whole; exceeding
32 results in a claim is a failure of its own kind, which cuts loops short up to the nearest choice of subrequests or the end of the claim.
Without pruning this is the literal search; `tests/dra` holds the two equal.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import Enum

from ..objects import MAX_RESULTS, Quantity
from .bindings import NOT_YET
from .candidates import Candidate, Candidates
from .capacity import Amount, NotRepresentable, Shortage, arithmetic_of, consumed_by, shortage
from .compatibility import PoolGroups
from .constraints import Rule, rules_of
from .counters import PoolCounters
from .outcome import Abort, Aborted, BoundReached, SelectorFailure, Undetermined, Unknown
from .pruning import Pruning
from .requests import Alternatives, RequestPlan, abort, claim_text
from .selectors import Verdict
from .taints import blocking_taint

STEP_BOUND = 400_000
"""Steps and examined devices together; the worst benchmark stays under 5 s with it."""

CEL_HINT = ". consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() for optional fields"


class End(Enum):
    """How a part of the search ended: a solution, none, or none because a claim may have only 32 results."""

    FOUND = 1
    NONE = 2
    EXCEEDED = 3


Pick = tuple[RequestPlan, int, dict[str, Quantity] | None]
"""A chosen device: for which plan, the candidate's index, and for a share what it consumes."""


class Search:
    """One attempt on one node. `picks` holds the solution, per claim, in order."""

    def __init__(
        self,
        candidates: Candidates,
        requests: Sequence[Sequence[Alternatives]],
        verdicts: Sequence[Sequence[Verdict]],
        pruning: Pruning | None,
        bound: int = STEP_BOUND,
    ) -> None:
        problem = candidates.problem
        self._problem = problem
        self._candidates = candidates
        self._requests = requests
        self._verdicts = verdicts
        self._pruning = pruning
        self._bound = bound
        self._rules: list[list[Rule]] = [
            rules_of(claim.spec.constraints, problem.features, candidates.environment) for claim in problem.claims
        ]
        self._counters: dict[tuple[int, str], PoolCounters] = {}
        self._groups: dict[int, PoolGroups] = {}
        self._used: dict[int, list[int]] = {}
        self._flight: dict[int, list[dict[str, Quantity]]] = {}
        self._charged: list[bool] = []
        self._consumable = "ConsumableCapacity" in problem.features
        self._partitionable = "PartitionableDevices" in problem.features
        self._taints = "DeviceTaints" in problem.features
        self._grouped = "CompatibilityGroups" in problem.features
        self._arithmetic = arithmetic_of(problem)
        self.work: int = 0
        self._cuts = 0
        self._placed = 0
        self.steps: int = 0
        self.picks: list[list[Pick]] = [[] for _ in problem.claims]
        self.deepest: tuple[int, int, int] = (0, 0, 0)
        self.deepest_request = ""

    def run(self) -> bool:
        """Whether there is a solution. Raises Abort at a fatal error, BoundReached past the step bound."""
        depth = sum(
            min(MAX_RESULTS, max((plan.count for plan in alternatives.plans), default=0)) + 3
            for claim in self._requests
            for alternatives in claim
        )
        _room_for(depth + len(self._requests) + 50)
        end = self._one(0, 0, 0, 0, 0, False)
        if end is End.EXCEEDED:
            raise abort("limit", 0, "allocation max size exceeded")
        return end is End.FOUND

    def _one(self, claim: int, position: int, sub: int, placed: int, start: int, chosen: bool) -> End:
        self.steps += 1
        self.work += 1
        if self.work > self._bound:
            raise BoundReached
        if claim == len(self._requests):
            return End.FOUND
        requests = self._requests[claim]
        if position == len(requests):
            end = self._one(claim + 1, 0, 0, 0, 0, False)
            return End.NONE if end is End.EXCEEDED else end
        alternatives = requests[position]
        if alternatives.first_available and not chosen:
            exceeded = True
            for number in range(len(alternatives.plans)):
                end = self._one(claim, position, number, 0, 0, True)
                if end is End.EXCEEDED:
                    continue
                if end is End.FOUND:
                    return end
                exceeded = False
            return End.EXCEEDED if exceeded else End.NONE
        plan = alternatives.plans[sub]
        if plan.everything is not None and not plan.everything:
            return End.NONE
        if placed >= plan.count:
            return self._one(claim, position + 1, 0, 0, 0, False)
        if plan.count - placed > MAX_RESULTS - len(self.picks[claim]):
            self._cuts += 1
            return End.EXCEEDED
        if (claim, position, placed) > self.deepest or not self.deepest_request:
            self.deepest, self.deepest_request = (claim, position, placed), plan.result_name
        self._placed = placed
        if plan.everything is not None:
            index = plan.everything[placed]
            if not self._take(plan, index, must=True):
                return End.NONE
            end = self._after_all(claim, position, sub, placed + 1, chosen)
            if end is not End.FOUND:
                self._give_back(plan, index)
            return end
        return self._scan(plan, placed, start, chosen, sub)

    def _after_all(self, claim: int, position: int, sub: int, placed: int, chosen: bool) -> End:
        """Go on with the next device of an `All` request."""
        return self._one(claim, position, sub, placed, 0, chosen)

    def _next_start(self, index: int) -> int:
        """Where the scan for the next device of the same request starts: behind this one, so that sets are tried once, not in every
        order."""
        return index + 1

    def _has_room(self, plan: RequestPlan, index: int) -> bool:
        return self._short(plan, index, "checking capacity for device") is None

    def _scan(self, plan: RequestPlan, placed: int, start: int, chosen: bool, sub: int) -> End:
        """Place one more device of an ExactCount request, unless an equal state is known to fail."""
        pruning = self._pruning
        if pruning is None:
            return self._try_candidates(plan, placed, start, chosen, sub, None)
        key = self._state(plan, placed, start)
        if key in pruning.failed:
            return End.NONE
        cuts = self._cuts
        end = self._try_candidates(plan, placed, start, chosen, sub, pruning)
        if end is End.NONE and cuts == self._cuts:
            pruning.remember(key)
        return end

    def _try_candidates(self, plan: RequestPlan, placed: int, start: int, chosen: bool, sub: int, pruning: Pruning | None) -> End:
        """Try one candidate after the other from `start` on; with pruning only one of equal siblings."""
        failed: set[object] = set()
        verdicts = self._verdicts[plan.index]
        admin = plan.request.admin_access
        barrier = self._candidates.barrier
        for index in range(start, len(verdicts) if barrier is None else barrier):
            self.work += 1
            if admin:
                if plan.claim in self._used.get(index, ()):
                    continue
            elif self._candidates.held[index] or index in self._used:
                continue
            verdict = verdicts[index]
            if verdict is not True:
                if verdict is False:
                    continue
                raise self._selector_error(plan, index, verdict)
            sibling: object = None
            if pruning is not None:
                sibling = self._sibling(pruning, index)
                if sibling in failed:
                    continue
            if self._consumable and not self._has_room(plan, index):
                continue
            before = self._cuts
            self._placed = placed
            if not self._take(plan, index, must=False):
                continue
            end = self._one(plan.claim, plan.position, sub, placed + 1, self._next_start(index), chosen)
            if end is End.FOUND:
                return end
            self._give_back(plan, index)
            if end is End.EXCEEDED:
                return end
            if before == self._cuts:
                failed.add(sibling)
        if barrier is not None:
            raise abort("invalid pool", plan.claim, self._candidates.barrier_text, plan.result_name)
        return End.NONE

    def _sibling(self, pruning: Pruning, index: int) -> object:
        """Fingerprint and current state of a candidate in this attempt."""
        used = self._used.get(index)
        flight = self._flight.get(index)
        if used is None and flight is None:
            return pruning.fingerprints[index]
        return (pruning.fingerprints[index], tuple(used or ()), _totals(flight or []), flight is not None)

    def _state(self, plan: RequestPlan, placed: int, start: int) -> object:
        pruning = self._pruning
        assert pruning is not None
        return (
            plan.index,
            placed,
            start,
            len(self.picks[plan.claim]),
            tuple(rule.state() for rule in self._rules[plan.claim]) if self._rules[plan.claim] else (),
            pruning.taken(plan, start, self._used),
            tuple((key, counters.state()) for key, counters in sorted(self._counters.items())) if self._counters else (),
            tuple((key, groups.state()) for key, groups in sorted(self._groups.items())) if self._groups else (),
            tuple(sorted((index, _totals(shares)) for index, shares in self._flight.items())) if self._flight else (),
        )

    def _short(self, plan: RequestPlan, index: int, doing: str) -> Shortage | None:
        candidate = self._candidates.all[index]
        flight = self._flight.get(index)
        try:
            return shortage(
                plan.request.capacity,
                candidate.device.capacity,
                self._problem.in_use.capacity.get(candidate.id, {}),
                dict(_totals(flight)) if flight else {},
                self._arithmetic,
            )
        except NotRepresentable as error:
            if self._problem.minor < 37:
                return Shortage("", None, None, str(error))
            claim = claim_text(self._problem.claims[plan.claim])
            raise abort(
                "capacity",
                plan.claim,
                f"claim {claim}, request {plan.request.name}: {doing} {candidate.id}: {error}",
                plan.result_name,
                str(candidate.id),
            ) from None

    def _take(self, plan: RequestPlan, index: int, must: bool) -> bool:
        """Allocate one device on trial, or leave everything as it was."""
        candidate = self._candidates.all[index]
        device = candidate.device
        shareable = self._consumable and device.allow_multiple_allocations is True
        admin = plan.request.admin_access
        if not shareable and admin and plan.claim in self._used.get(index, ()):
            return False
        if not admin and (self._candidates.held[index] or index in self._used):
            return False
        if not self._operations_allowed(candidate):
            return False
        counted = False
        if device.consumes_counters:
            if not self._partitionable:
                return False
            if not (shareable and self._shared_already(candidate, index)):
                if not self._charge(candidate, index):
                    return False
                counted = True
        if self._taints and blocking_taint(device.taints, plan.request.tolerations, self._problem.minor) is not None:
            self._undo_counters(counted, candidate, index)
            return False
        rules = self._rules[plan.claim]
        for number, rule in enumerate(rules):
            if not rule.take(plan, candidate):
                for earlier in reversed(rules[:number]):
                    earlier.give_back(plan, candidate)
                self._undo_counters(counted, candidate, index)
                if must:
                    claim = claim_text(self._problem.claims[plan.claim])
                    raise abort(
                        "all: constraint",
                        plan.claim,
                        f"claim {claim}, request {plan.request.name}: cannot add device {candidate.id} "
                        "because a claim constraint would not be satisfied",
                        plan.result_name,
                        str(candidate.id),
                    )
                return False
        consumed: dict[str, Quantity] | None = None
        if self._consumable:
            if must and self._short(plan, index, "rechecking capacity for device") is not None:
                for rule in reversed(rules):
                    rule.give_back(plan, candidate)
                self._undo_counters(counted, candidate, index)
                return False
            if shareable:
                consumed = consumed_by(plan.request.capacity, device.capacity, self._arithmetic)
                self._flight.setdefault(index, []).append(consumed)
        if not shareable:
            self._used.setdefault(index, []).append(plan.claim)
        self._charged.append(counted)
        self.picks[plan.claim].append((plan, index, consumed))
        return True

    def _give_back(self, plan: RequestPlan, index: int) -> None:
        candidate = self._candidates.all[index]
        _, _, consumed = self.picks[plan.claim].pop()
        counted = self._charged.pop()
        if consumed is not None:
            shares = self._flight[index]
            shares.pop()
            if not shares:
                del self._flight[index]
        else:
            claims = self._used[index]
            claims.pop()
            if not claims:
                del self._used[index]
        for rule in reversed(self._rules[plan.claim]):
            rule.give_back(plan, candidate)
        self._undo_counters(counted, candidate, index)

    def _charge(self, candidate: Candidate, index: int) -> bool:
        """Take the device's compatibility groups and counters, both or neither."""
        groups = self._groups_of(candidate, index)
        if groups is not None and not groups.take(candidate.device):
            return False
        if self._counters_of(candidate, index).take(candidate.device):
            return True
        if groups is not None:
            groups.give_back()
        return False

    def _undo_counters(self, counted: bool, candidate: Candidate, index: int) -> None:
        if counted:
            self._counters_of(candidate, index).give_back(candidate.device)
            groups = self._groups_of(candidate, index)
            if groups is not None:
                groups.give_back()

    def _counters_of(self, candidate: Candidate, index: int) -> PoolCounters:
        by_slice = self._problem.minor == 34
        key = (self._candidates.pool_of[index], candidate.slice.name if by_slice else "")
        found = self._counters.get(key)
        if found is None:
            pool, entry = candidate.pool, candidate.slice
            sets = entry.shared_counters if by_slice else pool.counter_sets
            slices = (entry,) if by_slice else (*pool.slices, *pool.elsewhere)
            found = self._counters[key] = PoolCounters(pool, sets, slices, self._problem.in_use, self._problem.minor)
        return found

    def _groups_of(self, candidate: Candidate, index: int) -> PoolGroups | None:
        if not self._grouped:
            return None
        key = self._candidates.pool_of[index]
        found = self._groups.get(key)
        if found is None:
            found = self._groups[key] = PoolGroups(candidate.pool, self._problem.in_use)
        return found

    def _shared_already(self, candidate: Candidate, index: int) -> bool:
        """Whether earlier shares have charged the device's counters already."""
        device = candidate.id
        in_use = self._problem.in_use
        return device in in_use.capacity or (self._problem.minor >= 37 and device in in_use.shared) or index in self._flight

    def _operations_allowed(self, candidate: Candidate) -> bool:
        if not candidate.slice.skip_node_operations:
            return True
        variant = self._problem.variant
        if variant is None or variant.name != "experimental" or self._problem.minor < 37:
            return True
        return "OptionalNodeOperations" in self._problem.features and "DRAOptionalNodeOperations" in self._candidates.node.declared_features

    def _selector_error(self, plan: RequestPlan, index: int, failure: SelectorFailure | Undetermined) -> Abort:
        return selector_error(self._candidates, plan, index, failure)


def selector_error(candidates: Candidates, plan: RequestPlan, index: int, failure: SelectorFailure | Undetermined) -> Abort:
    """The fatal error of a selector, in the allocator's words for this release; or that nobody knows what it will say."""
    problem = candidates.problem
    who = f"class {plan.device_class.name}" if failure.source == "class" else f"claim {claim_text(problem.claims[plan.claim])}"
    if isinstance(failure, Undetermined):
        return Abort(Unknown(f"{who}: selector #{failure.index} reads {' and '.join(failure.attributes)}, which {NOT_YET}"))
    device = str(candidates.all[index].id)
    message = failure.error.message
    if failure.kind == "compile":
        text = f"{who}: selector #{failure.index}: CEL compile error: {message}"
    elif problem.minor >= 37:
        hint = CEL_HINT if "no such key:" in message and CEL_HINT not in message else ""
        text = f"{who}: selector #{failure.index} on device {device}: CEL runtime error: {message}{hint}"
    else:
        text = f"{who}: selector #{failure.index}: CEL runtime error: {message}"
    kind = "compile" if failure.kind == "compile" else "cel"
    return Abort(Aborted(text, kind, plan.claim, plan.result_name, device, failure))


def _totals(shares: Sequence[dict[str, Quantity]]) -> tuple[tuple[str, Amount], ...]:
    totals: dict[str, Amount] = {}
    for share in shares:
        for name, amount in share.items():
            totals[name] = totals.get(name, 0) + amount.value
    return tuple(sorted(totals.items()))


def _room_for(depth: int) -> None:
    """Python-to-Python calls take no C stack from 3.11 on, so the recursion limit may follow the problem's size."""
    needed = 2 * depth + 600
    if sys.getrecursionlimit() < needed:
        sys.setrecursionlimit(needed)
