"""What a node that doesn't exist yet would be: the node, what its drivers would publish, what its DaemonSets would run, and how each of
these is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Literal

from ..dra.node_classes import share_facts
from ..dra.selectors import share_judgements
from ..objects import Node, Pod, ResourceSlice
from ..objects.node import HOSTNAME, INSTANCE_TYPE, OLD_INSTANCE_TYPE
from ..view import Add

Confidence = Literal["observed", "declared", "catalogue", "assumed"]
"""observed: a live node has it. declared: an object of the cluster or a file of the user says so. catalogue: the table of node shapes.
assumed: neither; it is what such nodes usually have."""

OLDER: Mapping[str, str] = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    OLD_INSTANCE_TYPE: INSTANCE_TYPE,
}
"""Older keys of labels, each with the newer one: kubelet and cloud controllers set both alike (k8s.io/kubernetes
pkg/kubelet/kubelet_node_status.go, k8s.io/cloud-provider controllers/node), and Karpenter reads the older as the newer one
(sigs.k8s.io/karpenter pkg/apis/v1/labels.go NormalizedLabels)."""


def newer(key: str) -> str:
    """The key of today for a label."""
    return OLDER.get(key, key)


def with_older(labels: Mapping[str, str], unpredictable: Set[str], lacks: Set[str]) -> tuple[dict[str, str], frozenset[str]]:
    """Labels and keys of unknown value, the older key of each as the newer one is. `lacks`: older keys that such nodes don't have."""
    found, open_keys = dict(labels), set(unpredictable)
    for older, key in OLDER.items():
        if key not in labels and key not in unpredictable:
            continue
        found.pop(older, None)
        open_keys.discard(older)
        if older in lacks:
            continue
        if key in unpredictable:
            open_keys.add(older)
        else:
            found[older] = labels[key]
    return found, frozenset(open_keys)


@dataclass(frozen=True, slots=True)
class Fact:
    """Where one part of a template comes from. `part` in a reader's words ("labels", "devices of gpu.nvidia.com"), `source` the object or
    file ("Node gpu-3", "NodePool gpu", "catalogue, p5.48xlarge")."""

    part: str
    source: str
    confidence: Confidence


@dataclass(frozen=True, slots=True, eq=False)
class NodeTemplate:
    """One kind of node of a group. Nothing in it bears the name of a real node: `added` names it.

    `node`, `slices` (all node-local, whole pools) and `daemons` (pods that DaemonSets would run there) belong together by the name of
    `node`. `devices_known`: whether anybody says what such a node publishes; if not, `slices` is empty and what its devices would do is
    unknown. `unpredictable`: keys of labels that such nodes carry with a value that isn't known before the node is there.
    `amounts_unknown`: resources of which such nodes have some, nobody says how much; `node` then has so much that none falls short.
    Older keys of labels are as the newer ones, whoever makes the template; `lacks`: those that live nodes of the kind don't have.
    """

    name: str
    node: Node
    slices: tuple[ResourceSlice, ...] = ()
    daemons: tuple[Pod, ...] = ()
    devices_known: bool = True
    unpredictable: frozenset[str] = frozenset()
    facts: tuple[Fact, ...] = ()
    amounts_unknown: frozenset[str] = frozenset()
    lacks: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        metadata = self.node.metadata
        labels, unpredictable = with_older(metadata.labels, self.unpredictable, self.lacks)
        if labels != metadata.labels:
            object.__setattr__(self, "node", replace(self.node, metadata=replace(metadata, labels=labels)))
        object.__setattr__(self, "unpredictable", unpredictable)


def added(template: NodeTemplate, names: Iterable[str]) -> tuple[Add, ...]:
    """One node of the template under each name, with slices and daemons of its own. A pool is named after its node, as drivers do; where a
    node has several pools of one driver, the part of their names that isn't the node's stays."""
    found: list[Add] = []
    for name in names:
        node = template.node
        labels = {**node.metadata.labels, HOSTNAME: name}
        found.append(Add(replace(node, metadata=replace(node.metadata, name=name, uid="", labels=labels))))
        found += [Add(entry) for entry in moved(template.slices, name)]
        found += [Add(_daemon(pod, node.name, name)) for pod in template.daemons]
    return tuple(found)


def moved(slices: Sequence[ResourceSlice], name: str) -> tuple[ResourceSlice, ...]:
    """The node-local slices of one node as those of node `name`, with what is known of their devices."""
    if not slices:
        return ()
    before = slices[0].node_selection.node_name or ""
    names, pools = (new_names(texts, before, name) for texts in ({entry.name for entry in slices}, {entry.pool for entry in slices}))
    found: list[ResourceSlice] = []
    for entry in slices:
        selection = replace(entry.node_selection, node_name=name)
        metadata = replace(entry.metadata, name=names[entry.name], uid="")
        made = replace(entry, metadata=metadata, pool=pools[entry.pool], node_selection=selection)
        share_judgements(entry, made)
        share_facts(entry, made)
        found.append(made)
    return tuple(found)


def new_names(texts: Set[str], before: str, name: str) -> Mapping[str, str]:
    """What slices of node `before`, or their pools, are called on node `name`: `renamed`, or with the node's name before theirs where two
    would be called the same."""
    found = {text: renamed(text, before, name) for text in texts}
    return found if len(set(found.values())) == len(found) else {text: f"{name}-{text}" for text in texts}


def _daemon(pod: Pod, before: str, name: str) -> Pod:
    return replace(pod, metadata=replace(pod.metadata, name=renamed(pod.name, before, name), uid=""), node_name=name)


def renamed(text: str, before: str, name: str) -> str:
    """A name that has the node's in it, under the node's new name; one that hasn't gets it appended."""
    found, count = re.subn(rf"(?<![A-Za-z0-9]){re.escape(before)}(?![A-Za-z0-9])", lambda _: name, text, count=1)
    return found if count else f"{text}-{name}"
