"""Kueue's ResourceFlavors as node groups: a flavor means nodes by their labels, and says of none that isn't there how it would be."""

from __future__ import annotations

from ..objects import Node, ResourceFlavor
from ..view import ClusterView
from .labelled import templates_of
from .node_group import NodeGroup


def flavor_groups(view: ClusterView) -> tuple[NodeGroup, ...]:
    """One for each flavor that names labels; one without means every node, and is no group."""
    return tuple(_group(view, flavor) for flavor in view.all(ResourceFlavor) if flavor.node_labels)


def _group(view: ClusterView, flavor: ResourceFlavor) -> NodeGroup:
    members = tuple(
        node for node in view.all(Node) if all(node.metadata.labels.get(key) == value for key, value in flavor.node_labels.items())
    )
    why = "" if members else f"no node has the labels of {flavor.ref}, and it says nothing else of its nodes"
    templates = templates_of(view, flavor.name, members) if members else ()
    return NodeGroup(flavor.name, "ResourceFlavor", templates, members, ref=flavor.ref, why_none=why)
