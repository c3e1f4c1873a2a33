"""Which groups an autoscaler has in its care, and of which of these nobody has shown that their nodes don't take the pods.

A simulation tells of nodes that are known. An autoscaler's own group may have none yet: its status names it and says nothing of its nodes
(pkg/clusterstate writes names, sizes and health), annotations give a number of devices and none of their attributes (see machine_groups),
a NodePool may be of instance types that no object describes. It is no less what the autoscaler grows, while a machine type that is seen on
some node is nobody's to grow.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from ..objects import NodePool
from ..view import ClusterView
from .autoscaler import Autoscaler, Kind
from .autoscalers import status
from .node_group import NodeGroup
from .template import NodeTemplate

OF_CLUSTER_AUTOSCALER = frozenset({"Cluster Autoscaler", "Cluster API"})
"""Kinds of groups that Cluster Autoscaler has in its care wherever it runs."""


def in_care_of(view: ClusterView, autoscaler: Autoscaler, group: NodeGroup) -> bool:
    """Whether anything says that the autoscaler makes nodes of the group."""
    if autoscaler.kind == "Karpenter":
        return view.get(NodePool, group.name) is not None
    said = status(view)
    return group.kind in OF_CLUSTER_AUTOSCALER or (said is not None and said.group(group.name) is not None)


def own_groups(view: ClusterView, groups: Iterable[NodeGroup], known: Sequence[Autoscaler]) -> tuple[NodeGroup, ...]:
    """Those that one of the autoscalers has in its care, in their order."""
    return tuple(group for group in groups if any(in_care_of(view, entry, group) for entry in known if entry.kind == maker(group)))


def maker(group: NodeGroup) -> Kind:
    """Which autoscaler makes nodes of such a group."""
    return "Karpenter" if group.kind == "Karpenter NodePool" else "Cluster Autoscaler"


def serving(group: NodeGroup, found: Sequence[Autoscaler]) -> Autoscaler | None:
    """The autoscaler that would make nodes of a group: Karpenter of its NodePools, else Cluster Autoscaler, else the only one there is."""
    return next((entry for entry in found if entry.kind == maker(group)), found[0] if len(found) == 1 else None)


def open_groups(
    groups: Sequence[NodeGroup], doing: Collection[NodeGroup], vain: Collection[NodeTemplate]
) -> tuple[tuple[NodeGroup, str], ...]:
    """Those of the groups of which it is known neither that their nodes take the pods nor that they don't, with what is missing to tell; ""
    where the simulation has that. `doing`: groups that do; `vain`: templates that were found not to do."""
    found: list[tuple[NodeGroup, str]] = []
    for group in groups:
        if group in doing:
            continue
        if not group.templates:
            found.append((group, group.why_none))
        elif any(template not in vain for template in group.templates):
            found.append((group, ""))
    return tuple(found)
