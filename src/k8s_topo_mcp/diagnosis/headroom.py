"""How many more copies of a waiting pod would start now: of one that waits for something else than room, or of one that fits."""

from __future__ import annotations

from ..objects import Node, Pod
from ..scheduling import dynamic_resources
from ..scheduling.placement import place, target
from ..view import ClusterView
from .feasibility import MAX_COPIES, count_copies, room_for
from .node_kinds import node_kinds


def headroom(view: ClusterView, pod: Pod) -> int | None:
    """Copies that could run side by side on what is free, each with devices of its own; None where the model doesn't know."""
    devices = dynamic_resources.prepare(view, pod)
    kinds = None if devices.findings else node_kinds(view, pod, devices)
    placement = place(view, pod, None if kinds is None else tuple(kind.first for kind in kinds))
    if placement.unknown or placement.unread or placement.unchecked or placement.devices.extended is not None:
        return None
    if view.unknown(Node.KIND) is not None or any(found.status == "unknown" for found in placement.pod_wide):
        return None
    if placement.pod_wide or placement.aborted or not placement.fitting:
        return 0
    fitting = {entry.node.name for entry in placement.fitting}
    nodes: list[Node] = []
    if kinds is None:
        nodes = [entry.node for entry in placement.fitting]
    else:
        nodes = [node for kind in kinds if kind.first.name in fitting for node in kind.members]
    limits = {node.name: room_for(view, pod, node) for node in nodes}
    if placement.devices.problem is None:
        return min(sum(limits.values()), MAX_COPIES)
    return count_copies(placement.devices.problem, [target(node) for node in nodes], limits)
