"""How nodes were placed in earlier views for pods of a signature: taken over for nodes of which nothing that it was made of is another.

What is kept is passed on from view to view with the nodes, and always compared with the very objects of the view that asks: which view was
the one before doesn't matter, nor in which order views are asked.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from ..dra.outcome import Outcome
from ..dra.problem import TargetNode
from ..objects import Node, Pod
from ..view import ClusterView
from ..view.indices import nodes_nominated
from ..view.keeping import make_room
from . import node_ports
from .filters import Filters, Refusals
from .node_info import NodeInfo, differing, node_infos, other_nodes
from .node_placement import NodePlacement, target
from .placed_nodes import PlacedNodes
from .pod_signature import signature

KEPT_SIGNATURES = 16
"""Of so many kinds of pods a view keeps what the filters find against every node."""

FEW_CHANGES = 4
"""Nodes are placed from those of an earlier view if at most one in so many of them is placed otherwise."""


def placed(
    view: ClusterView,
    pod: Pod,
    nodes: Sequence[Node],
    targets: Sequence[TargetNode],
    plain: Mapping[str, Refusals],
    outcomes: Mapping[str, Outcome],
) -> PlacedNodes:
    """The nodes of the view, as placed for a pod with nothing allocated. `targets` are the nodes as the allocator sees them, `plain` and
    `outcomes` are by name; where there is no outcome nothing is to be allocated."""
    carried = view.carried(Node, _nothing_placed)
    question = signature(view, pod)
    before = carried.pop(question, None)
    found = _followed(before, view, nodes, plain, outcomes) if before is not None else None
    if found is None:
        each = zip(nodes, targets, strict=True)
        found = PlacedNodes({own.name: NodePlacement(node, own, plain[own.name], (), outcomes.get(own.name)) for node, own in each})
    carried[question] = _Placed(nodes, plain, outcomes, found)
    make_room(carried, KEPT_SIGNATURES)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Placed:
    """Nodes as they were placed, and of what."""

    nodes: Sequence[Node]
    plain: Mapping[str, Refusals]
    outcomes: Mapping[str, Outcome]
    found: PlacedNodes


def _nothing_placed(_: tuple[Node, ...]) -> dict[Hashable, _Placed]:
    return {}


def _followed(
    before: _Placed, view: ClusterView, nodes: Sequence[Node], plain: Mapping[str, Refusals], outcomes: Mapping[str, Outcome]
) -> PlacedNodes | None:
    """The nodes as they were placed, with those anew of which anything is another; None where these are many."""
    if abs(len(before.nodes) - len(nodes)) * FEW_CHANGES > len(nodes):
        return None
    others = {*other_nodes(before.nodes, nodes), *differing(before.plain, plain), *differing(before.outcomes, outcomes)}
    if len(others) * FEW_CHANGES > len(nodes):
        return None
    if not others:
        return before.found
    by_name = dict(before.found.by_name)
    changes: dict[str, tuple[NodePlacement | None, NodePlacement | None]] = {}
    ordered = True
    for name in others:
        node, then = view.get(Node, name), by_name.get(name)
        if node is None:
            by_name.pop(name, None)
            now = None
        else:
            ordered = ordered and then is not None
            now = by_name[name] = NodePlacement(node, target(node), plain[name], (), outcomes.get(name))
        changes[name] = (then, now)
    if not ordered:
        by_name = {name: by_name[name] for name in plain}
    return before.found.followed(by_name, changes)


def against_all(view: ClusterView, pod: Pod, filters: Filters) -> Mapping[str, Refusals]:
    """What the filters find against each node, which is the same for all pods of one signature; kept for the last few."""
    kept = view.memo("refusals", dict[Hashable, Mapping[str, Refusals]])
    own = signature(view, pod)
    found = kept.get(own)
    if found is None:
        found = kept[own] = _refused_by_each(view, filters, own)
        make_room(kept, KEPT_SIGNATURES)
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
        found: Mapping[str, Refusals] = {name: _against(filters, info, nominated) for name, info in infos.items()}
    else:
        found = _refused_by_others(before, filters, infos, nominated)
    carried[question] = _Refused(infos, nominated, found)
    make_room(carried, KEPT_SIGNATURES)
    return found


def _refused_by_others(
    before: _Refused, filters: Filters, infos: Mapping[str, NodeInfo], nominated: frozenset[str]
) -> Mapping[str, Refusals]:
    """What was found, and anew for the nodes that aren't as then; in the order of these nodes."""
    others = differing(before.infos, infos)
    if not node_ports.host_ports(filters.pod):
        others = [name for name in others if name not in infos or not _as_full(before.infos.get(name), infos[name])]
    again = {*others, *nominated, *before.nominated}
    if not again:
        return before.refused
    found = dict(before.refused)
    for name in again:
        if name in infos:
            found[name] = _against(filters, infos[name], nominated)
        else:
            found.pop(name, None)
    return found if list(found) == list(infos) else {name: found[name] for name in infos}


def _against(filters: Filters, info: NodeInfo, nominated: frozenset[str]) -> Refusals:
    return filters.against(info.node) if info.node.name in nominated else filters.run(info)


def _as_full(before: NodeInfo | None, now: NodeInfo) -> bool:
    """Whether a node has the same room: of the pods there that is all that the filters read for a pod that doesn't look at others
    (`relates`) and has no ports of the host. Who refuses it is part of its signature."""
    return (
        before is not None
        and before.node is now.node
        and len(before.pods) == len(now.pods)
        and (before.requested is now.requested or before.requested == now.requested)
    )


@dataclass(frozen=True, slots=True)
class _Refused:
    """What pods of one signature met on each node of a view: it holds where the node's info is the same and nobody is nominated."""

    infos: Mapping[str, NodeInfo]
    nominated: frozenset[str]
    refused: Mapping[str, Refusals]


def _nothing_refused(_: tuple[Node, ...]) -> dict[Hashable, _Refused]:
    return {}
