"""Kinds of machines among live nodes that no group has: one more of a kind is what somebody could add by hand."""

from __future__ import annotations

from collections.abc import Collection, Hashable

from ..objects import Node
from ..view import ClusterView
from ..view.indices import slices_of_node
from .likeness import shape_of
from .node_group import NodeGroup
from .sanitised import sanitised
from .shapes import INSTANCE_TYPE

MOST_TYPES = 24
"""Kinds that are told, those with most nodes first."""


def machine_types(view: ClusterView, grouped: Collection[str]) -> tuple[NodeGroup, ...]:
    """The kinds of machines among nodes whose names aren't in `grouped`: by instance type, where none is said by devices. Nodes of one
    type that publish different devices are kinds of their own, named after an example."""
    found: dict[str, dict[Hashable, list[Node]]] = {}
    for node in view.all(Node):
        if node.name not in grouped:
            shape = shape_of(node, slices_of_node(view, node.name))
            found.setdefault(node.metadata.labels.get(INSTANCE_TYPE, ""), {}).setdefault(shape, []).append(node)
    kinds = [
        (name if name and len(shapes) == 1 else f"{name} like {nodes[0].name}" if name else f"like {nodes[0].name}", nodes)
        for name, shapes in found.items()
        for nodes in shapes.values()
    ]
    kinds.sort(key=lambda kind: (-len(kind[1]), kind[0]))
    return tuple(NodeGroup(name, "machine type", (sanitised(view, name, nodes),), tuple(nodes)) for name, nodes in kinds[:MOST_TYPES])
