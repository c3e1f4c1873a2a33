"""Would more nodes of the shapes that are here start a pod: what tells a cluster that is too small from a pod that doesn't fit it.

One node more of each shape is tried, empty, with the labels and taints of a node that the pod isn't kept from for good; the pod's whole
pipeline judges it (`trials`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from ..dra.outcome import Allocated
from ..objects import Node, Pod
from ..scheduling.dynamic_resources import active_rules
from ..scheduling.looks import looks_around
from ..scheduling.placement import NodePlacement, Placement, place, refusals
from ..view import ClusterView
from ..view.indices import slices_of_node
from .new_nodes import shape_of
from .node_changes import KINDS, PASSING, one_more
from .report import Change
from .trials import Subject, fitting


def more_nodes_start(view: ClusterView, pod: Pod, placement: Placement) -> bool | None:
    """Whether one more node of some shape would start the pod. None where no shape does, but of one isn't known what a new node has."""
    if placement.pod_wide or placement.devices.unknown or placement.devices.allocated or placement.aborted:
        return False  # an error on one node ends every attempt
    unknown = False
    for node in _shapes(view, placement.nodes.values()):
        change = one_more(view, node, "more nodes of this shape")
        if change is None:
            unknown = True
        elif _starts(view, pod, placement, change):
            return True
    return None if unknown else False


def _shapes(view: ClusterView, entries: Iterable[NodePlacement]) -> list[Node]:
    """One node for each shape and set of lasting refusals, those with the fewest first; as many as are tried for a pod by itself."""
    found: dict[Hashable, tuple[int, Node]] = {}
    for entry in entries:
        lasting = frozenset(refused.code for refused, _ in entry.plain if refused.code not in PASSING)
        shape = shape_of(entry.node, slices_of_node(view, entry.node.name))
        found.setdefault((shape, lasting), (len(lasting), entry.node))
    return [node for _, node in sorted(found.values(), key=lambda pair: pair[0])][:KINDS]


def _starts(view: ClusterView, pod: Pod, placement: Placement, change: Change) -> bool:
    new = next(edit.object for edit in change.edits if isinstance(edit.object, Node))
    if looks_around(pod) or placement.devices.extended is not None or active_rules(view):
        edited = view.with_edits(*change.edits)
        judged = place(edited, pod, (new,))
        return any(not (isinstance(entry.outcome, Allocated) and entry.outcome.order_dependent) for entry in judged.fitting)
    if placement.devices.problem is None:
        return not refusals(view, pod, new)
    return bool(fitting(Subject(view, pod, placement.devices.problem.claims, placement.devices.problem, ()), change))
