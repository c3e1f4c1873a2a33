"""Kinds of machines among live nodes that no group has: one more of a kind is what somebody could add by hand."""

from __future__ import annotations

from collections.abc import Collection, Hashable

from ..objects import Node
from ..objects.node import INSTANCE_TYPE
from ..view import ClusterView
from ..view.indices import slices_of_node
from .likeness import shape_of
from .node_group import NodeGroup
from .sanitised import sanitised

MOST_TYPES = 24
"""Kinds that are told, those with most nodes first."""

STARTING = 900.0
"""Seconds after which a node is through with its start: Cluster Autoscaler's default for --max-node-startup-time."""


def machine_types(view: ClusterView, grouped: Collection[str]) -> tuple[NodeGroup, ...]:
    """The kinds of machines among nodes whose names aren't in `grouped`: by instance type, where none is said by devices. Nodes of one
    type that publish different devices are kinds of their own, named after an example."""
    found: dict[str, dict[Hashable, list[Node]]] = {}
    for node in view.all(Node):
        if node.name not in grouped:
            shape = shape_of(node, slices_of_node(view, node.name))
            found.setdefault(node.metadata.labels.get(INSTANCE_TYPE, ""), {}).setdefault(shape, []).append(node)
    for name, shapes in found.items():
        if name and len(shapes) > 1:
            _join_young(view, shapes)
    kinds = [
        (name if name and len(shapes) == 1 else f"{name} like {nodes[0].name}" if name else f"like {nodes[0].name}", nodes)
        for name, shapes in found.items()
        for nodes in shapes.values()
    ]
    kinds.sort(key=lambda kind: (-len(kind[1]), kind[0]))
    return tuple(NodeGroup(name, "machine type", (sanitised(view, name, nodes),), tuple(nodes)) for name, nodes in kinds[:MOST_TYPES])


def _join_young(view: ClusterView, shapes: dict[Hashable, list[Node]]) -> None:
    """New nodes of a type that publish nothing yet go to the kind with most nodes: they will be like these."""
    silent = next((shape for shape, nodes in shapes.items() if not slices_of_node(view, nodes[0].name)), None)
    if silent is None or not view.now:
        return
    young = [node for node in shapes[silent] if view.now - (node.metadata.created or 0.0) <= STARTING]
    largest = max((nodes for shape, nodes in shapes.items() if shape != silent), key=len)
    largest += young
    shapes[silent] = [node for node in shapes[silent] if node not in young]
    if not shapes[silent]:
        del shapes[silent]
