"""A pod that its node refused: it was bound, and the kubelet's admission ended it before any container ran. That is final.

The kubelet sets phase Failed, its reason, and "Pod was rejected: " with the message (k8s.io/kubernetes pkg/kubelet/kubelet.go rejectPod).
Reasons: pkg/kubelet/lifecycle (predicate.go, handlers.go), cm/topologymanager, cm/admission, nodeshutdown, eviction. The scheduler sees
neither NUMA alignment nor single devices of a device plugin, so it may choose the same node again.
"""

from __future__ import annotations

import re

from ...findings import finding
from ...objects import Node, ObjectRef, Pod
from ...view import ClusterView
from ...view.indices import pods_of_owner
from ..evidence import Absent, Advice, Alike, Evidence, Held, PluginSet, stated
from ..plugins import device_plugin_of, pod_on
from .new_pod import new_pod_fits

REJECTED = "Pod was rejected: "
REASONS = frozenset(
    """
    AppArmor EmptyPodSharedPoolError InitContainerRestartPolicyForbidden InvalidNodeInfo NodeAffinity NodeName NodePorts NodeShutdown
    PodFeatureUnsupported PodLevelResourcesNotSupported PodOSNotSupported PodOSSelectorNodeLabelDoesNotMatch
    SupplementalGroupsPolicyNotSupported SysctlForbidden TaintToleration TopologyAffinityError UnexpectedAdmissionError
    UnexpectedPredicateFailureType UnknownReason VolumeAttachmentLimitExceeded
    """.split()
)
OUT_OF = "OutOf"
MAKE_ANOTHER = frozenset({"DaemonSet", "Job", "ReplicaSet", "ReplicationController", "StatefulSet"})

_DEVICES = re.compile(r"requested number of devices unavailable for (\S+?)\.? ")


def look(view: ClusterView, pod: Pod) -> Held | None:
    """What the kubelet said when it refused the pod; None for a pod that ended otherwise."""
    if pod.phase != "Failed" or not pod.node_name:
        return None
    if not (pod.message.startswith(REJECTED) or pod.reason in REASONS or pod.reason.startswith(OUT_OF)):
        return None
    message = pod.message.removeprefix(REJECTED)
    node = view.get(Node, pod.node_name)
    about = node.ref if node is not None else ObjectRef("Node", "", pod.node_name)
    found = finding("NODE_REFUSED_POD", about, node=pod.node_name, reason=pod.reason, message=message)
    seen = (*_of_the_reason(view, pod, message), *_alike(view, pod))
    return Held(found, seen, _helps(view, pod), _vain(pod), _look_at(pod))


def _of_the_reason(view: ClusterView, pod: Pod, message: str) -> tuple[Evidence, ...]:
    """What stands behind some reasons as far as it can be seen."""
    if pod.reason == "TopologyAffinityError":
        return (Absent("NUMA alignment of the kubelet's Topology Manager is not in the API: the scheduler can't take it into account"),)
    devices = _DEVICES.search(f"{message} ")
    if devices is not None:
        plugin = device_plugin_of(view, devices.group(1))
        return plugin, *((pod_on(view, plugin, pod.node_name),) if isinstance(plugin, PluginSet) else ())
    node = view.get(Node, pod.node_name)
    if pod.reason == "NodeShutdown" and node is not None:
        return tuple(stated(view, node.ref, entry) for entry in node.conditions if entry.type == "Ready" and not entry.holds)
    return ()


def _alike(view: ClusterView, pod: Pod) -> tuple[Evidence, ...]:
    """How many pods of the same owner ended in this way: it goes on and on."""
    owner = _owner(pod)
    if owner is None:
        return ()
    same = [other for other in pods_of_owner(view, owner) if other.phase == "Failed" and other.reason == pod.reason]
    return (Alike(owner, pod.reason, len(same), tuple({other.node_name: None for other in same})),) if len(same) > 1 else ()


def _owner(pod: Pod) -> ObjectRef | None:
    above = pod.metadata.controller
    return None if above is None else ObjectRef(above.kind, pod.namespace, above.name, above.uid)


def _helps(view: ClusterView, pod: Pod) -> tuple[Advice, ...]:
    fits = new_pod_fits(view, pod)
    found = [Advice(f"{_again(pod)}; it may then be scheduled to", fits)] if fits else []
    if pod.reason == "TopologyAffinityError":
        found.append(Advice("ask for no more CPUs, memory and devices than one NUMA node has, or relax topologyManagerPolicy on the node"))
        if pod.resource_claims:
            found.append(Advice("matchAttribute on a NUMA attribute in the claim: the scheduler then looks at alignment"))
    return tuple(found)


def _again(pod: Pod) -> str:
    """Who makes another pod: these controllers do by themselves when one has failed."""
    owner = _owner(pod)
    if owner is None:
        return "create the pod again, nobody else does"
    if owner.kind not in MAKE_ANOTHER:
        return f"{owner.kind} {owner.name} has to make a new pod"
    limit = " unless its backoffLimit or pod failure policy forbids it" if owner.kind == "Job" else ""
    return f"{owner.kind} {owner.name} makes a new pod by itself{limit}"


def _vain(pod: Pod) -> tuple[Advice, ...]:
    waiting = Advice("waiting for this pod: it has ended and is never started again")
    return (waiting, Advice("more nodes of the same configuration")) if pod.reason == "TopologyAffinityError" else (waiting,)


def _look_at(pod: Pod) -> tuple[str, ...]:
    if pod.reason in ("TopologyAffinityError", "EmptyPodSharedPoolError"):
        configuration = f"kubectl get --raw /api/v1/nodes/{pod.node_name}/proxy/configz"
        return (f"{configuration} (topologyManagerPolicy, topologyManagerScope, cpuManagerPolicy)",)
    return (f"kubelet's log on {pod.node_name}",)
