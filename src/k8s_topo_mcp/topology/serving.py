"""Which pods an InferencePool serves from, and in which role (llm-d: prefill, decode)."""

from __future__ import annotations

from collections.abc import Iterable

from k8s_topo_mcp.objects import InferencePool, Pod
from k8s_topo_mcp.view import ClusterView

ROLE_LABELS = ("llm-d.ai/role", "disaggregatedset.x-k8s.io/role")
"""llm-d.ai docs v1.0; kubernetes-sigs/lws disaggregatedset (scheduling-facts.md §11). The first that is set counts."""
_FIRST, _SECOND = ROLE_LABELS


def role_of(pod: Pod) -> str:
    """The pod's role in serving a model, "" where no label says one."""
    labels = pod.metadata.labels
    return labels.get(_FIRST) or labels.get(_SECOND) or ""


def pools_of(view: ClusterView, pod: Pod) -> tuple[InferencePool, ...]:
    """The InferencePools whose selector the pod meets."""
    if not view.count(InferencePool):
        return ()
    return tuple(pool for pool in view.index(InferencePool, _namespace).get(pod.namespace, ()) if _selects(pool, pod))


def pods_of(view: ClusterView, pool: InferencePool) -> tuple[Pod, ...]:
    """The pods that a pool selects, ended ones left out."""
    return tuple(pod for pod in view.index(Pod, _namespace).get(pool.namespace, ()) if not pod.is_terminal and _selects(pool, pod))


def _namespace(item: InferencePool | Pod) -> Iterable[str]:
    return (item.namespace,)


def _selects(pool: InferencePool, pod: Pod) -> bool:
    return pool.selector is not None and pool.selector.matches(pod.metadata.labels)
