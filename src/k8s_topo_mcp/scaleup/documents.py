"""Node groups that a user gives as YAML: ordinary Node and ResourceSlice objects, instance types, drafts of potential capacity.

A Node with its ResourceSlices (by spec.nodeName) is one group. A label with a value in angle brackets ("<zone>") is one that isn't known
before the node is there. NodePools, flavors and machine groups among the documents are read as in a cluster that has them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ..objects import ApiObject, Condition, DecodeError, Json, Node, NodeOverlay, NodePool, ResourceSlice, decode
from ..objects.node import HOSTNAME
from ..view import Add, ClusterView, Delete
from .capacity_pools import capacity_groups, is_capacity
from .daemons import with_daemons
from .flavors import flavor_groups
from .instance_types import by_name, decode_instance_types, is_instance_types
from .likeness import whole
from .machine_groups import machine_groups
from .node_group import NodeGroup
from .node_pools import node_pools
from .template import Fact, NodeTemplate


def from_documents(items: Iterable[Json], view: ClusterView | None = None) -> tuple[NodeGroup, ...]:
    """
    The node groups in documents, already parsed.

    Parameters
    ----------
    view
        The cluster that they are for: its DaemonSets would run on the nodes.

    Raises
    ------
    DecodeError
        A document that can't be what it says it is, with the path; or none that is about nodes.
    """
    documents = [entry for item in items for entry in _each(item)]
    capacity = [item for item in documents if is_capacity(item)]
    types: dict[str, NodeTemplate] = {}
    objects: list[ApiObject] = []
    for number, item in enumerate(documents):
        if is_instance_types(item):
            types |= by_name(decode_instance_types(item))
        elif not is_capacity(item):
            try:
                found = decode(item)
            except DecodeError as error:
                raise error.under(f"document {number + 1}, {item.get('kind') or 'an object without kind'}") from None
            if found is not None:
                objects.append(found)
    given = ClusterView(objects, release=view.release if view is not None else None)
    cluster = view if view is not None else given
    groups = [
        *capacity_groups(capacity),
        *_nodes(given, cluster),
        *_pools(cluster, given, types),
        *machine_groups(given),
        *flavor_groups(given),
    ]
    if not given.all(Node) and given.all(ResourceSlice):
        raise DecodeError("", "has ResourceSlices and no Node; right would be a Node with the name that their spec.nodeName has")
    pools = {template.name for group in groups for template in group.templates}
    groups += [
        NodeGroup(name, "file", (with_daemons(cluster, template),))
        for name, template in types.items()
        if not any(name in taken.split() for taken in pools)
    ]
    if not groups:
        raise DecodeError("", "has nothing about nodes; right would be a Node with ResourceSlices, InstanceTypes, or a NodePool")
    return tuple(groups)


def _each(item: Json) -> Iterable[Json]:
    entries = item.get("items")
    if item.get("kind") == "List" and isinstance(entries, list):
        for entry in entries:  # pyright: ignore[reportUnknownVariableType]
            if isinstance(entry, dict):
                yield from _each(entry)  # pyright: ignore[reportUnknownArgumentType]
    else:
        yield item


def _pools(cluster: ClusterView, given: ClusterView, types: Mapping[str, NodeTemplate]) -> Iterable[NodeGroup]:
    """NodePools of the documents; where they have none, the cluster's for which they describe an instance type."""
    if given.all(NodePool):
        yield from node_pools(_with(cluster, given), types)
    elif types:
        groups = node_pools(_with(cluster, given), types)
        yield from (group for group in groups if any(template.name.rpartition(" ")[2] in types for template in group.templates))


def _with(cluster: ClusterView, given: ClusterView) -> ClusterView:
    """The cluster with NodePools and overlays of the documents in place of its own, where they have some."""
    if cluster is given:
        return given
    for kind in (NodePool, NodeOverlay):
        if given.all(kind):
            cluster = cluster.with_edits(*map(Delete, cluster.all(kind))).with_edits(*map(Add, given.all(kind)))
    return cluster


def _nodes(given: ClusterView, cluster: ClusterView) -> Iterable[NodeGroup]:
    for node in given.all(Node):
        slices = tuple(entry for entry in given.all(ResourceSlice) if entry.node_selection.node_name == node.name)
        yield NodeGroup(node.name, "file", (_template(cluster, node, slices),), ref=node.ref)
    names = {node.name for node in given.all(Node)}
    for entry in given.all(ResourceSlice):
        if names and entry.node_selection.node_name not in names:
            raise DecodeError(
                f"ResourceSlice {entry.name}: spec.nodeName", f"is {entry.node_selection.node_name or 'missing'}; right would be "
                f"{'that of' if len(names) == 1 else 'one of'} {', '.join(sorted(names)[:4])}"
            )  # fmt: skip


def _template(cluster: ClusterView, node: Node, slices: tuple[ResourceSlice, ...]) -> NodeTemplate:
    labels: Mapping[str, str] = node.metadata.labels
    open_labels = {key for key, value in labels.items() if value.startswith("<") and value.endswith(">")}
    known = {key: value for key, value in labels.items() if key not in open_labels}
    allocatable = node.allocatable or node.capacity
    node = replace(
        node,
        metadata=replace(node.metadata, labels={**known, HOSTNAME: node.name}),
        allocatable=allocatable,
        conditions=node.conditions or (Condition("Ready", "True"),),
    )
    source = f"the file's {node.ref}"
    facts = [Fact("labels", source, "declared"), Fact("taints", source, "declared"), Fact("allocatable", source, "declared")]
    if not allocatable:
        facts.append(Fact("allocatable", f"{source} gives none, so nothing fits", "declared"))
    facts += (
        Fact(f"devices of {driver}", "the file's ResourceSlices", "declared") for driver in sorted({entry.driver for entry in slices})
    )
    if not whole(cluster, slices):
        facts.append(Fact("devices", "the file's pools lack slices that they say they have", "declared"))
    return with_daemons(cluster, NodeTemplate(node.name, node, slices, (), True, frozenset({*open_labels, HOSTNAME}), tuple(facts)))
