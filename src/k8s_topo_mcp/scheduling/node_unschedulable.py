"""NodeUnschedulable: a cordoned node takes no pods but those that tolerate node.kubernetes.io/unschedulable.

Source: k8s.io/kubernetes pkg/scheduler/framework/plugins/nodeunschedulable.
"""

from __future__ import annotations

from ..findings import Finding, finding
from ..objects import Pod
from ..objects.node import Taint
from .node_info import NodeInfo
from .taint_toleration import tolerated

REASON = "node(s) were unschedulable"
_TAINT = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")


def filter(pod: Pod, info: NodeInfo) -> tuple[Finding, ...]:
    if info.node.unschedulable and not tolerated(pod.tolerations, _TAINT, comparison=False):
        return (finding("NODE_UNSCHEDULABLE", info.node.ref, "spec.unschedulable"),)
    return ()


def reason(found: Finding) -> str:
    return REASON
