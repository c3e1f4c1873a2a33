"""Scopes that name pods together: workloads, gangs, queues, serving pools; and pools and node groups."""

from __future__ import annotations

from typing import Any

import pytest

from k8s_topo_mcp.tools.asking import ask
from k8s_topo_mcp.tools.errors import NotFound
from k8s_topo_mcp.tools.topology_graph import TOOL
from k8s_topo_mcp.topology.graph import cluster_graph
from k8s_topo_mcp.topology.hardware import hardware
from k8s_topo_mcp.topology.scopes import resolve
from k8s_topo_mcp.topology.shapes import shapes
from k8s_topo_mcp.view import ClusterView
from tests.topology.clusters import Item, claim, gpu, node, pod, resource_slice, view
from tests.topology.test_graph import NVIDIA, other, owned


def leader_and_workers() -> list[Item]:
    """A LeaderWorkerSet of one group: the leader's StatefulSet, and one for the workers that the leader's pod manages."""
    labels = {"leaderworkerset.sigs.k8s.io/name": "vllm", "leaderworkerset.sigs.k8s.io/group-index": "0"}

    def member(name: str, kind: str, owner: str, claimed: str) -> Item:
        found = owned(pod(name, node="n1", claims=[claimed]), kind, owner, "apps/v1")
        found["metadata"]["labels"] = labels
        return found

    workers = owned(other("apps/v1", "StatefulSet", "vllm-0", spec={"replicas": 1}), "Pod", "vllm-0", "v1")
    return [
        other("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "vllm", spec={"replicas": 1, "leaderWorkerTemplate": {"size": 2}}),
        owned(other("apps/v1", "StatefulSet", "vllm", spec={"replicas": 1}), "LeaderWorkerSet", "vllm", "leaderworkerset.x-k8s.io/v1"),
        member("vllm-0", "StatefulSet", "vllm", "a"),
        workers,
        member("vllm-0-1", "StatefulSet", "vllm-0", "b"),
    ]


def cluster() -> ClusterView:
    queue = {"kueue.x-k8s.io/queue-name": "research"}
    waiting = owned(pod("sweep-0", claims=["c"]), "Job", "sweep")
    waiting["metadata"]["labels"] = queue
    job = other("batch/v1", "Job", "sweep", spec={"parallelism": 4}, status={"ready": 0})
    job["metadata"]["labels"] = queue
    admitted: dict[str, Any] = {"conditions": [{"type": "Admitted", "status": "True"}]}
    return view(
        [
            node("n1", {"topology.kubernetes.io/zone": "z", "cloud.google.com/gke-nodepool": "h100"}),
            node("n2", {"topology.kubernetes.io/zone": "z"}),
            resource_slice(NVIDIA, "n1", [gpu(f"gpu-{number}") for number in range(4)]),
            *leader_and_workers(),
            claim("a", [(NVIDIA, "n1", "gpu-0")], pod="vllm-0"),
            claim("b", [(NVIDIA, "n1", "gpu-1")], pod="vllm-0-1"),
            claim("c"),
            waiting,
            job,
            other("kueue.x-k8s.io/v1beta2", "LocalQueue", "research", spec={"clusterQueue": "gpus"}),
            {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "gpus"}, "spec": {"stopPolicy": "Hold"}},
            other("kueue.x-k8s.io/v1beta2", "Workload", "job-sweep", spec={"queueName": "research"}),
            other("kueue.x-k8s.io/v1beta2", "Workload", "job-other", spec={"queueName": "research"}, status=admitted),
            other("inference.networking.k8s.io/v1", "InferencePool", "qwen", spec={"selector": {"matchLabels": {"app": "none"}}}),
        ]
    )


@pytest.mark.parametrize(
    ("scope", "said"),
    [
        ("workload/LeaderWorkerSet/default/vllm", ["2 pods: 2 Running", "holds 2 H100 80GB HBM3 on 1 node", "vllm-0", "vllm-0-1"]),
        ("workload/leaderworkerset/default/vllm", ["2 pods"]),
        ("workload/StatefulSet/default/vllm", ["2 pods"]),
        ("workload/Job/default/sweep", ["0 ready of 4 wanted", "1 Pending, not scheduled", "asks 1 × gpu.nvidia.com"]),
        ("gang/LeaderWorkerSet/default/vllm-0", ["2 pods: 2 Running"]),
        ("queue/default/research", ["feeds ClusterQueue gpus", "1 workloads admitted, 1 workloads waiting", "default/sweep-0"]),
        ("clusterqueue/gpus", ["1 LocalQueues", "stopped (Hold)", "default/sweep-0"]),
        ("inferencepool/default/qwen", ["selects app=none", "0 pods"]),
        ("nodepool/h100", ["1 node", "4 accelerators: 2 free, 2 held"]),
        ("zone/z/nodepool/h100", ["1 node"]),
        ("pool/gpu.nvidia.com/n1", ["generation 1, 1 of 1 slices seen, usable; 4 devices", "n1 4 H100 80GB HBM3"]),
    ],
)
def test_a_scope_names_these(scope: str, said: list[str]) -> None:
    report = ask(TOOL, cluster(), {"scope": scope}).report
    for words in said:
        assert words in report, report


@pytest.mark.parametrize(
    ("scope", "said"),
    [
        ("workload/Job/default/swep", 'workload "Job/default/swep" not found. Nearest: workload/Job/default/sweep'),
        ("workload/sweep", "a workload is named workload/KIND/NAMESPACE/NAME"),
        ("gang/PodGroup/default/x", "not found"),
        ("gang/x", "a gang is named gang/KIND/NAMESPACE/NAME"),
        ("queue/default/reserch", "Nearest: queue/default/research"),
        ("queue/x", "a queue is named queue/NAMESPACE/NAME"),
        ("clusterqueue/x", 'clusterqueue "x" not found'),
        ("inferencepool/default/x", "not found"),
        ("nodepool/x", 'node pool "x" not found. Nearest: h100'),
        ("pool/gpu.nvidia.com/n9", "Nearest: pool/gpu.nvidia.com/n1"),
        ("pool/x", "a pool is named pool/DRIVER/POOL"),
        ("zone/z/pod/x", "can't narrow a scope"),
    ],
)
def test_what_is_not_there_is_refused_with_what_is_near(scope: str, said: str) -> None:
    with pytest.raises(NotFound) as refused:
        ask(TOOL, cluster(), {"scope": scope})
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_every_id_of_the_graph_is_a_scope() -> None:
    made = cluster()
    facts = hardware(made)
    named = shapes(facts.nodes)
    for identity in cluster_graph(made):
        assert resolve(made, facts, named, identity).path
