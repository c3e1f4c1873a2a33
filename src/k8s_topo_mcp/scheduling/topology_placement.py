"""TopologyPlacement: the domains of a label, in each of which the whole group is tried by itself.

Source: k8s.io/kubernetes pkg/scheduler/framework/plugins/topologyaware/topology_placement.go. A node without the label belongs to no
domain; members that are placed already pin the domain.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..objects import Node
from ..view import ClusterView
from .gang_scheduling import Gang

NO_PLACEMENT = "no feasible placements found"


def domains(view: ClusterView, gang: Gang) -> Mapping[str, tuple[Node, ...]] | str:
    """value -> nodes, most nodes first; or the error that ends the attempt."""
    found: dict[str, list[Node]] = {}
    for node in view.all(Node):
        value = node.metadata.labels.get(gang.topology_key)
        if value is not None:
            found.setdefault(value, []).append(node)
    pinned = ""
    for pod in gang.bound:
        node = view.get(Node, pod.node_name)
        value = node.metadata.labels.get(gang.topology_key) if node is not None else None
        if value is None:
            return f"cannot determine domain for already scheduled pods: no topology domain found for pod {pod.full_name}"
        if pinned and value != pinned:
            return f"cannot determine domain for already scheduled pods: more than 1 domain found for pod group: {pinned}, {value}"
        pinned = value
    ordered = sorted(found.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    return {value: tuple(nodes) for value, nodes in ordered if not pinned or value == pinned}
