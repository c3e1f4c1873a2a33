"""The node groups that Cluster Autoscaler names in its status, and the nodes that are theirs.

The status says sizes and names, not which nodes: these are found by how clouds name groups and nodes. Where that finds none, the group has
no template; nothing is guessed from what is left over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from ..objects import ClusterAutoscalerStatus, GroupStatus, MachineDeployment, MachineGroup, MachinePool, MachineSet, Node
from ..view import ClusterView
from . import machine_groups
from .autoscalers import statuses
from .group_labels import LABELS
from .labelled import templates_of
from .node_group import NodeGroup
from .template import Fact, NodeTemplate

_EKS, _EKSCTL = "eks.amazonaws.com/nodegroup", "alpha.eksctl.io/nodegroup-name"


def status_groups(view: ClusterView) -> tuple[NodeGroup, ...]:
    """One for each group of the status; of two autoscalers that name the same group, what the newer status says."""
    found: dict[str, NodeGroup] = {}
    for status in statuses(view):
        for entry in status.groups:
            if entry.name and entry.name not in found:
                found[entry.name] = _group(view, status, entry)
    return tuple(found.values())


def _group(view: ClusterView, status: ClusterAutoscalerStatus, entry: GroupStatus) -> NodeGroup:
    machines = machine_group(view, entry.name)
    if machines is not None:
        own = machine_groups.group_of(view, machines)
        return NodeGroup(
            entry.name, "Cluster Autoscaler", own.templates, own.members, entry.target, entry.min_size, entry.max_size,
            ref=own.ref, why_none=own.why_none,
        )  # fmt: skip
    templates, members = templates_of_cloud(view, entry.name)
    why = ""
    if not members:
        why = f"no node of the cluster can be told to be of it by its name, and {status.ref} has no labels, taints or resources"
    return NodeGroup(
        entry.name, "Cluster Autoscaler", templates, members, entry.target, entry.min_size, entry.max_size, ref=status.ref, why_none=why
    )


def templates_of_cloud(view: ClusterView, name: str) -> tuple[tuple[NodeTemplate, ...], tuple[Node, ...]]:
    """The templates of a cloud's group, and the nodes that they are made of."""
    members, how = members_of(view, name)
    short = name.rpartition("/")[2]
    return (tuple(_joined(template, how) for template in templates_of(view, short, members)) if members else ()), members


def _joined(template: NodeTemplate, how: str) -> NodeTemplate:
    return replace(template, facts=(*template.facts, Fact("nodes of the group", how, "assumed")))


def machine_group(view: ClusterView, name: str) -> MachineGroup | None:
    """The Cluster API group that Cluster Autoscaler calls "Kind/namespace/name"."""
    parts = name.split("/")
    kinds: dict[str, type[MachineGroup]] = {kind.KIND: kind for kind in (MachineDeployment, MachineSet, MachinePool)}
    if len(parts) != 3 or parts[0] not in kinds:
        return None
    return view.get(kinds[parts[0]], parts[2], parts[1])


def members_of(view: ClusterView, name: str) -> tuple[tuple[Node, ...], str]:
    """The nodes of a cloud's group, and how they are told."""
    short = name.rpartition("/")[2]
    rules: tuple[tuple[Callable[[Node], bool], str], ...] = (
        (lambda node: _is_value(node, short), "by a label with the group's name"),
        (lambda node: _gke(node, short), "by names: those of a GKE node group begin with it"),
        (lambda node: _aks(node, short), "by names: those of a scale set of Azure begin with it"),
        (lambda node: _eks(node, short), "by the label of the EKS node group that is in the group's name"),
    )
    for rule, how in rules:
        found = tuple(node for node in view.all(Node) if rule(node))
        if found:
            return found, how
    return (), ""


def _is_value(node: Node, name: str) -> bool:
    return any(node.metadata.labels.get(entry.label) == name for entry in LABELS)


def _gke(node: Node, name: str) -> bool:
    stem = name.removesuffix("-grp")
    start, dash, rest = node.name.rpartition("-")
    return stem != name and bool(dash) and start == stem and len(rest) == 4


def _aks(node: Node, name: str) -> bool:
    return name.endswith("vmss") and node.name.startswith(name) and len(node.name) == len(name) + 6


def _eks(node: Node, name: str) -> bool:
    labels = node.metadata.labels
    managed, own = labels.get(_EKS, ""), labels.get(_EKSCTL, "")
    if managed and name.startswith(f"eks-{managed}-") and _is_uuid(name[len(managed) + 5 :]):
        return True
    return bool(own) and f"-nodegroup-{own}-NodeGroup-" in name


def _is_uuid(text: str) -> bool:
    parts = text.split("-")
    return [len(part) for part in parts] == [8, 4, 4, 4, 12] and all(_is_hex(parts))


def _is_hex(parts: Iterable[str]) -> Iterable[bool]:
    return (all(char in "0123456789abcdef" for char in part) for part in parts)
