"""Every node group that the cluster itself shows, and the one that a name means: a group, a NodePool, or a shape of the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches

from ..view import ClusterView
from .daemons import with_daemons
from .documents import from_documents
from .event_groups import event_groups
from .flavors import flavor_groups
from .labelled import labelled_groups
from .machine_groups import machine_groups
from .machine_types import machine_types
from .node_group import NodeGroup
from .node_pools import node_pools
from .shapes import UnknownShape, find_name, names, shape
from .status_groups import status_groups

_NEAREST = 3


class UnknownGroup(ValueError):
    """No group, NodePool or shape has that name, or several have."""


def node_groups(view: ClusterView) -> tuple[NodeGroup, ...]:
    """
    All node groups of the cluster: those of Cluster Autoscaler's status and of its events, NodePools, Cluster API's, those that nodes name
    by their labels, Kueue's flavors, and the machine types of nodes that are in none of these.

    One that two sources show is given once: a group of the status in place of the labelled one whose nodes it has all, or of the machine
    group that it is. Worked out once for a view.
    """
    return view.memo("node groups", lambda: _node_groups(view))


def _node_groups(view: ClusterView) -> tuple[NodeGroup, ...]:
    status = status_groups(view)
    status += event_groups(view, {group.name for group in status})
    shown = {group.ref for group in status if group.ref is not None}
    covered = {node.name for group in status for node in group.members}
    machines = tuple(group for group in machine_groups(view) if group.ref not in shown)
    covered |= {node.name for group in machines for node in group.members}
    labelled = tuple(group for group in labelled_groups(view) if not all(node.name in covered for node in group.members))
    pools, flavors = node_pools(view), flavor_groups(view)
    grouped = covered | {node.name for group in (*pools, *labelled, *flavors) for node in group.members}
    return (*status, *pools, *machines, *labelled, *flavors, *machine_types(view, grouped))


def find(view: ClusterView, name: str, given: Sequence[NodeGroup] = ()) -> NodeGroup:
    """
    The group that a name means: exactly, without regard to letter case, by its last part ("MachineDeployment/ns/gpu", a cloud's address),
    or a shape of the catalogue. One of `given` comes before the cluster's own.

    Raises
    ------
    UnknownGroup
        None has that name, or several groups have: with the nearest names.
    """
    wanted = name.strip()
    own = {group.name for group in given}
    groups = (*given, *(group for group in node_groups(view) if group.name not in own))
    rules: tuple[tuple[Callable[[str], str], str], ...] = (
        (lambda text: text, wanted),
        (lambda text: text.lower(), wanted.lower()),
        (lambda text: text.rpartition("/")[2].lower(), wanted.lower()),
    )
    for part, looked_for in rules:
        found = [group for group in groups if part(group.name) == looked_for]
        if len(found) == 1:
            return found[0]
        if len(found) > 1:
            shown = [group for group in found if group.kind != "ResourceFlavor"]
            if len(shown) == 1:
                return shown[0]
            kinds = ", ".join(f"{group.kind} {group.name}" for group in found[:4])
            raise UnknownGroup(f"{name[:80]!r} names {len(found)} node groups: {kinds}")
    if find_name(wanted) is not None:
        return shape_group(view, wanted)
    known = {group.name.lower(): group.name for group in groups} | {entry.lower(): entry for entry in names()}
    near = [known[entry] for entry in get_close_matches(wanted.lower(), known, _NEAREST, 0.5)]
    if not near:
        try:
            shape(wanted)
        except UnknownShape as error:
            near = str(error).rpartition("nearest: ")[2].split(", ") if "nearest: " in str(error) else []
    hint = f"Nearest: {', '.join(near)}" if near else f"The groups here: {', '.join(group.name for group in groups[:4]) or 'none'}"
    raise UnknownGroup(f"no node group, NodePool or node shape {name[:80]!r}. {hint}")


def shape_group(view: ClusterView, name: str) -> NodeGroup:
    """A shape of the catalogue as a group of its own, with the cluster's daemons. Raises UnknownShape."""
    template = with_daemons(view, shape(name))
    return NodeGroup(template.name, "shape", (template,))


__all__ = ["UnknownGroup", "find", "from_documents", "node_groups", "shape_group", "with_daemons"]
