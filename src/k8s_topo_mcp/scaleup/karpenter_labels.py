"""Labels that Karpenter takes a new node to be able to have, though neither the NodePool nor the instance type says so.

pkg/scheduling/requirements.go of sigs.k8s.io/karpenter, Compatible with AllowUndefinedWellKnownLabels: a label that a NodePool doesn't
define is refused, unless it is well known (pkg/apis/v1/labels.go WellKnownLabels, to which each provider adds its own). What value such a
node then has, if any, nobody can tell before it is there.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..objects import PersistentVolume, Pod
from ..objects.karpenter import CAPACITY_TYPE_LABEL, NODE_POOL_LABEL
from ..objects.node import INSTANCE_TYPE
from ..view import ClusterView
from .template import newer

WELL_KNOWN = frozenset(
    {
        NODE_POOL_LABEL, CAPACITY_TYPE_LABEL, "topology.kubernetes.io/zone", "topology.kubernetes.io/region", "kubernetes.io/arch",
        "kubernetes.io/os", INSTANCE_TYPE, "node.kubernetes.io/windows-build",
    }
)  # fmt: skip
OWN_DOMAIN = NODE_POOL_LABEL.partition("/")[0]
PROVIDERS = ("eks.amazonaws.com", "kubernetes.azure.com", "topology.k8s.aws")
"""Domains of providers' well-known labels that don't have "karpenter" in them."""


def well_known(key: str) -> bool:
    """Whether Karpenter, or a provider of it, may know the label: of providers' domains every label is taken to be one."""
    key = newer(key)
    domain = key.partition("/")[0] if "/" in key else ""
    return key in WELL_KNOWN or (domain != OWN_DOMAIN and (domain in PROVIDERS or "karpenter" in domain))


def well_known_asked(view: ClusterView) -> frozenset[str]:
    """The well-known labels that some pod or volume of the cluster asks about."""
    return view.shared(Pod, _by_pods) | view.shared(PersistentVolume, _by_volumes)


def _by_pods(pods: tuple[Pod, ...]) -> frozenset[str]:
    return frozenset(key for pod in pods if not pod.node_name for key in _keys(pod) if well_known(key))


def _keys(pod: Pod) -> Iterable[str]:
    yield from pod.node_selector
    required = pod.affinity.node.required
    yield from (entry.key for term in (required.terms if required is not None else ()) for entry in term.expressions)
    yield from (entry.topology_key for entry in pod.topology_spread)
    yield from (term.topology_key for side in (pod.affinity.pod, pod.affinity.anti) for term in side.required)


def _by_volumes(volumes: tuple[PersistentVolume, ...]) -> frozenset[str]:
    required = (volume.node_affinity for volume in volumes)
    terms = (term for entry in required if entry is not None for term in entry.terms)
    return frozenset(entry.key for term in terms for entry in term.expressions if well_known(entry.key))
