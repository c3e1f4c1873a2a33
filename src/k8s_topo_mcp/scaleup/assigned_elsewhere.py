"""Pods to which Kueue has assigned nodes: a new one isn't among them, whatever is free on it.

An assignment names labels of nodes, most often host names (queueing/topology_assignment). Where it goes by other labels, such as that of a
rack, a new node may turn up in the same one: that isn't known before, unless nodes of the group stand in one place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from ..findings import finding
from ..objects import Node, Pod
from ..objects.node import HOSTNAME
from ..queueing.topology_assignment import Assigned, assigned
from ..view import ClusterView
from .obstacle import Certainty
from .passing_over import Check, Passed
from .template import NodeTemplate
from .unpredictable import host_names


def assigned_elsewhere(view: ClusterView, templates: Sequence[NodeTemplate]) -> Check:
    """Pods whose domain new nodes of these templates aren't in, or aren't known to be in."""

    def check(pod: Pod) -> Passed | None:
        own = assigned(view, pod)
        found = {_in(view, own.selector, template) for template in templates} if own is not None else set[str]()
        if own is None or not found or "yes" in found:
            return None
        certainty: Certainty = "unknown" if "unknown" in found else "certain"
        new = "may be elsewhere" if certainty == "unknown" else "are elsewhere"
        nodes = _nodes_in(view, own.selector)
        values = {"workload": own.workload.full_name, "domain": own.domain, "nodes": nodes}
        why = finding("ASSIGNED_ELSEWHERE", own.workload.ref, "status.admission.podSetAssignments", **values, new=new)
        return Passed(why, certainty, _removed_by(own, nodes))

    return check


def _nodes_in(view: ClusterView, selector: Mapping[str, str]) -> int:
    """How many nodes there are in a domain."""
    by_label = view.index(Node, _labels)
    fewest = min((by_label.get(label, ()) for label in selector.items()), key=len, default=view.all(Node))
    return sum(1 for node in fewest if selector.items() <= node.metadata.labels.items())


def _labels(node: Node) -> Iterable[tuple[str, str]]:
    return node.metadata.labels.items()


def _in(view: ClusterView, selector: Mapping[str, str], template: NodeTemplate) -> Literal["yes", "no", "unknown"]:
    """Whether a new node of the template is in a domain."""
    unknown = False
    for key, value in selector.items():
        if key == HOSTNAME and value in host_names(view):
            return "no"
        if key in template.unpredictable:
            unknown = True
        elif template.node.metadata.labels.get(key) != value:
            return "no"
    return "unknown" if unknown else "yes"


def _removed_by(own: Assigned, nodes: int) -> str:
    room = "room on a node that is there" if nodes == 1 else f"room on one of the {nodes} nodes there" if nodes else ""
    again = f"eviction of Workload {own.workload.name} (spec.active false, then true): Kueue then assigns anew, to new nodes too"
    return f"{room}; or {again}" if room else again
