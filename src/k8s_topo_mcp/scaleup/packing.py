"""Is there any way at all to put these pods on the nodes there are and so many new ones: whatever the order, the nodes and the devices?

"no" is proven, under rules that leave out what the order of pods decides (affinity to other pods, spread): they could only forbid more. On
one node, pods fit together if their requests do and the allocator finds devices for all of their claims as one problem: it tries every
choice of devices for that, so if it says no, no order of the pods gets there. "yes" holds where nothing was left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from ..dra.allocation import allocate
from ..dra.outcome import Allocated, Unallocatable
from ..objects import Node, Pod, ResourceClaim, ResourceSlice
from ..scheduling import node_ports, node_resources_fit
from ..scheduling.dynamic_resources import DeviceState, problem_of
from ..scheduling.kinds_of_pods import Kinds
from ..scheduling.node_info import NodeInfo, effective_requests, info_of, node_info
from ..scheduling.placement import Placement, place, target
from ..scheduling.placing import Known, lasts, unallocated
from ..view import ClusterView, Replace
from ..view.indices import nodes_nominated
from .conflicts import Conflicts

Answer = Literal["yes", "no", "not decided"]

MOST_STEPS = 20_000
"""Pods put on a node, on trial, in one search."""
MOST_CHECKS = 1_500
"""Sets of pods judged on a node, over all searches."""
MOST_ALLOCATOR_STEPS = 20_000
"""Of the allocator, for the claims of one such set."""
MOST_PODS = 64
"""More pods aren't searched: only the sums count then."""

Set = frozenset[tuple[int, int]]
"""How many pods of each kind (by its number)."""


@dataclass(slots=True, eq=False)
class _Kind:
    """Pods that can stand in for each other. `alone`: where one of them may run, by node."""

    pods: list[Pod]
    alone: Placement
    homes: frozenset[str] = frozenset()


@dataclass(slots=True, eq=False)
class Packing:
    """`new`: the names of the new nodes, all of one template, of which searches use the first so many. `steps` counts over all searches."""

    view: ClusterView
    kinds: list[_Kind]
    new: Sequence[str]
    names: frozenset[str]
    conflicts: Conflicts
    exact: bool
    steps: int = 0
    checks: int = 0
    _known: dict[tuple[str, Set], bool] = field(default_factory=dict[tuple[str, Set], bool])

    @classmethod
    def of(cls, view: ClusterView, pods: Sequence[Pod], kinds: Kinds, known: Known, new: Sequence[str]) -> Packing:
        """`known` says where each kind of pod may run in the view with all new nodes."""
        found: dict[Hashable, _Kind] = {}
        for pod in pods:
            signature = kinds.signatures[id(pod)]
            if signature not in found:
                found[signature] = _Kind([], known[signature])
            found[signature].pods.append(pod)
        free = _without_nominations(view, pods)
        kept = [node for name in {pod.nominated_node_name for pod in pods} if name and (node := view.get(Node, name)) is not None]
        for kind in found.values():
            entries = dict(kind.alone.nodes)
            if kept:  # these may go elsewhere, and then hold no room there
                entries |= place(free, kind.pods[0], tuple(node for node in kept if node.name in entries)).nodes
            kind.homes = frozenset() if kind.alone.pod_wide else frozenset(n for n, entry in entries.items() if not lasts(entry))
        shared_devices = any(not entry.node_selection.node_name for entry in view.all(ResourceSlice))
        exact = not kinds.related and not kinds.shared and not shared_devices and not any(nodes_nominated(free))
        ordered = sorted(found.values(), key=lambda kind: (len(kind.homes), -_size(kind.pods[0])))
        return cls(view, ordered, new, frozenset(new), Conflicts.of(view, [kind.pods[0] for kind in ordered]), exact)

    # --- bounds -----------------------------------------------------------------------------------------------------------------

    @property
    def nowhere(self) -> tuple[Pod, ...]:
        """Pods that no node takes, were there any number of new ones."""
        return tuple(pod for kind in self.kinds if not kind.homes for pod in kind.pods)

    def at_least(self) -> int:
        """A number of new nodes below which there is no way, from sums: pods for which the nodes there are have no room, kind by kind, have
        to go on new ones."""
        new = self.new[0]
        bound = max((self._beyond(new, number) for number in range(len(self.kinds))), default=0)
        homeless = [(number, kind) for number, kind in enumerate(self.kinds) if kind.homes <= set(self.new) and kind.homes]
        if not homeless:
            return bound
        info = self._info(new)
        totals: Counter[str] = Counter()
        for _, kind in homeless:
            totals["pods"] += len(kind.pods)
            delegated = self._delegated(kind, info.node)
            for name, amount in effective_requests(kind.pods[0]).items():
                if name not in delegated and amount.value:
                    totals[name] += amount.value * len(kind.pods)  # type: ignore[assignment]
        for name, total in totals.items():
            there = info.allocatable.get(name)
            taken = len(info.pods) if name == "pods" else info.requested.get(name, 0)
            room = (there.value if there is not None else 0) - taken  # type: ignore[operator]
            if room > 0:
                bound = max(bound, int(-(-total // room)))
        return bound

    def _beyond(self, new: str, number: int) -> int:
        """So many new nodes pods of one kind need by themselves."""
        kind = self.kinds[number]
        left = len(kind.pods)
        for name in sorted(kind.homes - self.names):
            if left <= 0:
                return 0
            left -= self.most_on(name, number)
        return -(-max(0, left) // self.most_on(new, number)) if left > 0 and new in kind.homes else 0

    def most_on(self, name: str, number: int) -> int:
        """How many pods of one kind fit on a node together; at least 1, as one fits alone."""
        count = 1
        while count < len(self.kinds[number].pods) and self.fits(name, frozenset({(number, count + 1)})):
            count += 1
        return count

    # --- one node ---------------------------------------------------------------------------------------------------------------

    def fits(self, name: str, pods: Set) -> bool:
        """Whether these pods could be on the node together; yes where that isn't decided (`exact` is then off)."""
        node = self.new[0] if name in self.names else name
        key = (node, pods)
        if key not in self._known:
            self.checks += 1
            self._known[key] = self._judge(node, pods)
        return self._known[key]

    def _info(self, name: str) -> NodeInfo:
        node = self.view.get(Node, name)
        assert node is not None
        return node_info(self.view, node)

    def _judge(self, name: str, chosen: Set) -> bool:
        info = self._info(name)
        there = list(info.pods)
        claims: dict[tuple[str, str], ResourceClaim] = {}
        for number, count in chosen:
            kind = self.kinds[number]
            ports = node_ports.host_ports(kind.pods[0])
            delegated = self._delegated(kind, info.node)
            for turn, pod in enumerate(kind.pods[:count]):
                now = info_of(info.node, tuple(there), self.view.release)
                if node_resources_fit.filter(pod, now, delegated) or (ports and node_ports.filter(ports, now)):
                    return False
                there.append(replace(pod, node_name=name))
                claims.update(_claims(self.view, pod, kind.alone.devices, info.node, f"{number}-{turn}"))
        if sum(count for _, count in chosen) < 2 or not claims:
            return True
        return self._devices(name, tuple(claims.values()))

    def _devices(self, name: str, claims: tuple[ResourceClaim, ...]) -> bool:
        node = self._info(name).node
        outcome = allocate(problem_of(self.view, claims), target(node), bound=MOST_ALLOCATOR_STEPS)
        if isinstance(outcome, Allocated):
            return True
        if isinstance(outcome, Unallocatable) and not outcome.missed and not (len(claims) > 1 and any(map(_takes_all, claims))):
            return False
        self.exact = False
        return True

    def _delegated(self, kind: _Kind, node: Node) -> frozenset[str]:
        extended = kind.alone.devices.extended
        return extended.on(node) if extended is not None else frozenset()

    # --- all nodes --------------------------------------------------------------------------------------------------------------

    def search(self, count: int) -> Answer:
        """Whether there is a way with so many new nodes."""
        new = set(self.new[:count])
        homes = [sorted((kind.homes - self.names) | (kind.homes & new), key=self._order) for kind in self.kinds]
        if any(not own for own in homes):
            return "no"
        if sum(len(kind.pods) for kind in self.kinds) > MOST_PODS:
            return "not decided"
        found = _Search(self, homes).run()
        if found == "yes" and not self.exact:
            return "not decided"
        return found

    def _order(self, name: str) -> tuple[bool, int | str]:
        """The nodes there are, then the new ones."""
        return (True, self.new.index(name)) if name in self.names else (False, name)


class _Search:
    """Depth first: kind after kind, each of its pods to this node or a later one. Of new nodes without pods only the first is tried."""

    def __init__(self, packing: Packing, homes: list[list[str]]) -> None:
        self._packing = packing
        self._homes = homes
        self._held: dict[str, Counter[int]] = {}
        self._failed: set[Hashable] = set()
        self._begun = packing.steps

    def run(self) -> Answer:
        try:
            return "yes" if self._place(0, 0, 0) else "no"
        except _Bound:
            return "not decided"

    def _place(self, number: int, placed: int, start: int) -> bool:
        kinds = self._packing.kinds
        if number == len(kinds):
            return True
        if placed == len(kinds[number].pods):
            return self._place(number + 1, 0, 0)
        state = (number, placed, self._state(number, start))
        if state in self._failed:
            return False
        fresh = False
        for at in range(start, len(self._homes[number])):
            name = self._homes[number][at]
            held = self._held.setdefault(name, Counter())
            if name in self._packing.names and not held:
                if fresh:
                    continue  # an empty new node is like another
                fresh = True
            self._step()
            if self._packing.conflicts.between(number, name, self._held):
                continue
            held[number] += 1
            if self._packing.fits(name, frozenset(held.items())) and self._place(number, placed + 1, at):
                return True
            held[number] -= 1
            if not held[number]:
                del held[number]
        self._failed.add(state)
        return False

    def _state(self, number: int, start: int) -> Hashable:
        """What is on each node; new nodes in any order, but for where this kind goes on."""
        new = self._packing.names
        later = set(self._homes[number][start:])
        old = frozenset((name, name in later, frozenset(held.items())) for name, held in self._held.items() if held and name not in new)
        fresh = Counter((name in later, frozenset(held.items())) for name, held in self._held.items() if held and name in new)
        return old, frozenset(fresh.items())

    def _step(self) -> None:
        packing = self._packing
        packing.steps += 1
        if packing.steps - self._begun > MOST_STEPS or packing.checks > MOST_CHECKS:
            raise _Bound


class _Bound(Exception):
    """The search took more than it may."""


def _claims(view: ClusterView, pod: Pod, devices: DeviceState, node: Node, place: str) -> Mapping[tuple[str, str], ResourceClaim]:
    """What is to be allocated for the pod on the node; one entry for a claim that pods share."""
    problem = devices.problem_on(node)
    if problem is None:
        return {}
    own = unallocated(view, pod)
    return {
        (own[number].key if number < len(own) else (place, str(number))): (own[number] if number < len(own) else claim)
        for number, claim in enumerate(problem.claims)
    }


def _without_nominations(view: ClusterView, pods: Sequence[Pod]) -> ClusterView:
    """The view in which none of these pods is nominated to a node."""
    edits = [Replace(replace(pod, nominated_node_name="")) for pod in pods if pod.nominated_node_name and view.current(pod) is not None]
    return view.with_edits(*edits) if edits else view


def _takes_all(claim: ResourceClaim) -> bool:
    """How a request for all devices goes together with others' depends on the order in some releases."""
    return any(entry.mode == "All" for request in claim.spec.requests for entry in request.alternatives)


def _size(pod: Pod) -> float:
    cpu, memory = (effective_requests(pod).get(name) for name in ("cpu", "memory"))
    return (cpu.approximate_float() if cpu is not None else 0.0) + (memory.approximate_float() / 2**32 if memory is not None else 0.0)
