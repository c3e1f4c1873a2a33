"""Pods that the scheduler has given a node to but not bound yet: there they count as placed for pods of no higher priority.

Source: addGENominatedPods in pkg/scheduler/framework/runtime/framework.go.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..objects import Node, Pod
from ..view import ClusterView


def _by_node(pod: Pod) -> Iterable[str]:
    return (pod.nominated_node_name,) if pod.nominated_node_name and pod.is_pending else ()


def nominated_to(view: ClusterView, node: Node, pod: Pod) -> tuple[Pod, ...]:
    """The pods nominated to the node that `pod` has to yield to."""
    found = view.index(Pod, _by_node).get(node.name, ())
    return tuple(other for other in found if other.priority >= pod.priority and other.key != pod.key) if found else ()
