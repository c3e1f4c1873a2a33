"""A node that isn't there yet, like one that is: empty, well, and with the devices that a node of its shape publishes."""

from __future__ import annotations

from dataclasses import replace

from ..objects import Node
from ..objects.node import HOSTNAME
from ..scaleup.likeness import CONDITION_TAINTS, new_slices, shape_of
from ..scaleup.template import moved
from ..view import Add, ClusterView
from .report import Change

TWIN = "another-node-like-"


def adds_nodes(change: Change) -> bool:
    """Whether a change is more nodes, and nothing else."""
    only_adds = bool(change.edits) and all(isinstance(edit, Add) for edit in change.edits)
    return only_adds and any(isinstance(edit.object, Node) for edit in change.edits)


def twins(view: ClusterView, node: Node, count: int) -> tuple[Add, ...] | None:
    """So many empty nodes like this one, with the slices that a new one would have; None where that isn't known."""
    slices = new_slices(view, node)
    if slices is None:
        return None
    found: list[Add] = []
    for number in range(count):
        start = TWIN if number == 0 else f"{number + 1}-{TWIN}"
        twin = _twin(node, start)
        found.append(Add(twin))
        found += [Add(entry) for entry in moved(slices, twin.name)]
    return tuple(found)


def _twin(node: Node, start: str) -> Node:
    name = f"{start}{node.name}"
    labels = {**node.metadata.labels, HOSTNAME: name}
    taints = tuple(taint for taint in node.taints if not taint.key.startswith(CONDITION_TAINTS))
    return replace(node, metadata=replace(node.metadata, name=name, uid="", labels=labels), unschedulable=False, taints=taints)


__all__ = ["CONDITION_TAINTS", "TWIN", "adds_nodes", "new_slices", "shape_of", "twins"]
