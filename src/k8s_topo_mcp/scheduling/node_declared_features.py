"""NodeDeclaredFeatures: the kubelet declares the features that the pod's spec needs.

Source: k8s.io/kubernetes pkg/scheduler/framework/plugins/nodedeclaredfeatures and the InferForScheduling of each feature in
k8s.io/component-helpers nodedeclaredfeatures/features. Which features a scheduler asks for depends on its release.
"""

from __future__ import annotations

from ..findings import Finding, finding
from ..objects import Pod
from ..view import ClusterView
from .node_info import NodeInfo
from .skip import SKIP, Skip

REASON = "node(s) didn't match Pod's required features"

_SINCE = {"RestartAllContainersOnContainerExits": 35, "UserNamespacesHostNetworkSupport": 36, "VolumeBindMountOptions": 37}
"""The first minor whose scheduler asks for a feature."""


def prepare(view: ClusterView, pod: Pod) -> tuple[str, ...] | Skip:
    if not pod.needed_features or not view.release.enabled("NodeDeclaredFeatures"):
        return SKIP
    return tuple(name for name in pod.needed_features if view.release.minor >= _SINCE[name]) or SKIP


def filter(features: tuple[str, ...], info: NodeInfo) -> tuple[Finding, ...]:
    declared = info.node.declared_features or ()
    missing = tuple(name for name in features if name not in declared)
    return (finding("NODE_FEATURE_MISSING", info.node.ref, "status.declaredFeatures", features=missing),) if missing else ()


def reason(found: Finding) -> str:
    return REASON
