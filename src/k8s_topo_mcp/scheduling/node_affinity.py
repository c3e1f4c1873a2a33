"""NodeAffinity: the pod's nodeSelector and its required node affinity.

Source: k8s.io/kubernetes pkg/scheduler/framework/plugins/nodeaffinity and component-helpers nodeaffinity.GetRequiredNodeAffinity. Affinity
that a scheduler profile adds can't be read from the API. Where every term names nodes (metadata.name In …, as DaemonSets do), `prepare`
gives these, and the scheduler looks at no other node at all.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..findings import Finding, finding
from ..objects import Node, Pod
from ..objects.node_selector import NodeSelector
from ..view import ClusterView
from .node_info import NodeInfo

REASON = "node(s) didn't match Pod's node affinity/selector"
REASON_LEFT_OUT = "node(s) didn't satisfy plugin(s) [NodeAffinity]"
REASON_CONFLICT = "pod affinity terms conflict"


@dataclass(frozen=True, slots=True, eq=False)
class Named:
    """The only nodes that the pod's required affinity names."""

    pod: Pod
    nodes: frozenset[str]


def prepare(view: ClusterView, pod: Pod) -> Named | Finding | None:
    """None: any node may match. A Finding: no node can have all names that a term asks for at once."""
    required = pod.affinity.node.required
    if required is None or not required.terms:
        return None
    names: set[str] = set()
    for term in required.terms:
        wanted = [frozenset(entry.values) for entry in term.fields if entry.key == "metadata.name" and entry.operator == "In"]
        if not wanted:
            return None
        names |= wanted[0].intersection(*wanted[1:])
    if not names:
        return finding("NODE_AFFINITY_CONFLICT", pod.ref, "spec.affinity.nodeAffinity", requirement=_described(required))
    return Named(pod, frozenset(names))


def left_out(named: Named, info: NodeInfo) -> tuple[Finding, ...]:
    """Nodes that the affinity doesn't name."""
    return () if info.node.name in named.nodes else (_mismatch(info, _described(named.pod.affinity.node.required)),)


def filter_named(named: Named, info: NodeInfo) -> tuple[Finding, ...]:
    """The other nodes; what was left out has been told."""
    return filter(named.pod, info) if info.node.name in named.nodes else ()


def filter(pod: Pod, info: NodeInfo) -> tuple[Finding, ...]:
    labels = info.node.metadata.labels
    for key, value in pod.node_selector.items():
        if labels.get(key) != value:
            return (_mismatch(info, f"nodeSelector {key}={value}"),)
    required = pod.affinity.node.required
    if required is not None and not required.matches(info.node.name, labels):
        return (_mismatch(info, _described(required)),)
    return ()


def _mismatch(info: NodeInfo, requirement: str) -> Finding:
    return finding("NODE_AFFINITY_MISMATCH", info.node.ref, "metadata.labels", requirement=requirement)


def _described(required: NodeSelector | None) -> str:
    terms = required.terms if required is not None else ()
    return " or ".join(", ".join(str(entry) for entry in (*term.expressions, *term.fields)) for term in terms) or "an empty term"


def matches(pod: Pod, node: Node) -> bool:
    """Whether the node is one that the pod selects."""
    labels = node.metadata.labels
    required = pod.affinity.node.required
    return all(labels.get(key) == value for key, value in pod.node_selector.items()) and (
        required is None or required.matches(node.name, labels)
    )


def reason(found: Finding) -> str:
    return REASON_CONFLICT if found.code == "NODE_AFFINITY_CONFLICT" else REASON


def reason_left_out(found: Finding) -> str:
    return REASON_LEFT_OUT
