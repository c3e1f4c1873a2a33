"""The two prunings of the search, and why each drops neither a solution nor an error.

**Siblings.** Two free devices are interchangeable at a position if they have the same fingerprint: the same selector verdict for every
request of the problem, the same values of every attribute that a constraint reads, the same tolerance of every request, the same use of the
same counters of the same pool, the same capacity, the same shares. Let a come before b and let everything below a have failed without an
error and without hitting the limit of 32. Exchange a and b in any state below b: the result is a state that was tried below a (there b is
still ahead and later requests may take it), and it met the same rules with the same values, so it failed, and without an error. Hence b
fails too. A device that an `All` request lists keeps a fingerprint of its own, since that list has a fixed order. The limit cuts loops
short, so a subtree in which it struck proves nothing.

**Failed states.** What follows a position depends only on: the position (claim, request, subrequest, how many of its devices are placed),
where the scan starts, how many results the claim has, the running state of each constraint, counters and shares, and which devices are
taken that some later step could still want. Of those only their fingerprints matter, and whether they lie before or behind the start. A
state equal in all of it to one that failed without error and without the limit fails likewise.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from .attributes import readers_of
from .candidates import Candidates
from .capacity import capacity_key
from .counters import consumption_key
from .requests import RequestPlan
from .selectors import Verdict
from .taints import blocking_taint

KEPT_STATES = 200_000


class Pruning:
    """Fingerprints of the candidates and the states that are known to fail."""

    def __init__(self, candidates: Candidates, plans: Sequence[RequestPlan], verdicts: Sequence[Sequence[Verdict]]) -> None:
        readers = readers_of(candidates.problem, candidates.environment)
        minor = candidates.problem.minor
        consumable = "ConsumableCapacity" in candidates.problem.features
        listed = {index for plan in plans if plan.everything is not None for index in plan.everything}
        known: dict[Hashable, int] = {}
        self.fingerprints: list[int] = []
        self.wanted_by: list[int] = []
        for index, candidate in enumerate(candidates.all):
            device = candidate.device
            own = tuple(verdict[index] if isinstance(verdict[index], bool) else "error" for verdict in verdicts)
            wanted = 0
            for plan, verdict in zip(plans, own, strict=True):
                if verdict is not False:
                    wanted |= 1 << plan.index
            self.wanted_by.append(wanted)
            key: Hashable
            if index in listed:
                key = ("listed", index)
            else:
                key = (
                    own,
                    candidates.held[index],
                    tuple(reader.read(candidate.slice)[candidate.place] for reader in readers),
                    tuple(blocking_taint(device.taints, plan.request.tolerations, minor) is None for plan in plans)
                    if device.taints
                    else None,
                    (candidates.pool_of[index], consumption_key(device)) if device.consumes_counters else None,
                    capacity_key(candidate, candidates.problem) if consumable else None,
                    candidate.slice.skip_node_operations,
                )
            self.fingerprints.append(known.setdefault(key, len(known)))
        self.failed: set[Hashable] = set()
        self._later = [
            sum(1 << other.index for other in plans if (other.claim, other.position) > (plan.claim, plan.position)) for plan in plans
        ]

    def taken(self, plan: RequestPlan, start: int, used: dict[int, list[int]]) -> Hashable:
        """The part of a state's key that names the devices taken so far (`used`: candidate -> claims that took it)."""
        later = self._later[plan.index]
        current = 1 << plan.index
        wanted = self.wanted_by
        prints = self.fingerprints
        found = [
            (prints[index], index >= start, *claims)
            for index, claims in used.items()
            if wanted[index] & later or (index >= start and wanted[index] & current)
        ]
        found.sort()
        return tuple(found)

    def remember(self, key: Hashable) -> None:
        if len(self.failed) < KEPT_STATES:
            self.failed.add(key)
