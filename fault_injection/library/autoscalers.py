"""Autoscalers as they show in a cluster: their Deployment, and what they would write. What they do, a scene says in their stead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from fault_injection.scenes import SHAPES

from .signs import Sign, refused
from .world import World

Object = dict[str, Any]

CLUSTER_AUTOSCALER = "registry.k8s.io/autoscaling/cluster-autoscaler:v1.36.1"
KARPENTER = "public.ecr.aws/karpenter/controller:1.14.1"
NODE_GROUP = "eks.amazonaws.com/nodegroup"
NODE_POOL = "karpenter.sh/nodepool"
KWOK = {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"}
"""The class of machines where Karpenter runs itself."""


@dataclass(frozen=True, slots=True)
class Group:
    """A node group of Cluster Autoscaler, as its status tells of it. `starting`: nodes of it that aren't ready yet. `backoff`: (code,
    message) of the growth that failed."""

    name: str
    size: int
    least: int = 0
    most: int = 10
    starting: int = 0
    backoff: tuple[str, str] | None = None


def cluster_autoscaler(world: World, groups: Sequence[Group], *flags: str, provider: str = "aws") -> Object:
    """Cluster Autoscaler with its status, written a moment ago (kubernetes/autoscaler cluster-autoscaler/clusterstate/api/types.go)."""
    installed = _deployment(world, "cluster-autoscaler", CLUSTER_AUTOSCALER, f"--cloud-provider={provider}", *flags)
    said = {
        "time": world.moment(5),
        "autoscalerStatus": "Running",
        "clusterWide": {
            "health": {"status": "Healthy", "nodeCounts": {"registered": {"total": sum(group.size for group in groups)}}},
            "scaleUp": {"status": "NoActivity"},
        },
        "nodeGroups": [_in_status(world, group) for group in groups],
    }
    data = {"status": yaml.safe_dump(said, sort_keys=False)}
    made = world.scene.add("v1", "ConfigMap", "cluster-autoscaler-status", data=data)
    made["metadata"]["namespace"] = "kube-system"
    return installed


def two_groups(world: World) -> tuple[str, str]:
    """The names of two node groups: one of two nodes, whose accelerators a pod each has taken, and one of a plain node."""
    group, plain = world.scene.names.word(), world.scene.names.word()
    world.role(holder=_taken(world, 2, {NODE_GROUP: group}, {NODE_GROUP: plain}))
    return group, plain


def _taken(world: World, number: int, labels: Mapping[str, str], plain: Mapping[str, str] | None = None) -> Object:
    """Nodes whose accelerators a pod each has taken, and a plain one. Gives the last of the pods."""
    nodes = world.nodes(number, labels=labels)
    world.scene.plain_nodes(1, labels=plain)
    if NODE_POOL in labels and world.left_to("karpenter"):
        for node in nodes:  # without one it waits for the machine to be told
            node["spec"]["providerID"] = f"kwok://{node['metadata']['name']}"
    return [world.scene.running(node, world.devices(node), world.gpu.driver) for node in nodes][-1]


def karpenter(world: World, *flags: str) -> Object:
    """Karpenter with its Lease. Where it runs itself, its provider has machines of this seed's shape."""
    shape = SHAPES[world.gpu.shape]
    machine = {"cpu": str(shape["vcpu"] or 128), "memory": f"{shape['memoryMi'] or 1048576}Mi", "pods": "110"}
    world.left_to("karpenter", flags=flags, types={world.gpu.shape: machine})
    installed = _deployment(world, "karpenter", KARPENTER, *flags)
    spec = {
        "holderIdentity": f"karpenter-{world.scene.names.suffix()}",
        "leaseDurationSeconds": 15,
        "renewTime": world.moment(3, micro=True),
    }
    lease = world.scene.add("coordination.k8s.io/v1", "Lease", "karpenter-leader-election", spec=spec)
    lease["metadata"]["namespace"] = "kube-system"
    return installed


def full_node_pool(world: World, number: int = 1) -> tuple[str, list[Object], Object]:
    """Nodes of a NodePool, whose accelerators a pod each has taken, and a plain one. Gives the pool's name, its requirements, and a pod."""
    name = world.scene.names.word()
    holder = _taken(world, number, {NODE_POOL: name})
    return name, [{"key": "node.kubernetes.io/instance-type", "operator": "In", "values": [world.gpu.shape]}], holder


def left_behind(world: World, pod: Object, why: str) -> None:
    """Karpenter's word on a pod for which it makes no node, once the scheduler has refused it (provisioning/scheduling/events.go)."""
    world.until(refused())
    said = f"Failed to schedule pod, {why}"
    if world.left_to("karpenter"):
        world.until(Sign(event="FailedScheduling", message="^Failed to schedule pod, ", seconds=90))
    else:
        world.said(pod, "FailedScheduling", said, "karpenter", count=4, age=9)


def node_pool(world: World, name: str, requirements: Sequence[Object] = (), **spec: Any) -> Object:
    """A NodePool that is ready."""
    real = world.left_to("karpenter")
    class_ref = KWOK if real else {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}
    conditions = [
        {"type": kind, "status": "True", "reason": kind, "message": "", "lastTransitionTime": world.moment(7200)}
        for kind in ("ValidationSucceeded", "NodeClassReady", "Ready")
    ]
    awaiting = {"type": "NodeRegistrationHealthy", "status": "Unknown", "reason": "AwaitingReconciliation"}
    conditions.append({**awaiting, "message": "object is awaiting reconciliation", "lastTransitionTime": world.moment(7200)})
    template = {"spec": {"nodeClassRef": class_ref, "requirements": list(requirements)}}
    pool = world.scene.add("karpenter.sh/v1", "NodePool", name, namespaced=False, spec={"template": template, **spec})
    if not real:
        pool["status"] = {"conditions": conditions}
    return pool


def _in_status(world: World, group: Group) -> Object:
    activity: Object = {"status": "NoActivity", "lastProbeTime": world.moment(5)}
    if group.backoff is not None:
        code, message = group.backoff
        activity |= {
            "status": "Backoff",
            "backoffInfo": {"errorCode": code, "errorMessage": message},
            "lastTransitionTime": world.moment(180),
        }
    return {
        "name": group.name,
        "health": {
            "status": "Healthy",
            "nodeCounts": {"registered": _counts(group)},
            "cloudProviderTarget": group.size,
            "minSize": group.least,
            "maxSize": group.most,
        },
        "scaleUp": activity,
    }


def _counts(group: Group) -> Object:
    found: Object = {"total": group.size, "ready": group.size - group.starting}
    return {**found, **({"notStarted": group.starting} if group.starting else {}), "unready": {"total": 0}}


def _deployment(world: World, name: str, image: str, *command: str) -> Object:
    label = {"app.kubernetes.io/name": name}
    container = {"name": name, "image": image, "command": [f"./{name}", *command]}
    spec = {"containers": [container], "tolerations": [{"operator": "Exists"}]}
    made = world.scene.add(
        "apps/v1",
        "Deployment",
        name,
        labels=label,
        spec={"replicas": 1, "selector": {"matchLabels": label}, "template": {"metadata": {"labels": label}, "spec": spec}},
    )
    made["metadata"]["namespace"] = "kube-system"
    return made
