"""One pod against every node: each plugin's findings, and the matching core's outcome.

The scheduler stops at a node's first refusal. Here every plugin speaks, so that what would still block is known too; the first one in the
release's filter order is what the scheduler says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter

from ..dra.allocation import allocate, allocate_each
from ..dra.outcome import Aborted, Allocated, Outcome, Unknown
from ..dra.problem import AllocationProblem, TargetNode
from ..findings import Finding
from ..objects import Node, Pod
from ..view import ClusterView
from . import across_views, dynamic_resources
from .assumed import Assumed
from .filters import Filters, Refusals, filters_for
from .node_info import info_of
from .node_placement import NodePlacement, target
from .placed_nodes import Entries, PlacedNodes, names_of
from .pod_signature import relates
from .unmodelled import unchecked, unread


@dataclass(frozen=True, eq=False)
class Placement:
    """A pod on every node. `pod_wide` findings keep it from all of them, with the scheduler's `message`. `unchecked` rules concern the pod
    and aren't modelled; `aborted` is the error that ends every attempt, if the scheduler meets one. `together`: what is known already of
    what `nodes` have in common."""

    pod: Pod
    filters: Filters
    devices: dynamic_resources.DeviceState
    pod_wide: tuple[Finding, ...]
    message: str
    nodes: Mapping[str, NodePlacement]
    unchecked: tuple[str, ...]
    unread: str = ""
    together: PlacedNodes | None = None

    @cached_property
    def placed(self) -> PlacedNodes:
        """The nodes, by what they have in common."""
        known = self.together
        return known if known is not None and known.by_name is self.nodes else PlacedNodes(self.nodes)

    @cached_property
    def fitting(self) -> Entries:
        """Nodes that the pod could run on now."""
        return () if self.pod_wide else self._among(lambda kind: kind.fits)

    @property
    def opened(self) -> Entries:
        """Nodes where only devices decide."""
        return self.placed.grouped(_is_open).get(True, ())

    @cached_property
    def outcomes(self) -> tuple[Outcome | None, ...]:
        """What the matching core says of open nodes, each outcome once, however many nodes share it; of solutions the first."""
        return tuple({_which(alike[0].outcome): alike[0].outcome for alike in self._open_kinds}.values())

    @cached_property
    def contending(self) -> Mapping[str, NodePlacement]:
        """Nodes where the pod fits, or where that isn't known, or the attempt ends with an error."""
        found = self._among(lambda kind: kind.fits or isinstance(kind.outcome, Aborted | Unknown))
        return dict(zip(names_of(found), found, strict=True))

    @cached_property
    def targets(self) -> tuple[TargetNode, ...]:
        """Open nodes as the allocator sees them."""
        return tuple(map(attrgetter("target"), self.opened))

    @cached_property
    def aborted(self) -> Entries:
        """Open nodes on which the attempt ends with an error."""
        return self._among(lambda kind: isinstance(kind.outcome, Aborted))

    @cached_property
    def left_out(self) -> Entries:
        """Open nodes that a claim's allocation leaves out."""
        return self._among(lambda kind: bool(kind.elsewhere))

    @cached_property
    def free(self) -> Entries:
        """Open nodes but those."""
        return self._among(lambda kind: not kind.elsewhere)

    @cached_property
    def searched(self) -> Entries:
        """Of these the nodes on which anything is to be allocated."""
        return self._among(lambda kind: not kind.elsewhere and kind.outcome is not None)

    def as_targets(self, nodes: Entries) -> tuple[TargetNode, ...]:
        """Nodes as the allocator sees them."""
        return self.targets if nodes is self.opened else tuple(map(attrgetter("target"), nodes))

    @cached_property
    def reasons(self) -> Counter[str]:
        """How many nodes the scheduler refuses for each reason."""
        counts: Counter[str] = Counter()
        for said, members in self.placed.grouped(_reasons_if_closed).items():
            counts.update(dict.fromkeys(said, len(members)))
        for alike in self._open_kinds:
            counts.update(dict.fromkeys(alike[0].reasons, len(alike)))
        return counts

    @property
    def open_kinds(self) -> tuple[Entries, ...]:
        """Open nodes that share one outcome together, and those that fit, without those that a claim's allocation leaves out."""
        return tuple(alike for alike in self._open_kinds if not alike[0].elsewhere)

    @property
    def _open_kinds(self) -> tuple[Entries, ...]:
        return tuple(alike for kind, alike in self.placed.grouped(_kind_if_open).items() if kind is not None)

    def _among(self, chosen: Callable[[NodePlacement], bool]) -> Entries:
        """The open nodes of which this is so, which one of a kind tells for all of it."""
        kinds = self._open_kinds
        found = [alike for alike in kinds if chosen(alike[0])]
        return self.opened if len(found) == len(kinds) else self.placed.merged(found)

    @property
    def unknown(self) -> str:
        """Why the verdict can't be known on any open node, or ""."""
        if self.devices.unknown:
            return self.devices.unknown
        return next((outcome.why for outcome in self.outcomes if isinstance(outcome, Unknown)), "")


def _is_open(entry: NodePlacement) -> bool:
    return not entry.plain


def _which(outcome: Outcome | None) -> Hashable:
    """Outcomes with nothing but devices between them are one: each node has a solution of its own."""
    return ("allocated", outcome.order_dependent) if isinstance(outcome, Allocated) else id(outcome)


def _kind_if_open(entry: NodePlacement) -> tuple[Hashable, bool] | None:
    return None if entry.plain else (_which(entry.outcome), bool(entry.elsewhere))


def _reasons_if_closed(entry: NodePlacement) -> tuple[str, ...]:
    return entry.reasons if entry.plain else ()


def targets_of(view: ClusterView) -> tuple[TargetNode, ...]:
    """All nodes as the allocator sees them, in the order of the cluster."""
    return view.each(Node, target)


def place(view: ClusterView, pod: Pod, only: tuple[Node, ...] | None = None, assumed: Assumed | None = None) -> Placement:
    """Judge a pod on every node (or on some of them), as if it came up for scheduling now; after what was `assumed` on top of the view."""
    devices = dynamic_resources.prepare(view, pod)
    filters = filters_for(view, pod, devices)
    refused = filters.refused
    nodes = view.all(Node) if only is None else only
    targets = targets_of(view) if only is None else tuple([target(node) for node in only])
    if assumed is not None:
        plain: Mapping[str, Refusals] = {node.name: filters.after(assumed.info(node)) for node in nodes}
    elif only is None and not relates(pod):
        plain = across_views.against_all(view, pod, filters)
    else:
        plain = {node.name: filters.against(node) for node in nodes}
    outcomes = device_outcomes(devices, nodes, targets, assumed)
    unknown = Unknown(devices.unknown) if devices.unknown else None
    together: PlacedNodes | None = None
    if devices.allocated or unknown is not None or assumed is not None or only is not None:
        placed: Mapping[str, NodePlacement] = {
            own.name: NodePlacement(
                node,
                own,
                plain[own.name],
                dynamic_resources.elsewhere(devices, node) if devices.allocated else (),
                unknown or outcomes.get(own.name),
            )
            for node, own in zip(nodes, targets, strict=True)
        }
    else:
        together = across_views.placed(view, pod, nodes, targets, plain, outcomes)
        placed = together.by_name
    # Missing claims are met before scheduling begins, missing classes after the volumes.
    first = refused is None or (bool(devices.findings) and devices.findings[0].code != "CLASS_MISSING")
    findings, message = (devices.findings, devices.message) if first or refused is None else ((refused[0],), refused[1])
    return Placement(pod, filters, devices, findings, message, placed, unchecked(view, pod), unread(view, pod), together)


def device_outcomes(
    devices: dynamic_resources.DeviceState, nodes: Sequence[Node], targets: Sequence[TargetNode], assumed: Assumed | None = None
) -> Mapping[str, Outcome]:
    """What the matching core says of each node on which anything is to be allocated."""
    groups: dict[int, tuple[AllocationProblem, Sequence[TargetNode]]] = {}
    if devices.extended is None:
        if devices.problem is not None and nodes:
            groups[0] = (devices.problem, targets)
    else:
        apart: dict[int, tuple[AllocationProblem, list[TargetNode]]] = {}
        for node, own in zip(nodes, targets, strict=True):
            problem = devices.problem_on(node)
            if problem is not None:
                apart.setdefault(id(problem), (problem, []))[1].append(own)
        groups.update(apart)
    if assumed is None and len(groups) == 1:
        return allocate_each(*next(iter(groups.values())))
    found: dict[str, Outcome] = {}
    for problem, members in groups.values():
        if assumed is None:
            found |= allocate_each(problem, members)
        elif len(members) == 1:
            found[members[0].name] = allocate(assumed.problem(problem, members), members[0])
        else:
            found |= allocate_each(assumed.problem(problem, members), members)
    return found


def refusals(view: ClusterView, pod: Pod, node: Node) -> tuple[Finding, ...]:
    """What the plain filters find against a node that nobody runs on, be it in the view or not."""
    filters = filters_for(view, pod, dynamic_resources.prepare(view, pod))
    return tuple(found for found, _ in filters.run(info_of(node, (), view.release)))
