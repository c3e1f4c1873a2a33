"""What DaemonSets would run on a node that isn't there yet: it takes room from the node's other pods.

From the DaemonSets' own templates, by node selector, required affinity and taints, as the DaemonSet controller places them
(k8s.io/kubernetes pkg/controller/daemon NodeShouldRunDaemonPod). Claims that such a pod has aren't followed: those of drivers are for
administrators' access, and take nothing.
"""

from __future__ import annotations

from dataclasses import replace

from ..objects import DaemonSet, Metadata, Node, Pod
from ..scheduling.node_affinity import matches
from ..scheduling.taint_toleration import untolerated
from ..view import ClusterView
from ..view.indices import pods_on
from .template import Fact, NodeTemplate


def daemons_on(view: ClusterView, node: Node, like: Node | None = None) -> tuple[Pod, ...]:
    """
    The pods that DaemonSets would run on `node`, named after it.

    Parameters
    ----------
    like
        A live node of the same kind, whose daemons count where no DaemonSet can be seen.
    """
    sets = view.all(DaemonSet)
    if not sets and like is not None:
        found = [pod for pod in pods_on(view, like.name) if pod.metadata.controller and pod.metadata.controller.kind == "DaemonSet"]
        return tuple(_placed(pod, pod.metadata.controller.name if pod.metadata.controller else pod.name, node) for pod in found)
    comparison = view.release.enabled("TaintTolerationComparisonOperators")
    return tuple(
        _placed(pod, entry.name, node)
        for entry in sets
        if (pod := entry.template) is not None and matches(pod, node) and untolerated(pod, node, comparison) is None
    )


def with_daemons(view: ClusterView, template: NodeTemplate) -> NodeTemplate:
    """The template with what the cluster's DaemonSets would run on it."""
    daemons = daemons_on(view, template.node)
    if not daemons:
        return template
    return replace(template, daemons=daemons, facts=(*template.facts, Fact("daemons", "the cluster's DaemonSets", "declared")))


def _placed(pod: Pod, name: str, node: Node) -> Pod:
    metadata = Metadata(f"{name}-{node.name}", pod.namespace, labels=pod.metadata.labels, owners=pod.metadata.owners)
    return replace(
        pod, metadata=metadata, node_name=node.name, phase="Running", resource_claims=(), resource_claim_statuses={}, nominated_node_name=""
    )
