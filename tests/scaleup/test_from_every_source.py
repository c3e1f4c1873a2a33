"""The same node groups from a dump, from a live cluster, and from the snapshot that is made of that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fault_injection.replay import serve
from k8s_topo_mcp.cli import main
from k8s_topo_mcp.objects import Deployment
from k8s_topo_mcp.objects.cluster_api import CAPACITY, MAX_SIZE, MIN_SIZE
from k8s_topo_mcp.scaleup.groups import node_groups
from k8s_topo_mcp.sources.live.source import LiveSource
from k8s_topo_mcp.sources.snapshot import load
from k8s_topo_mcp.view import ClusterView
from tests.scaleup.clusters import daemon_set, item, node, node_pool, pair, status
from tests.scaleup.showing import shown_group

SECRET = "CANARY-secret"


def objects() -> list[dict[str, Any]]:
    machines = {
        MIN_SIZE: "0", MAX_SIZE: "5", f"{CAPACITY}cpu": "16", f"{CAPACITY}memory": "128Gi", f"{CAPACITY}gpu-count": "2",
        f"{CAPACITY}dra-driver": "gpu.nvidia.com", "acme.com/token": SECRET,
    }  # fmt: skip
    flags = ["--cloud-provider=clusterapi", f"--cloud-config={SECRET}", "--max-nodes-total=10"]
    container = {
        "name": "ca", "image": "registry.k8s.io/autoscaling/cluster-autoscaler:v1.36.1", "command": ["./cluster-autoscaler", *flags],
        "env": [{"name": "TOKEN", "value": SECRET}],
    }  # fmt: skip
    return [
        node("aks-gpu-12345678-vmss000000", {"kubernetes.azure.com/agentpool": "gpu"}),
        pair("aks-gpu-12345678-vmss000000"),
        daemon_set("agent", "100m", tolerates=True),
        node_pool("karp", ("node.kubernetes.io/instance-type", "In", ["g6.12xlarge"]), limits={"nodes": "4"}, labels={"team": "red"}),
        item("cluster.x-k8s.io/v1beta1", "MachineDeployment", "ml", "infra", metadata={"annotations": machines}, spec={"replicas": 1}),
        item("kueue.x-k8s.io/v1beta1", "ResourceFlavor", "azure", spec={"nodeLabels": {"kubernetes.azure.com/agentpool": "gpu"}}),
        status(("aks-gpu-12345678-vmss", 1, 8), ("MachineDeployment/infra/ml", 1, 5)),
        item("v1", "ConfigMap", "settings", "kube-system", data={"status": SECRET}),
        item("apps/v1", "Deployment", "ca", "kube-system", spec={"template": {"spec": {"containers": [container]}}}),
    ]


def told(view: ClusterView) -> str:
    program = [entry.autoscaler.words for entry in view.all(Deployment) if entry.autoscaler is not None]
    return "\n".join(shown_group(group) for group in node_groups(view)) + str(program)


def test_a_dump_a_live_cluster_and_its_snapshot_show_the_same_groups(tmp_path: Path) -> None:
    dump, out = tmp_path / "dump.json", tmp_path / "out.json"
    dump.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects()}))
    wanted = told(load([str(dump)]))
    assert [line for line in wanted.splitlines() if line.startswith("group ")] == [
        "group aks-gpu-12345678-vmss: Cluster Autoscaler",
        "group MachineDeployment/infra/ml: Cluster Autoscaler",
        "group karp: Karpenter NodePool",
        "group azure: ResourceFlavor",
    ]
    assert "--max-nodes-total=10" in wanted
    with serve(str(dump)) as server:
        kubeconfig = server.kubeconfig(tmp_path / "kubeconfig")
        source = LiveSource(str(kubeconfig), watch=False)
        source.start()
        try:
            live = source.view()
        finally:
            source.close()
        assert main(["snapshot", str(out), "--kubeconfig", str(kubeconfig)]) in (0, 5)
    assert told(live) == wanted
    text = out.read_text(encoding="utf-8")
    assert SECRET not in text
    assert told(load([str(out)])) == wanted
