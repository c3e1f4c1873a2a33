"""Node groups by the labels that those who make nodes put on them, and a template for each kind of node in a group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..objects import Node, Quantity
from ..objects.node import INSTANCE_TYPE
from ..view import ClusterView
from .group_labels import Group, groups
from .node_group import NodeGroup
from .sanitised import sanitised
from .template import NodeTemplate

_MADE_ALIKE = frozenset({"nodegroup", "nodepool"})
"""Kinds of groups whose nodes somebody makes to one pattern; those of Karpenter are in `node_pools`, a capacity block is no pattern."""
NODES = "nodes"


def templates_of(view: ClusterView, name: str, members: Sequence[Node]) -> tuple[NodeTemplate, ...]:
    """One template for each instance type among nodes, the most frequent first; one for all where none has that label."""
    by_type: dict[str, list[Node]] = {}
    for node in members:
        by_type.setdefault(node.metadata.labels.get(INSTANCE_TYPE, ""), []).append(node)
    ordered = sorted(by_type.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    several = len(ordered) > 1
    return tuple(sanitised(view, f"{name} {kind}" if several and kind else name, nodes) for kind, nodes in ordered)


def _by_group(node: Node) -> Iterable[Group]:
    return (group for group in groups(node.metadata.labels) if group.kind in _MADE_ALIKE)


def labelled_groups(view: ClusterView) -> tuple[NodeGroup, ...]:
    """All groups of the table that a node of the cluster names. How large they are meant to be, no label says."""
    found = view.index(Node, _by_group)
    return tuple(
        NodeGroup(group.name, "labelled nodes", templates_of(view, group.name, members), members)
        for group, members in sorted(found.items(), key=lambda pair: (pair[0].kind, pair[0].name))
    )


def limit_of_nodes(limits: dict[str, Quantity]) -> int | None:
    """The number of nodes that limits by resource allow; None where they name none."""
    amount = limits.get(NODES)
    return None if amount is None else int(amount.value)
