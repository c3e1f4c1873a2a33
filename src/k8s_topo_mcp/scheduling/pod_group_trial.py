"""A whole group placed on trial: member after member, each taking its node's resources and its devices.

Source: k8s.io/kubernetes pkg/scheduler/schedule_one_podgroup.go, podGroupSchedulingDefaultAlgorithm. From 1.37 on the trial ends as soon as
the minimum can't be reached any more, before that every member is tried; a fatal error ends it in every release. Which of several nodes a
member gets depends on scores; where that can't change how many fit, `independent` says so.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from ..dra.outcome import Allocated
from ..objects import Node, Pod, ResourceClaim
from ..view import Add, ClusterView, Edit, Replace
from ..view.indices import claims_of
from .assumed import Assumed
from .dynamic_resources import inventory
from .gang_scheduling import Gang, can_start, hopeless, taking_part
from .placement import NodePlacement, Placement, place
from .places import Places, Preference, Score
from .pod_signature import relates, shared_claims, signatures

MAX_JUDGED = 400_000
"""So many times a node may be judged in one trial. Reached only where every placement touches all nodes."""

SHARED_CLAIMS_SINCE = 36
"""Members of one group may share a claim that is only being allocated (dynamicresources.go, pendingAllocations)."""

Known = dict[Hashable, Placement]
"""signature -> where such a pod fits as long as nothing is assumed; shared by the trials of one view."""


@dataclass(frozen=True, slots=True, eq=False)
class Attempt:
    """What came of one trial. `placed` members with their nodes, `failed` ones with their placement at that moment, `untried` ones.

    `ended` is the member at which an error or a verdict that isn't known ended the trial, `too_large` that it took too long. `independent`:
    in no order of nodes would more or fewer members fit. `edits` put everything that was assumed into a view.
    """

    placed: tuple[tuple[Pod, str], ...]
    failed: tuple[tuple[Pod, Placement], ...]
    untried: tuple[Pod, ...]
    scheduled: int
    starts: bool
    ended: Placement | None
    too_large: bool
    independent: bool
    edits: tuple[Edit, ...]
    first: Placement | None = None
    """A member that found its place, on all nodes."""


def try_group(
    view: ClusterView,
    gang: Gang,
    nodes: Sequence[Node] | None = None,
    prefer: Preference = "least allocated",
    known: Known | None = None,
    members: Sequence[Pod] | None = None,
) -> Attempt:
    """Place the members that wait (or `members`) one after another, on all nodes or on `nodes`."""
    waiting = tuple(members) if members is not None else taking_part(view, gang)
    return _Trial(view, gang, waiting, nodes, prefer, {} if known is None else known).run()


class _Trial:
    """The state of one trial."""

    def __init__(
        self, view: ClusterView, gang: Gang, waiting: Sequence[Pod], nodes: Sequence[Node] | None, prefer: Preference, known: Known
    ) -> None:
        self._view = self._start = view
        self._gang = gang
        self._waiting = tuple(waiting)
        self._nodes = None if nodes is None else frozenset(node.name for node in nodes)
        self._assumed = Assumed(view)
        self._score = Score(self._assumed, prefer, {node.name: number for number, node in enumerate(view.all(Node))})
        self._known = known
        self._places: dict[Hashable, Places] = {}
        self._related = any(map(relates, self._waiting))
        self._signatures = signatures(view, self._waiting)
        self._shared = shared_claims(view, self._waiting)
        self._in_flight: set[tuple[str, str]] = set()
        self._edits: dict[tuple[type, tuple[str, str]], Edit] = {}
        self._touched: set[str] = set()
        self._everywhere = self._lucky = False
        self._judged = 0
        self._first: Placement | None = None

    def run(self) -> Attempt:
        gang, scheduled = self._gang, len(self._gang.bound)
        placed: list[tuple[Pod, str]] = []
        failed: list[tuple[Pod, Placement]] = []
        ended: Placement | None = None
        stops = self._start.release.minor >= 37
        turn = 0
        while turn < len(self._waiting) and not (stops and hopeless(gang, scheduled, len(self._waiting) - turn)):
            pod = self._waiting[turn]
            places = self._now(pod)
            if places.ends or self._judged > MAX_JUDGED:
                ended = places.as_placement(pod)
                break
            turn += 1
            here = None if self._waits_for_a_claim(pod) else places.best()
            if here is None:
                failed.append((pod, places.as_placement(pod)))
                continue
            scheduled += 1
            placed.append((pod, here.node.name))
            self._first = self._first or places.placement
            self._take(pod, here, places.placement)
        same = len({self._signatures[id(pod)] for pod in self._waiting}) <= 1
        return Attempt(
            placed=tuple(placed),
            failed=tuple(failed),
            untried=self._waiting[turn:],
            scheduled=scheduled,
            starts=ended is None and scheduled > 0 and can_start(gang, scheduled),
            ended=ended,
            too_large=self._judged > MAX_JUDGED,
            independent=same and not (self._related or self._shared or self._everywhere or self._lucky),
            edits=self._all_edits(placed),
            first=self._first,
        )

    def _now(self, pod: Pod) -> Places:
        """Where the pod fits in the present state."""
        signature = self._signatures[id(pod)]
        places = self._places.get(signature)
        if places is None:
            places = self._places[signature] = Places(self._first_look(pod, signature), self._nodes, self._score)
            if not self._everywhere:
                places.stale |= self._touched & places.entries.keys()
        if places.stale:
            nodes = tuple(places.entries[name].node for name in sorted(places.stale))
            self._judged += len(nodes)
            places.update(place(self._view, self._current(pod), nodes, self._assumed))
        return places

    def _first_look(self, pod: Pod, signature: Hashable) -> Placement:
        """The pod on all nodes: as they were at the start, as long as what was taken since touches single nodes only."""
        if self._everywhere:
            nodes = None if self._nodes is None else tuple(node for node in self._view.all(Node) if node.name in self._nodes)
            self._judged += self._view.count(Node) if nodes is None else len(nodes)
            return place(self._view, self._current(pod), nodes, self._assumed)
        if signature not in self._known:
            self._judged += self._start.count(Node)
            self._known[signature] = place(self._start, pod)
        return self._known[signature]

    def _current(self, pod: Pod) -> Pod:
        return self._view.current(pod) or pod

    def _waits_for_a_claim(self, pod: Pod) -> bool:
        """In 1.35 a claim that another member is being given can't be shared before that is written."""
        return bool(self._in_flight) and any((pod.namespace, entry.name) in self._in_flight for entry in claims_of(self._start, pod))

    def _take(self, pod: Pod, here: NodePlacement, placement: Placement) -> None:
        node = here.node.name
        self._touched.add(node)
        if self._related:
            self._edits[(Pod, pod.key)] = Replace(replace(self._current(pod), node_name=node))
            self._everywhere = True
        else:
            self._assumed.take_node(pod, node)
        if isinstance(here.outcome, Allocated):
            self._lucky |= here.outcome.order_dependent
            for claim in _allocated(self._view, pod, placement, here.node, here.outcome):
                self._hold(claim, node)
        if self._edits:
            self._view = self._assumed.view = self._start.with_edits(*self._edits.values())
        if self._everywhere:
            self._places.clear()
        for places in self._places.values():
            if node in places.entries:
                places.stale.add(node)

    def _hold(self, claim: ResourceClaim, node: str) -> None:
        """The claim holds its devices; if others than this node see them, everything has to be judged again."""
        if claim.key in self._shared:
            if self._start.release.minor < SHARED_CLAIMS_SINCE:
                self._in_flight.add(claim.key)
            self._edits[(ResourceClaim, claim.key)] = Replace(claim)
            self._everywhere = True
            return
        self._assumed.take_devices(claim)
        slices = inventory(self._start).by_pool
        results = claim.allocation.results if claim.allocation is not None else ()
        seen = {entry.node_selection.node_name for result in results for entry in slices.get((result.driver, result.pool), ())}
        self._everywhere |= bool(seen - {node})

    def _all_edits(self, placed: Sequence[tuple[Pod, str]]) -> tuple[Edit, ...]:
        found = dict(self._edits)
        for pod, node in placed:
            found.setdefault((Pod, pod.key), Replace(replace(self._current(pod), node_name=node)))
        for claim in self._assumed.claims:
            found[(ResourceClaim, claim.key)] = Replace(claim) if self._start.current(claim) is not None else Add(claim)
        return tuple(found.values())


def _allocated(view: ClusterView, pod: Pod, placement: Placement, node: Node, outcome: Allocated) -> list[ResourceClaim]:
    """The pod's own claims with what they get. The placement may be that of another pod that asks the same."""
    problem = placement.devices.problem_on(node)
    assert problem is not None
    own = [entry.claim for entry in claims_of(view, pod) if entry.needed and entry.claim is not None and entry.claim.allocation is None]
    found: list[ResourceClaim] = []
    for number, (asked, allocation) in enumerate(zip(problem.claims, outcome.allocations, strict=True)):
        claim = own[number] if number < len(own) else _made_for(pod, asked)
        found.append(replace(claim, allocation=allocation))
    return found


def _made_for(pod: Pod, claim: ResourceClaim) -> ResourceClaim:
    """The claim that the scheduler makes for the pod's extended resources."""
    return replace(claim, metadata=replace(claim.metadata, name=f"{pod.name}-{claim.name}", namespace=pod.namespace))
