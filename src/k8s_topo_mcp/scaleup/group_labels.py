"""Node groups: what a node was made from, by the labels of those who make nodes. A node may be in several (a pool of Karpenter inside a
node pool of the provider).

A label that nobody set is no group; nothing is guessed from names of nodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class GroupLabel:
    """One kind of group. `name` is the word used in scopes ("nodepool/NAME"), `words` the one for readers."""

    name: str
    label: str
    words: str
    source: str


LABELS: tuple[GroupLabel, ...] = (
    GroupLabel("nodegroup", "alpha.eksctl.io/nodegroup-name", "node group", "eksctl-io/eksctl pkg/apis/eksctl.io"),
    GroupLabel("nodegroup", "eks.amazonaws.com/nodegroup", "node group", "AWS EKS managed node groups"),
    GroupLabel("nodepool", "cluster.x-k8s.io/pool-name", "node pool", "kubernetes-sigs/cluster-api"),
    GroupLabel("nodepool", "oke.oraclecloud.com/pool.name", "node pool", "oracle-terraform-modules/terraform-oci-oke"),
    GroupLabel("nodepool", "kubernetes.azure.com/agentpool", "node pool", "Azure/AKS reserved node labels"),
    GroupLabel("nodepool", "cloud.google.com/gke-nodepool", "node pool", "GKE node labels"),
    GroupLabel("karpenter", "karpenter.sh/nodepool", "Karpenter NodePool", "kubernetes-sigs/karpenter pkg/apis/v1/labels.go"),
    GroupLabel("capacityblock", "topology.k8s.aws/capacity-block-id", "capacity block", "AWS EKS node labels"),
    GroupLabel("placementgroup", "cloud.google.com/gke-placement-group", "placement group", "GKE node labels"),
)
"""The older `agentpool` of AKS stands beside `kubernetes.azure.com/agentpool` on the same nodes, so it isn't read."""
GROUP_NAMES: tuple[str, ...] = tuple(dict.fromkeys(entry.name for entry in LABELS))
GROUP_WORDS: Mapping[str, str] = {entry.name: entry.words for entry in LABELS}
_KEYS = frozenset(entry.label for entry in LABELS)


@dataclass(frozen=True, slots=True)
class Group:
    """One group that a node is in, and the label that says so."""

    kind: str
    name: str
    by: str

    @property
    def path(self) -> str:
        """The scope that means it."""
        return f"{self.kind}/{self.name}"


_group = lru_cache(maxsize=4096)(Group)


def groups(labels: Mapping[str, str]) -> tuple[Group, ...]:
    """The groups of a node, one of each kind: of two labels for one kind the later row wins."""
    if _KEYS.isdisjoint(labels):
        return ()
    found = {entry.name: _group(entry.name, labels[entry.label], entry.label) for entry in LABELS if labels.get(entry.label)}
    return tuple(found.values())
