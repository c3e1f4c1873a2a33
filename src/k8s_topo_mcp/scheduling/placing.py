"""Pods placed one after another, each taking its node's resources and its devices: what the trial of a group and the replay of a queue
have in common.

Source: k8s.io/kubernetes pkg/scheduler, `assumeAndReserve`. Only what a placement may have changed is judged again: the node taken; or all
nodes, where devices are seen by several of them, claims are shared, or pods look at each other.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..dra.outcome import Allocated, Unallocatable
from ..objects import Node, Pod, ResourceClaim
from ..view import Add, ClusterView, Edit, Replace
from ..view.indices import claims_of
from . import node_ports
from .assumed import Assumed
from .dynamic_resources import inventory
from .kinds_of_pods import Kinds, State
from .node_info import NodeInfo, node_info
from .node_placement import NodePlacement
from .placement import Placement, place
from .places import Places, Preference
from .pod_signature import relates

SHARED_CLAIMS_SINCE = 36
"""Members of one group may share a claim that is only being allocated (dynamicresources.go, pendingAllocations)."""

Choice = Callable[[Pod, Places], NodePlacement | None]
"""Which node a pod takes of those where it fits."""

DECIDED_LATER = frozenset({"POD_AFFINITY_UNMET", "SPREAD_SKEW"})
"""What keeps a pod from a node now and may not once others are placed. All other refusals last: nothing is freed here."""

Known = dict[Hashable, Placement]
"""signature -> where such a pod fits as long as nothing is assumed; shared by all that begins with one view."""


@dataclass(frozen=True, slots=True, eq=False)
class Mark:
    """A state to go back to."""

    assumed: Assumed
    view: ClusterView
    in_flight: frozenset[tuple[str, str]]
    edits: Mapping[tuple[type, tuple[str, str]], Edit]
    touched: frozenset[str]
    released: frozenset[str]
    taken: Mapping[str, tuple[tuple[bool, int], ...]]
    everywhere: bool
    moved: bool
    lucky: bool


class Placing:
    """The state in between. `taken`: of each node whether the pods that went there got devices, and of which kind they are, in
    order. `everywhere`: from now on all nodes are judged for each pod; `lucky`: an allocation depended on the order of
    pools; `judged`: how many times a node was. `within`: the only nodes that count, if that is set."""

    def __init__(
        self,
        view: ClusterView,
        pods: Sequence[Pod],
        nodes: Sequence[Node] | None = None,
        prefer: Preference = "by score",
        known: Known | None = None,
        kinds: Kinds | None = None,
        choose: Choice | None = None,
    ) -> None:
        self.choose: Choice = choose if choose is not None else _first_of_the_best
        self.view = self.start = view
        self.kinds = kinds if kinds is not None else Kinds.of(view, pods)
        self.everywhere = self.lucky = False
        self.judged = 0
        self.taken: dict[str, list[tuple[bool, int]]] = {}
        self.within = None if nodes is None else frozenset(node.name for node in nodes)
        self._prefer: Preference = prefer
        self._assumed = Assumed(view, self.kinds.kept.infos)
        self._known = {} if known is None else known
        self._places: dict[tuple[int, frozenset[str] | None], Places] = {}
        self._looking = frozenset(self.kinds.of_pod(pod) for pod in pods if id(pod) in self.kinds.looking)
        self._moved = False
        self._in_flight: set[tuple[str, str]] = set()
        self._edits: dict[tuple[type, tuple[str, str]], Edit] = {}
        self._touched: set[str] = set()
        self._released: set[str] = set()

    @property
    def one_kind(self) -> bool:
        """Whether all pods are the same to every node."""
        return len(set(self.kinds.signatures.values())) <= 1

    @property
    def order_matters(self) -> bool:
        """Whether pods of one kind may get more or fewer places, depending on which nodes are filled first."""
        return bool(self.kinds.related or self.kinds.shared or self.everywhere or self.lucky or self._released)

    def places(self, pod: Pod) -> Places:
        """Where the pod fits in the present state."""
        only = self.within
        key = (self.kinds.of_pod(pod), only)
        places = self._places.get(key)
        if places is None:
            placement = self._first_look(pod, only)
            places = self._places[key] = self._begin(pod, placement, only)
            if not self.everywhere and not (self._moved and key[0] in self._looking):
                places.stale |= self._touched & places.entries.keys()
                places.stale |= self._released & placement.nodes.keys()
        if places.stale:
            again = tuple(places.placement.nodes[name].node for name in sorted(places.stale) if only is None or name in only)
            self.judged += len(again)
            places.update(self._judge(pod, again))
        return places

    def _begin(self, pod: Pod, placement: Placement, only: frozenset[str] | None) -> Places:
        """Its places by that placement: as they were the last time, if it is that of the start."""
        number = self.kinds.of_pod(pod)
        worth = self.kinds.kept.worth.setdefault(number, {})
        if placement is not self._known.get(self.kinds.signatures[id(pod)]):
            return Places(placement, pod, only, self._prefer, self._assumed, self._order, worth)
        key = (number, id(placement), only, self._prefer)
        begun = self.kinds.kept.begun.get(key)
        if begun is None:
            nothing = Assumed(self.start, self.kinds.kept.infos)
            begun = self.kinds.kept.begun[key] = Places(placement, pod, only, self._prefer, nothing, self._order, worth)
        return begun.copy(self._assumed, self._order)

    def _judge(self, pod: Pod, nodes: Sequence[Node]) -> Mapping[str, NodePlacement]:
        """The pod on these nodes now. As long as nothing but the node itself decides, that is known of each state that it was in before. A
        state is one of kinds of pods: of a port that is taken it is told by which pod, so there it isn't kept."""
        if self.everywhere or self.view is not self.start or node_ports.host_ports(pod):
            return place(self.view, self.current(pod), tuple(nodes), self._assumed).nodes
        kept, found = self.kinds.kept.judged, dict[str, NodePlacement]()
        states = {node.name: self._state(pod, node) for node in nodes}
        for name, (state, _) in states.items():
            if state in kept:
                found[name] = kept[state][1]
        others = tuple(node for node in nodes if node.name not in found)
        for name, entry in place(self.view, self.current(pod), others, self._assumed).nodes.items() if others else ():
            state, info = states[name]
            kept[state] = info, entry
            found[name] = entry
        return found

    def _state(self, pod: Pod, node: Node) -> tuple[State, NodeInfo]:
        info = node_info(self.start, node)
        return (self.kinds.of_pod(pod), id(info), tuple(self.taken.get(node.name, ()))), info

    def _order(self, name: str) -> int:
        return self._numbers()[name]

    def _numbers(self) -> Mapping[str, int]:
        return self.start.memo("order of nodes", lambda: {node.name: number for number, node in enumerate(self.start.all(Node))})

    def _first_look(self, pod: Pod, only: frozenset[str] | None) -> Placement:
        """The pod on all nodes: as they were at the start, as long as what was taken since touches single nodes only."""
        signature = self.kinds.signatures[id(pod)]
        if self.everywhere:
            known = self._known.get(signature)
            names = (frozenset(known.nodes) if only is None else only & known.nodes.keys()) if known is not None else only
            nodes = None if names is None else tuple(node for node in self.view.all(Node) if node.name in names)
            self.judged += self.view.count(Node) if nodes is None else len(nodes)
            return place(self.view, self.current(pod), nodes, self._assumed)
        if signature not in self._known:
            self.judged += self.start.count(Node)
            self._known[signature] = place(self.start, pod)
        known = self._known[signature]
        if not self._moved or id(pod) not in self.kinds.looking or known.pod_wide:
            return known
        # Where others are decides: only nodes that refuse it for good needn't be asked again.
        open_still = tuple(
            entry.node
            for name, entry in known.nodes.items()
            if (only is None or name in only) and (not lasts(entry) or name in self._released)
        )
        self.judged += len(open_still)
        now = place(self.view, self.current(pod), open_still, self._assumed)
        return replace(now, nodes={**known.nodes, **now.nodes})

    def current(self, pod: Pod) -> Pod:
        """The pod as it is in the view of the moment."""
        return self.view.current(pod) or pod

    def waits_for_a_claim(self, pod: Pod) -> bool:
        """In 1.35 a claim that another pod is being given can't be shared before that is written."""
        return bool(self._in_flight) and any((pod.namespace, entry.name) in self._in_flight for entry in claims_of(self.start, pod))

    def take(self, pod: Pod, here: NodePlacement, placement: Placement) -> None:
        """The pod goes to the node, and its claims get their devices."""
        node = here.node.name
        self._touched.add(node)
        claims: list[ResourceClaim] = []
        new: list[Edit] = []
        if self.kinds.related:
            new.append(Replace(replace(self.current(pod), node_name=node)))
        else:
            self._assumed.take_node(pod, node)
        if pod.nominated_node_name:
            self._release(pod)
        if isinstance(here.outcome, Allocated):
            self.lucky |= here.outcome.order_dependent
            claims = _allocated(self.view, pod, placement, here.node, here.outcome)
            for claim in claims:
                new += self._hold(claim, node)
        if new:
            self._edits.update({(type(edit.object), edit.object.key): edit for edit in new})
            self.view = self._assumed.view = self.view.with_edits(*new)
        if self.everywhere:
            self._places.clear()
        elif self.kinds.related:
            self._moved = True
            for key in [key for key in self._places if key[0] in self._looking]:
                del self._places[key]
        for places in self._places.values():
            if node in places.entries:
                places.stale.add(node)
        self.taken.setdefault(node, []).append((bool(claims), self.kinds.of_pod(pod)))

    def _release(self, pod: Pod) -> None:
        """Once the pod is assumed it isn't nominated any more (scheduler.go, assume): its room there is open to all again."""
        self._released.add(pod.nominated_node_name)
        self.view = self._assumed.view = self.view.with_edits(Replace(replace(self.current(pod), nominated_node_name="")))
        for places in self._places.values():
            if pod.nominated_node_name in places.placement.nodes:
                places.stale.add(pod.nominated_node_name)

    def _hold(self, claim: ResourceClaim, node: str) -> list[Edit]:
        """The claim holds its devices; if others than this node see them, everything has to be judged again."""
        if claim.key in self.kinds.shared:
            if self.start.release.minor < SHARED_CLAIMS_SINCE:
                self._in_flight.add(claim.key)
            self.everywhere = True
            return [Replace(claim)]
        self._assumed.take_devices(claim)
        slices = inventory(self.start).by_pool
        results = claim.allocation.results if claim.allocation is not None else ()
        seen = {entry.node_selection.node_name for result in results for entry in slices.get((result.driver, result.pool), ())}
        self.everywhere |= bool(seen - {node})
        return []

    def settled(self) -> None:
        """What was being allocated has been written by now."""
        self._in_flight.clear()

    def mark(self) -> Mark:
        """The present state, to come back to."""
        return Mark(
            self._assumed.copy(),
            self.view,
            frozenset(self._in_flight),
            dict(self._edits),
            frozenset(self._touched),
            frozenset(self._released),
            {node: tuple(kinds) for node, kinds in self.taken.items()},
            self.everywhere,
            self._moved,
            self.lucky,
        )

    def back_to(self, mark: Mark) -> None:
        """Undo what was taken since."""
        if sum(map(len, self.taken.values())) == sum(map(len, mark.taken.values())):
            return
        self._assumed = mark.assumed.copy()
        self.view = mark.view
        self._in_flight, self._edits = set(mark.in_flight), dict(mark.edits)
        self._touched, self._released = set(mark.touched), set(mark.released)
        self.taken = {node: list(kinds) for node, kinds in mark.taken.items()}
        self.everywhere, self._moved, self.lucky = mark.everywhere, mark.moved, mark.lucky
        self._places.clear()

    def edits(self, placed: Sequence[tuple[Pod, str]]) -> tuple[Edit, ...]:
        """What puts everything that was taken into the view of the start."""
        found = dict(self._edits)
        for pod, node in placed:
            found.setdefault((Pod, pod.key), Replace(replace(self.current(pod), node_name=node)))
        for claim in self._assumed.claims:
            found[(ResourceClaim, claim.key)] = Replace(claim) if self.start.current(claim) is not None else Add(claim)
        return tuple(found.values())


def lasts(entry: NodePlacement) -> bool:
    """Whether the node refuses the pod whatever else is placed. What isn't decided doesn't."""
    if entry.elsewhere or any(found.code not in DECIDED_LATER for found, _ in entry.plain):
        return True
    return isinstance(entry.outcome, Unallocatable) and not entry.outcome.missed


def still_known(edited: ClusterView, known: Known, nodes: Sequence[Node]) -> Known:
    """What was known of each kind of pod, where the cluster has changed on these nodes only."""
    if any(relates(placement.pod) for placement in known.values()):
        return {}
    found: Known = {}
    for signature, placement in known.items():
        again = place(edited, placement.pod, tuple(nodes))
        found[signature] = replace(again, nodes={**placement.nodes, **again.nodes})
    return found


def _first_of_the_best(pod: Pod, places: Places) -> NodePlacement | None:
    return places.best(pod)


def _allocated(view: ClusterView, pod: Pod, placement: Placement, node: Node, outcome: Allocated) -> list[ResourceClaim]:
    """The pod's own claims with what they get. The placement may be that of another pod that asks the same."""
    problem = placement.devices.problem_on(node)
    assert problem is not None
    own = unallocated(view, pod)
    found: list[ResourceClaim] = []
    for number, (asked, allocation) in enumerate(zip(problem.claims, outcome.allocations, strict=True)):
        claim = own[number] if number < len(own) else _made_for(pod, asked)
        found.append(replace(claim, allocation=allocation))
    return found


def unallocated(view: ClusterView, pod: Pod) -> list[ResourceClaim]:
    """The pod's claims that are to be allocated: the first ones of its problem, before what the scheduler makes for it."""
    return [entry.claim for entry in claims_of(view, pod) if entry.needed and entry.claim is not None and entry.claim.allocation is None]


def _made_for(pod: Pod, claim: ResourceClaim) -> ResourceClaim:
    """The claim that the scheduler makes for the pod's extended resources."""
    return replace(claim, metadata=replace(claim.metadata, name=f"{pod.name}-{claim.name}", namespace=pod.namespace))
