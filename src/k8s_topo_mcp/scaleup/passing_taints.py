"""Taints of a node that go by themselves: those of a condition, of a start, of a deletion.

Source: cluster-autoscaler utils/taints/taints.go, with what its flags declare; karpenter pkg/apis/v1/taints.go, with the startupTaints of
NodePools; node-readiness-controller.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..objects import Deployment, Node, NodePool, Taint
from ..objects.karpenter import NODE_POOL_LABEL
from ..view import ClusterView
from .likeness import CONDITION_TAINTS
from .settings import Settings, parse

STARTUP_TAINTS = ("ignore-taint.cluster-autoscaler.kubernetes.io/", "startup-taint.cluster-autoscaler.kubernetes.io/")
"""Beginnings of taints that are of start-up to Cluster Autoscaler without being declared."""
_OTHERS = (
    CONDITION_TAINTS,
    "node.cloudprovider.kubernetes.io/",
    "ToBeDeletedByClusterAutoscaler",
    "DeletionCandidateOfClusterAutoscaler",
    "status-taint.cluster-autoscaler.kubernetes.io/",
    "karpenter.sh/",
    "readiness.k8s.io/",
)
_STARTUP, _STATUS = ("startup-taint", "ignore-taint"), ("status-taint",)
"""Flags of Cluster Autoscaler that name such a taint; with -prefix, how some begin."""


@dataclass(frozen=True, slots=True)
class Passing:
    """Taints that go by themselves: those of the table, and what this cluster's autoscalers are told of. `by_pool`: by NodePool."""

    keys: frozenset[str]
    prefixes: tuple[str, ...]
    by_pool: Mapping[str, frozenset[str]]

    def holds(self, node: Node, taint: Taint) -> bool:
        """Whether this taint of this node is one."""
        own = self.by_pool.get(node.metadata.labels.get(NODE_POOL_LABEL, ""), frozenset[str]())
        return taint.key.startswith(self.prefixes) or taint.key in self.keys or taint.key in own


def passing_taints(view: ClusterView) -> Passing:
    """Which taints go by themselves here."""
    return view.memo("passing taints", lambda: _passing_taints(view))


def _passing_taints(view: ClusterView) -> Passing:
    programs = [entry.autoscaler for entry in view.all(Deployment) if entry.autoscaler is not None]
    told = [_declared(parse(program.words), *_STARTUP, *_STATUS) for program in programs]
    pools = {pool.name: frozenset(taint.key for taint in pool.spec.startup_taints) for pool in view.all(NodePool)}
    keys = frozenset[str]().union(*(keys for keys, _ in told))
    return Passing(keys, (*STARTUP_TAINTS, *_OTHERS, *(prefix for _, prefixes in told for prefix in prefixes)), pools)


def is_startup_taint(taint: Taint, settings: Settings) -> bool:
    """Whether Cluster Autoscaler takes a taint as one of start-up: by its key, or its prefix (taints.go IsStartupTaint)."""
    keys, prefixes = _declared(settings, *_STARTUP)
    return taint.key in keys or taint.key.startswith((*STARTUP_TAINTS, *prefixes))


def _declared(settings: Settings, *flags: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """Keys, and beginnings of keys, that the flags name: a value is "key", "key=value" or "key=value:effect"."""
    keys = [_key(value) for flag in flags for value in settings.all(flag)]
    prefixes = [_key(value) for flag in flags for value in settings.all(f"{flag}-prefix")]
    return frozenset(filter(None, keys)), tuple(filter(None, prefixes))


def _key(value: str) -> str:
    return value.partition("=")[0].partition(":")[0]
