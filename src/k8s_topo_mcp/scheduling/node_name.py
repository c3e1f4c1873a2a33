"""NodeName: a pod that names a node fits that node only.

Source: k8s.io/kubernetes pkg/scheduler/framework/plugins/nodename.
"""

from __future__ import annotations

from ..findings import Finding, finding
from ..objects import Pod
from .node_info import NodeInfo

REASON = "node(s) didn't match the requested node name"


def filter(pod: Pod, info: NodeInfo) -> tuple[Finding, ...]:
    if pod.node_name and pod.node_name != info.node.name:
        return (finding("NODE_NAME_MISMATCH", info.node.ref, wanted=pod.node_name),)
    return ()


def reason(found: Finding) -> str:
    return REASON
