"""The literal search of an older release with its defects: what that release does, right or wrong.

Rule: allocateOne and allocateDevice of structured/internal/experimental in v0.34.4, v0.35.4 and of incubating in v0.36.3. Only used where
`dra.defects` says that a defect can show; bounded in steps like every search.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from ..objects import Attribute, Device, DeviceConstraint, Quantity
from .candidates import Candidate, Candidates
from .capacity import Amount, NotRepresentable, consumed_by, shortage
from .constraints import NOTHING, SCALARS, MatchAttribute, Rule, Values, as_set
from .counters import PoolCounters
from .features import LISTS
from .outcome import Abort, Aborted
from .requests import Alternatives, RequestPlan, abort, claim_text
from .search import End, Search
from .selectors import Verdict
from .taints import blocking_taint


class Crashed(Exception):
    """The release's allocator panics here, and kube-scheduler with it."""


class ForgetfulDistinct:
    """distinctAttribute of 1.34 to 1.36: one remembered value per request name; 1.34 compares identities, so it meets only itself."""

    def __init__(self, constraint: DeviceConstraint, name: str, by_identity: bool, lists: bool) -> None:
        self._constraint = constraint
        self._name = name
        self._by_identity = by_identity
        self._lists = lists
        self._values: dict[str, tuple[Attribute, Device]] = {}
        self._taken = 0

    def take(self, plan: RequestPlan, candidate: Candidate) -> bool:
        if not self._constraint.concerns(plan.base_name, plan.subrequest_name):
            return True
        device = candidate.device
        attribute = device.attribute(self._name, candidate.pool.driver)
        if attribute is None:
            return False
        if self._taken and self._lists and as_set(attribute) is None:
            return False
        if self._taken and not all(self._differs(attribute, device, other) for other in self._values.values()):
            return False
        self._values[plan.base_name] = (attribute, device)
        self._taken += 1
        return True

    def _differs(self, attribute: Attribute, device: Device, other: tuple[Attribute, Device]) -> bool:
        if self._lists:
            own, known = as_set(attribute), as_set(other[0])
            return own is not None and (known is None or own[0] != known[0] or not own[1] & known[1])
        if attribute.kind not in SCALARS:
            return False
        if self._by_identity:
            return other[1] is not device
        return attribute != other[0]

    def give_back(self, plan: RequestPlan, candidate: Candidate) -> None:
        if self._constraint.concerns(plan.base_name, plan.subrequest_name):
            self._values.pop(plan.base_name, None)
            self._taken -= 1

    def state(self) -> Hashable:
        return None


class ShrinkingMatch(MatchAttribute):
    """matchAttribute of 1.36 with list attributes: what devices share isn't given back with a device, until none is left."""

    _shared: Values = NOTHING

    def _joined(self, own: Values) -> Values | None:
        if self._taken:
            kind, values = self._shared
            common = values & own[1] if kind == own[0] else frozenset[object]()
            if not common:
                return None
            own = (kind, common)
        self._shared = own
        return own


class Replay(Search):
    """`Search` with the bookkeeping of 1.34, 1.35 or 1.36 as it was."""

    def __init__(
        self, candidates: Candidates, requests: Sequence[Sequence[Alternatives]], verdicts: Sequence[Sequence[Verdict]], bound: int
    ) -> None:
        super().__init__(candidates, requests, verdicts, None, bound)
        problem = candidates.problem
        lists = LISTS in problem.features
        match = ShrinkingMatch if lists and problem.minor == 36 else MatchAttribute
        self._old = problem.minor <= 35
        self._totals: dict[int, dict[str, Amount]] = {}
        self._rules: list[list[Rule]] = [
            [
                match(constraint, constraint.match_attribute, lists, candidates.environment)
                if constraint.match_attribute is not None
                else ForgetfulDistinct(constraint, constraint.distinct_attribute or "", problem.minor == 34, lists)
                for constraint in claim.spec.constraints
            ]
            for claim in problem.claims
        ]

    # --- where the scan starts, and how `All` goes on ---

    def _next_start(self, index: int) -> int:
        return 0 if self._old else index + 1

    def _after_all(self, claim: int, position: int, sub: int, placed: int, chosen: bool) -> End:
        return self._one(claim, position, 0 if self._old else sub, placed, 0, chosen)

    # --- counters ---

    def _counters_of(self, candidate: Candidate, index: int) -> PoolCounters:
        if self._problem.minor not in (35, 36):
            return super()._counters_of(candidate, index)
        named = (-1, candidate.pool.name)
        found = self._counters.get(named)
        if found is None:
            # Whichever pool of that name is looked at first defines the counters of all of them.
            pool = candidate.pool
            found = self._counters[named] = PoolCounters(
                pool, pool.counter_sets, (*pool.slices, *pool.elsewhere), self._problem.in_use, self._problem.minor
            )
        return found

    # --- taking and giving back, 1.34 and 1.35 ---

    def _take(self, plan: RequestPlan, index: int, must: bool) -> bool:
        if not self._old:
            return super()._take(plan, index, must)
        candidate = self._candidates.all[index]
        device = candidate.device
        shareable = self._consumable and device.allow_multiple_allocations is True
        admin = plan.request.admin_access
        if not shareable and admin and plan.claim in self._used.get(index, ()):
            return False
        if not admin and (self._candidates.held[index] or index in self._used):
            return False
        if device.consumes_counters:
            if not self._partitionable:
                return False
            if not (shareable and self._shared_already(candidate, index)):
                if must and self._problem.minor == 35:
                    raise Crashed("invalid memory address or nil pointer dereference")
                if not self._counters_of(candidate, index).take(device):
                    return False
        if self._taints and blocking_taint(device.taints, plan.request.tolerations, self._problem.minor) is not None:
            return False  # its counters stay charged
        rules = self._rules[plan.claim]
        for number, rule in enumerate(rules):
            if not rule.take(plan, candidate):
                if must:
                    raise self._all_refused(plan, candidate)
                for earlier in rules[:number]:
                    earlier.give_back(plan, candidate)
                return False
        if not shareable:
            self._used.setdefault(index, []).append(plan.claim)
        consumed: dict[str, Quantity] | None = None
        if self._consumable:
            if not self._capacity_suffices(plan, candidate, index):
                return False  # constraints, counters and the mark stay
            if shareable:
                consumed = consumed_by(plan.request.capacity, device.capacity, self._arithmetic)
                totals = self._totals.setdefault(index, {})
                for name, amount in consumed.items():
                    totals[name] = totals.get(name, 0) + amount.value
        self.picks[plan.claim].append((plan, index, consumed))
        return True

    def _all_refused(self, plan: RequestPlan, candidate: Candidate) -> Abort:
        claim = claim_text(self._problem.claims[plan.claim])
        where = f"claim {claim}, request {plan.request.name}"
        text = f"{where}: cannot add device {candidate.id} because a claim constraint would not be satisfied"
        return abort("all: constraint", plan.claim, text, plan.result_name, str(candidate.id))

    def _capacity_suffices(self, plan: RequestPlan, candidate: Candidate, index: int) -> bool:
        """The second look at the capacity; 1.34 looks at the device with the request's running number in the slice."""
        if self._problem.minor == 34:
            devices = candidate.slice.devices
            number = self._placed
            if number >= len(devices):
                raise Crashed(f"index out of range [{number}] with length {len(devices)}")
            wrong = next(place for place, other in enumerate(self._candidates.all) if other.slice is candidate.slice) + number
            return self._fits(plan, wrong)
        return self._fits(plan, index)

    def _fits(self, plan: RequestPlan, index: int) -> bool:
        candidate = self._candidates.all[index]
        allocated = self._problem.in_use.capacity.get(candidate.id, {})
        try:
            return (
                shortage(plan.request.capacity, candidate.device.capacity, allocated, self._totals.get(index, {}), self._arithmetic) is None
            )
        except NotRepresentable:
            return False

    def _has_room(self, plan: RequestPlan, index: int) -> bool:
        return self._fits(plan, index) if self._old else super()._has_room(plan, index)

    def _give_back(self, plan: RequestPlan, index: int) -> None:
        if not self._old:
            super()._give_back(plan, index)
            return
        candidate = self._candidates.all[index]
        device = candidate.device
        for rule in self._rules[plan.claim]:
            rule.give_back(plan, candidate)
        _, _, consumed = self.picks[plan.claim].pop()
        claims = self._used.get(index)
        if claims is not None and plan.claim in claims:
            claims.remove(plan.claim)
            if not claims:
                del self._used[index]
        if consumed is None:
            if self._partitionable and device.consumes_counters:
                self._counters_of(candidate, index).give_back(device)
        elif consumed and (totals := self._totals.get(index)) is not None:  # once all is zero, what is left to give back is forgotten
            for name, amount in consumed.items():
                totals[name] = totals.get(name, 0) - amount.value
            if not any(totals.values()):
                del self._totals[index]

    def _shared_already(self, candidate: Candidate, index: int) -> bool:
        if not self._old:
            return super()._shared_already(candidate, index)
        # 1.34 charges the counters again with every share.
        return self._problem.minor == 35 and (candidate.id in self._problem.in_use.capacity or index in self._totals)


def crashed(error: Crashed) -> Aborted:
    """A crash as an outcome."""
    return Aborted(f"panic: runtime error: {error}", "panic", 0)
