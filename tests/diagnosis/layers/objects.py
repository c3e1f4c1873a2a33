"""Objects that these tests put beside the small clusters: events, DaemonSets with their pods, workloads, leases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.diagnosis.clusters import Item

_numbers = iter(range(10**6))


def event(
    about: Item,
    reason: str,
    message: str,
    *,
    component: str = "kubelet",
    count: int = 1,
    at: str = "2026-11-29T11:59:48Z",
    kind: str = "Warning",
) -> Item:
    """An event about an object, as its recorder writes it."""
    head = about["metadata"]
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"e{next(_numbers)}", "namespace": head.get("namespace", "default")},
        "involvedObject": {
            "kind": about["kind"],
            "name": head["name"],
            **{key: head[key] for key in ("namespace", "uid") if key in head},
        },
        "type": kind,
        "reason": reason,
        "message": message,
        "source": {"component": component},
        "count": count,
        "firstTimestamp": "2026-11-29T11:46:00Z",
        "lastTimestamp": at,
    }


def daemon_set(
    name: str = "kubelet-plugin",
    namespace: str = "gpu-dra",
    *,
    desired: int | None = 1,
    ready: int = 0,
    image: str = "registry.example.com/plugin:v1",
    path: str = "",
    labels: Mapping[str, str] | None = None,
    **spec: Any,
) -> Item:
    """A DaemonSet; `path` is one that it mounts from its node."""
    volumes = [{"name": "plugin", "hostPath": {"path": path}}] if path else []
    counts = {} if desired is None else {"desiredNumberScheduled": desired, "currentNumberScheduled": desired, "numberReady": ready}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": namespace, "uid": f"uid-{name}", "labels": dict(labels or {})},
        "spec": {
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "plugin", "image": image}], "volumes": volumes, **spec},
            },
        },
        "status": counts,
    }


def of(owner: Item, name: str, on: str, *, ready: bool = True, **container: Any) -> Item:
    """A pod of an owner on a node, with the status of its one container."""
    head = owner["metadata"]
    reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": head["name"], "uid": head["uid"], "controller": True}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": head["namespace"], "uid": f"uid-{name}", "ownerReferences": [reference]},
        "spec": {"nodeName": on, "containers": [{"name": "plugin"}]},
        "status": {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": "True" if ready else "False"}],
            "containerStatuses": [{"name": "plugin", "ready": ready, "state": {"running": {}}, **container}],
        },
    }


CRASHING: Item = {
    "restartCount": 31,
    "state": {"waiting": {"reason": "CrashLoopBackOff"}},
    "lastState": {"terminated": {"exitCode": 1, "reason": "Error", "finishedAt": "2026-11-29T11:59:20Z"}},
}


def workload(
    kind: str, name: str = "w", *, api: str = "apps/v1", owner: Item | None = None, status: Item | None = None, **spec: Any
) -> Item:
    """A workload; `owner` controls it."""
    above = (
        {}
        if owner is None
        else {
            "ownerReferences": [
                {
                    "apiVersion": owner["apiVersion"],
                    "kind": owner["kind"],
                    "name": owner["metadata"]["name"],
                    "uid": owner["metadata"]["uid"],
                    "controller": True,
                }
            ]
        }
    )
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": "main"}]}}
    return {
        "apiVersion": api,
        "kind": kind,
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}", **above},
        "spec": {"template": template, **spec},
        "status": status or {},
    }


def job(name: str = "w", **more: Any) -> Item:
    return workload("Job", name, api="batch/v1", **more)


def quota(name: str, hard: Mapping[str, str], used: Mapping[str, str]) -> Item:
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"hard": dict(hard)},
        "status": {"hard": dict(hard), "used": dict(used)},
    }


def condition(kind: str, status: str = "True", reason: str = "", message: str = "", at: str = "2026-11-29T11:00:00Z") -> Item:
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": at}


def lease(name: str, renewed: str, holder: str = "cp-1_x", namespace: str = "kube-system") -> Item:
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"holderIdentity": holder, "leaseDurationSeconds": 15, "renewTime": renewed},
    }


def queued(name: str, *conditions: Item, owner: Item | None = None, queue: str = "research", **more: Any) -> Item:
    """A Workload of Kueue."""
    item = workload(
        "Workload", name, api="kueue.x-k8s.io/v1beta2", owner=owner, status={"conditions": list(conditions), **more.pop("status", {})}
    )
    return {**item, "spec": {"queueName": queue, **more}}


def local_queue(name: str = "research", cluster: str = "gpus", **spec: Any) -> Item:
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "LocalQueue",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"clusterQueue": cluster, **spec},
    }


def cluster_queue(name: str = "gpus", *conditions: Item, **spec: Any) -> Item:
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ClusterQueue",
        "metadata": {"name": name},
        "spec": spec,
        "status": {"conditions": list(conditions)},
    }
