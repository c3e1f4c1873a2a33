"""One pod against every node: each plugin's findings, and the matching core's outcome.

The scheduler stops at a node's first refusal. Here every plugin speaks, so that what would still block is known too; the first one in the
release's filter order is what the scheduler says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..dra.allocation import allocate, allocate_each
from ..dra.outcome import Aborted, Allocated, Outcome, Unallocatable, Unknown
from ..dra.problem import AllocationProblem, TargetNode
from ..findings import Finding
from ..objects import Node, Pod
from ..view import ClusterView, derived
from ..view.indices import nodes_nominated
from . import dynamic_resources, node_affinity, node_ports
from .assumed import Assumed
from .filters import Filters, Refusals, filters_for
from .node_info import NodeInfo, differing, info_of, node_infos
from .pod_signature import relates, signature
from .unmodelled import unchecked, unread

KEPT_SIGNATURES = 16
"""Of so many kinds of pods a view keeps what the filters find against every node."""


@dataclass(slots=True, eq=False)  # not frozen: thousands are made for each pod, which takes three times as long then
class NodePlacement:
    """One node, never changed. `target` is what the allocator sees of it. `plain`: findings of every plugin but the devices', in filter
    order, each with the scheduler's reason. `outcome`: what the matching core says of the claims that are to be allocated (None: there are
    none); `elsewhere`: claims that are bound to other nodes."""

    node: Node
    target: TargetNode
    plain: Refusals
    elsewhere: tuple[Finding, ...]
    outcome: Outcome | None

    def on(self, node: Node) -> NodePlacement:
        """The same of a node that is alike."""
        return NodePlacement(node, target(node), self.plain, self.elsewhere, self.outcome)

    @property
    def open(self) -> bool:
        """Whether only devices can still keep the pod away."""
        return not self.plain

    @property
    def fits(self) -> bool:
        return not self.plain and self._devices_fit

    @property
    def reasons(self) -> tuple[str, ...]:
        """What the scheduler counts for this node."""
        if self.refusing:
            return tuple(dict.fromkeys(reason for _, reason in self.refusing))
        if self.outcome is not None and not isinstance(self.outcome, Allocated):
            return (dynamic_resources.reason(self.outcome),)
        if self.elsewhere:
            return (dynamic_resources.NOT_AVAILABLE,)
        return ()

    @property
    def refusing(self) -> Refusals:
        """What the plugin says that refuses the node first; nothing if that is DynamicResources, or none."""
        if not self.plain:
            return ()
        first = self.plain[0][0].code
        if first == _BEHIND_DEVICES and not self._devices_fit:
            return ()
        if len(self.plain) == 1:
            return self.plain
        return tuple((found, reason) for found, reason in self.plain if _plugin(found.code) == _plugin(first))

    @property
    def preemption_may_help(self) -> bool:
        """Whether the node is refused with code Unschedulable: for devices and for one unresolvable reason among several it never is."""
        return bool(self.refusing) and all(found.status == "unschedulable" for found, _ in self.refusing)

    @property
    def left_out(self) -> bool:
        """Whether the pod names other nodes, so that this one isn't even looked at."""
        return bool(self.plain) and self.plain[0][1] == node_affinity.REASON_LEFT_OUT

    @property
    def _devices_fit(self) -> bool:
        return not self.elsewhere and (self.outcome is None or isinstance(self.outcome, Allocated))


_BEHIND_DEVICES = "NODE_FEATURE_MISSING"
"""The one plain finding whose plugin runs after DynamicResources (default_plugins.go)."""

_SEVERAL = {
    **dict.fromkeys(("TOO_MANY_PODS", "INSUFFICIENT_RESOURCE", "RESOURCE_TOO_LARGE"), "NodeResourcesFit"),
    **dict.fromkeys(("VOLUME_NODE_AFFINITY", "NO_VOLUME_TO_BIND", "STORAGE_SHORT", "VOLUME_MISSING"), "VolumeBinding"),
}
"""Codes of plugins that give several reasons for one node."""


def _plugin(code: str) -> str:
    return _SEVERAL.get(code, code)


@dataclass(frozen=True, eq=False)
class Placement:
    """A pod on every node. `pod_wide` findings keep it from all of them, with the scheduler's `message`. `unchecked` rules concern the pod
    and aren't modelled; `aborted` is the error that ends every attempt, if the scheduler meets one."""

    pod: Pod
    filters: Filters
    devices: dynamic_resources.DeviceState
    pod_wide: tuple[Finding, ...]
    message: str
    nodes: Mapping[str, NodePlacement]
    unchecked: tuple[str, ...]
    unread: str = ""

    @cached_property
    def fitting(self) -> tuple[NodePlacement, ...]:
        """Nodes that the pod could run on now."""
        if self.pod_wide or not any(outcome is None or isinstance(outcome, Allocated) for outcome in self.outcomes):
            return ()
        return tuple([entry for entry in self.opened if entry.fits])

    @cached_property
    def opened(self) -> tuple[NodePlacement, ...]:
        """Nodes where only devices decide."""
        return tuple([entry for entry in self.nodes.values() if not entry.plain])

    @cached_property
    def outcomes(self) -> tuple[Outcome | None, ...]:
        """What the matching core says of open nodes, each outcome once, however many nodes share it."""
        return tuple({id(entry.outcome): entry.outcome for entry in self.opened}.values())

    @cached_property
    def contending(self) -> Mapping[str, NodePlacement]:
        """Nodes where the pod fits, or where that isn't known, or the attempt ends with an error."""
        if all(isinstance(outcome, Unallocatable) for outcome in self.outcomes):
            return {}
        return {entry.node.name: entry for entry in self.opened if entry.fits or isinstance(entry.outcome, Aborted | Unknown)}

    @cached_property
    def targets(self) -> tuple[TargetNode, ...]:
        """These nodes as the allocator sees them."""
        return tuple([entry.target for entry in self.opened])

    @cached_property
    def aborted(self) -> tuple[NodePlacement, ...]:
        """Open nodes on which the attempt ends with an error."""
        if not any(isinstance(outcome, Aborted) for outcome in self.outcomes):
            return ()
        return tuple([entry for entry in self.opened if isinstance(entry.outcome, Aborted)])

    @cached_property
    def reasons(self) -> Counter[str]:
        """How many nodes the scheduler refuses for each reason."""
        counts: Counter[str] = Counter()
        for entry in self.nodes.values():
            if entry.plain or entry.elsewhere:
                counts.update(entry.reasons)
        for alike in self.open_kinds:
            for reason in alike[0].reasons:
                counts[reason] += len(alike)
        return counts

    @cached_property
    def open_kinds(self) -> tuple[tuple[NodePlacement, ...], ...]:
        """Open nodes that share one outcome together, without those that a claim's allocation leaves out."""
        kinds: dict[int, list[NodePlacement]] = {}
        for entry in self.opened:
            if not entry.elsewhere:
                kinds.setdefault(id(entry.outcome), []).append(entry)
        return tuple(map(tuple, kinds.values()))

    @property
    def unknown(self) -> str:
        """Why the verdict can't be known on any open node, or ""."""
        if self.devices.not_modelled:
            return self.devices.not_modelled
        return next((outcome.why for outcome in self.outcomes if isinstance(outcome, Unknown)), "")


def target(node: Node) -> TargetNode:
    return derived(node, "target", lambda: TargetNode(node.name, node.metadata.labels, frozenset(node.declared_features or ())))


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
        plain = _against_all(view, pod, filters)
    else:
        plain = {node.name: filters.against(node) for node in nodes}
    outcomes = device_outcomes(devices, nodes, targets, assumed)
    unknown = Unknown(devices.not_modelled) if devices.not_modelled else None
    if devices.allocated or unknown is not None or assumed is not None or only is not None:
        placed = {
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
        placed = _placed(view, pod, nodes, targets, plain, outcomes)
    # Missing claims are met before scheduling begins, missing classes after the volumes.
    first = refused is None or (bool(devices.findings) and devices.findings[0].code != "CLASS_MISSING")
    findings, message = (devices.findings, devices.message) if first or refused is None else ((refused[0],), refused[1])
    return Placement(pod, filters, devices, findings, message, placed, unchecked(view, pod), unread(view, pod))


def _placed(
    view: ClusterView,
    pod: Pod,
    nodes: Sequence[Node],
    targets: Sequence[TargetNode],
    plain: Mapping[str, Refusals],
    outcomes: Mapping[str, Outcome],
) -> Mapping[str, NodePlacement]:
    """The placements of a pod with nothing allocated; those of an earlier view for a pod of its signature where nothing is another."""
    carried = view.carried(Node, _nothing_placed)
    question = signature(view, pod)
    before = carried.pop(question, {})
    placed: dict[str, NodePlacement] = {}
    for node, own in zip(nodes, targets, strict=True):
        name = own.name
        refused, outcome, known = plain[name], outcomes.get(name), before.get(name)
        if known is not None and known.node is node and known.plain is refused and known.outcome is outcome:
            placed[name] = known
        else:
            placed[name] = NodePlacement(node, own, refused, (), outcome)
    carried[question] = placed
    _forget(carried)
    return placed


def _nothing_placed(_: tuple[Node, ...]) -> dict[Hashable, dict[str, NodePlacement]]:
    return {}


def _against_all(view: ClusterView, pod: Pod, filters: Filters) -> Mapping[str, Refusals]:
    """What the filters find against each node, which is the same for all pods of one signature; kept for the last few."""
    kept = view.memo("refusals", dict[Hashable, Mapping[str, Refusals]])
    own = signature(view, pod)
    found = kept.get(own)
    if found is None:
        found = kept[own] = _refused_by_each(view, filters, own)
        _forget(kept)
    return found


def _refused_by_each(view: ClusterView, filters: Filters, own: Hashable) -> Mapping[str, Refusals]:
    """By node; where the node and its pods are those of an earlier view, it refuses as then."""
    if filters.devices.extended is not None:
        return {node.name: filters.against(node) for node in view.all(Node)}
    carried = view.carried(Node, _nothing_refused)
    release = view.release
    question = (own, release.minor, frozenset(name for name, gate in release.gates.items() if gate.enabled))
    infos, nominated = node_infos(view), frozenset(nodes_nominated(view))
    before = carried.pop(question, None)
    if before is None:
        found = {name: filters.against(info.node) for name, info in infos.items()}
    else:
        found = dict(before.refused)
        others = differing(before.infos, infos)
        if not node_ports.host_ports(filters.pod):
            others = [name for name in others if name not in infos or not _as_full(before.infos.get(name), infos[name])]
        for name in {*others, *nominated, *before.nominated}:
            found.pop(name, None)
            if name in infos:
                found[name] = filters.against(infos[name].node)
    carried[question] = _Refused(infos, nominated, found)
    _forget(carried)
    return found


def _as_full(before: NodeInfo | None, now: NodeInfo) -> bool:
    """Whether a node has the same room: of the pods there that is all that the filters read for a pod that doesn't look at others
    (`relates`) and has no ports of the host. Who refuses it is part of its signature."""
    return before is not None and before.node is now.node and len(before.pods) == len(now.pods) and before.requested == now.requested


@dataclass(frozen=True, slots=True)
class _Refused:
    """What pods of one signature met on each node of a view: it holds where the node's info is the same and nobody is nominated."""

    infos: Mapping[str, NodeInfo]
    nominated: frozenset[str]
    refused: Mapping[str, Refusals]


def _nothing_refused(_: tuple[Node, ...]) -> dict[Hashable, _Refused]:
    return {}


def _forget(kept: dict[Hashable, Any]) -> None:
    """The oldest of too many signatures."""
    for oldest in tuple(kept)[: max(0, len(kept) - KEPT_SIGNATURES)]:
        kept.pop(oldest, None)


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
