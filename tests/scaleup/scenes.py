"""Clusters with an autoscaler, its node groups and pods that wait, as API objects; and the groups and simulations that go with them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import yaml

from k8s_topo_mcp.objects import Node, Pod
from k8s_topo_mcp.scaleup.audit import Readiness, Simulate, in_groups, wishes
from k8s_topo_mcp.scaleup.autoscaler import Autoscaler
from k8s_topo_mcp.scaleup.autoscalers import autoscalers
from k8s_topo_mcp.scaleup.fit import Fit
from k8s_topo_mcp.scaleup.node_group import NodeGroup
from k8s_topo_mcp.scaleup.obstacle import Obstacle
from k8s_topo_mcp.scaleup.obstacles import obstacles
from k8s_topo_mcp.scaleup.template import Confidence, Fact, NodeTemplate
from k8s_topo_mcp.view import ClusterView
from k8s_topo_mcp.view.indices import slices_of_node
from tests.diagnosis.clusters import DRIVER, Item, claim, cluster, device_class, gpus, node, pod, pool, request

GROUP = "gpu-group"
JUST_NOW = "2026-11-29T11:59:50Z"
MINUTES_AGO = "2026-11-29T11:57:00Z"
HOURS_AGO = "2026-11-29T08:00:00Z"
CA_IMAGE = "registry.k8s.io/autoscaling/cluster-autoscaler:v1.36.1"
KARPENTER_IMAGE = "public.ecr.aws/karpenter/controller:1.14.1@sha256:0123"


def condition(kind: str, status: str = "True", reason: str = "", message: str = "", at: str = HOURS_AGO) -> Item:
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": at}


def unschedulable(name: str = "p", claims: tuple[str, ...] = ("c",), *, reason: str = "Unschedulable", **more: Any) -> Item:
    """A pod that kube-scheduler has refused."""
    head = {"creationTimestamp": HOURS_AGO, **more.pop("metadata", {})}
    status = {"phase": "Pending", "conditions": [condition("PodScheduled", "False", reason)], **more.pop("status", {})}
    return pod(name, claims, status=status, metadata=head, **more)


def asking(count: int = 1, name: str = "p", **more: Any) -> tuple[Item, Item]:
    """A refused pod and its claim for devices."""
    return claim(f"{name}-c", request("r", count)), unschedulable(name, (f"{name}-c",), **more)


def ready(name: str, *, created: str = HOURS_AGO, of: str = GROUP, **more: Any) -> Item:
    """A node that is ready."""
    labels = {"group": of, **more.pop("labels", {})}
    made = node(name, labels=labels, **more)
    made["metadata"]["creationTimestamp"] = created
    made["status"]["conditions"] = [condition("Ready")]
    return made


# --- Cluster Autoscaler -----------------------------------------------------------------------------------------------------------


def deployment(name: str, image: str, *words: str, env: Mapping[str, str] | None = None, replicas: int = 1) -> Item:
    container = {
        "name": name,
        "image": image,
        "command": ["./run", *words],
        "env": [{"name": k, "value": v} for k, v in (env or {}).items()],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "kube-system", "uid": f"uid-{name}"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container]}},
        },
        "status": {"replicas": replicas, "readyReplicas": replicas},
    }


def cluster_autoscaler(*words: str, image: str = CA_IMAGE, **more: Any) -> Item:
    return deployment("cluster-autoscaler", image, "--cloud-provider=aws", *words, **more)


def lease(name: str, renewed: str = JUST_NOW) -> Item:
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": name, "namespace": "kube-system"},
        "spec": {"holderIdentity": "x", "leaseDurationSeconds": 15, "renewTime": renewed.replace("Z", ".000000Z")},
    }


def in_status(
    name: str = GROUP,
    *,
    ready: int = 1,
    target: int = 1,
    least: int = 0,
    most: int = 5,
    health: str = "Healthy",
    scale_up: Item | None = None,
    **counts: int,
) -> Item:
    """One node group of the status."""
    registered = {"total": ready, "ready": ready, **{key: counts.pop(key) for key in ("notStarted", "beingDeleted") if key in counts}}
    return {
        "name": name,
        "health": {
            "status": health,
            "nodeCounts": {"registered": {**registered, "unready": {"total": counts.pop("unready", 0)}}, **counts},
            "cloudProviderTarget": target,
            "minSize": least,
            "maxSize": most,
        },
        "scaleUp": scale_up or {"status": "NoActivity"},
    }


def status(*groups: Item, written: str = JUST_NOW, state: str = "Running", health: str = "Healthy", **more: Any) -> Item:
    """The status ConfigMap."""
    said = {
        "time": written,
        "autoscalerStatus": state,
        "clusterWide": {"health": {"status": health, "nodeCounts": {"registered": {"total": 10, "ready": 4, "unready": {"total": 6}}}}},
        "nodeGroups": list(groups),
        **more,
    }
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "cluster-autoscaler-status", "namespace": "kube-system"},
        "data": {"status": yaml.safe_dump(said)},
    }


# --- Karpenter --------------------------------------------------------------------------------------------------------------------


def karpenter(*words: str, image: str = KARPENTER_IMAGE, **more: Any) -> Item:
    return deployment("karpenter", image, *words, **more)


def node_pool(
    name: str = GROUP, *conditions: Item, limits: Mapping[str, str] | None = None, template: Item | None = None, **spec: Any
) -> Item:
    said = conditions or (condition("ValidationSucceeded"), condition("NodeClassReady"), condition("Ready"))
    own = {"spec": {"nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}, **(template or {})}}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name, "uid": f"uid-{name}"},
        "spec": {"template": own, **({"limits": dict(limits)} if limits else {}), **spec},
        "status": {"conditions": list(said)},
    }


def node_claim(name: str = f"{GROUP}-x7k2p", *conditions: Item, of: str = GROUP, created: str = MINUTES_AGO, **status_: Any) -> Item:
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": {"name": name, "labels": {"karpenter.sh/nodepool": of}, "creationTimestamp": created},
        "spec": {},
        "status": {"conditions": list(conditions), **status_},
    }


# --- groups and questions ---------------------------------------------------------------------------------------------------------


def template(view: ClusterView, of: str, confidence: Confidence = "observed") -> NodeTemplate:
    """A template like a node of the view, with its slices; `confidence` is how these are known."""
    source = view.get(Node, of)
    assert source is not None
    slices = slices_of_node(view, of)
    facts = (Fact(f"devices of {DRIVER}", "its source", confidence),) if slices else ()
    return NodeTemplate(of, replace(source), slices, devices_known=bool(slices), facts=facts)


def group(
    view: ClusterView,
    *,
    of: str | None = "n1",
    kind: Any = "Cluster Autoscaler",
    name: str = GROUP,
    confidence: Confidence | None = None,
    **more: Any,
) -> NodeGroup:
    """The group, with the nodes that carry its label and a template like one node. Devices of Cluster API's and Karpenter's groups are as
    declared (by annotations, by a file of instance types), those of others as seen on the node, unless `confidence` says otherwise."""
    members = tuple(entry for entry in view.all(Node) if entry.metadata.labels.get("group") == name)
    known = confidence or ("observed" if kind == "Cluster Autoscaler" else "declared")
    templates = (template(view, of, known),) if of is not None else ()
    return NodeGroup(name, kind, more.pop("templates", templates), members, **more)


def waiting(view: ClusterView) -> list[Pod]:
    return [entry for entry in view.all(Pod) if entry.is_pending]


def met(
    items: Iterable[Item], *, of: str | None = "n1", kind: Any = "Cluster Autoscaler", room: int | None = 1, fits: Any = None, **more: Any
) -> tuple[Obstacle, ...]:
    """What the one autoscaler of the cluster meets; `room`: pods that one new node takes (None: not simulated)."""
    view = cluster(*items)
    found = autoscalers(view)
    chosen: Autoscaler | None = found[0] if found else None
    pods = waiting(view)
    simulated = fits if fits is not None else () if room is None else (Fit("t", len(pods), each=room),)
    return obstacles(view, chosen, group(view, of=of, kind=kind, **more), pods, simulated)


def codes(found: Iterable[Obstacle]) -> list[str]:
    return [entry.finding.code for entry in found]


BUSY: tuple[Item, ...] = (ready("n1"), device_class(), pool(gpus(1)))
"""A node of the group, with its devices."""


def audit(
    view: ClusterView, groups: Sequence[NodeGroup], found: Sequence[Autoscaler], simulate: Simulate | None = None
) -> tuple[Readiness, ...]:
    """Every wish of the cluster in every group."""
    return tuple(row for wish, pods in wishes(view) for row in in_groups(view, wish, pods, groups, found, simulate))
