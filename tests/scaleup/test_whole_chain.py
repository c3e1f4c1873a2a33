"""From the objects of a cluster to the first obstacle: groups, what pods do on them, what the autoscaler meets, the audit."""

from __future__ import annotations

from typing import Any

import pytest

from k8s_topo_mcp.scaleup.autoscalers import autoscalers
from k8s_topo_mcp.scaleup.fit import fits_of
from k8s_topo_mcp.scaleup.groups import node_groups
from k8s_topo_mcp.scaleup.obstacles import obstacles
from k8s_topo_mcp.scaleup.own_groups import serving
from tests.diagnosis.clusters import Item, cluster, device_class, gpus, held, pod, pool

from .scenes import asking, audit, cluster_autoscaler, codes, in_status, karpenter, node_pool, ready, status, waiting

CLASS = device_class()
NAMED = {"alpha.eksctl.io/nodegroup-name": "a"}
MACHINES = "MachineDeployment/default/gpu"


def chain(*items: Item) -> dict[str, list[str]]:
    """What stands between the pods and each group of the cluster, by its name."""
    view = cluster(*items)
    pods, found = waiting(view), autoscalers(view)
    return {
        group.name: codes(obstacles(view, serving(group, found), group, pods, fits_of(view, group, pods))) for group in node_groups(view)
    }


def machine_deployment(**annotations: str) -> Item:
    prefix = "capacity.cluster-autoscaler.kubernetes.io/"
    sizes = {f"cluster.x-k8s.io/cluster-api-autoscaler-node-group-{end}-size": size for end, size in (("min", "0"), ("max", "3"))}
    return {
        "apiVersion": "cluster.x-k8s.io/v1beta1",
        "kind": "MachineDeployment",
        "metadata": {
            "name": "gpu",
            "namespace": "default",
            "annotations": {**sizes, **{f"{prefix}{key.replace('_', '-')}": value for key, value in annotations.items()}},
        },
        "spec": {"clusterName": "c", "replicas": 0, "template": {"spec": {}}},
    }


@pytest.mark.parametrize(
    ("version", "annotations", "expected"),
    [
        ("1.36.1", {"cpu": "8", "memory": "64Gi", "gpu_count": "1", "dra_driver": "gpu.example.com"}, ["DEVICE_MODEL_UNUSABLE"]),
        ("1.37.0", {"cpu": "8", "memory": "64Gi", "gpu_count": "1", "dra_driver": "gpu.example.com"}, []),
        ("1.37.0", {"cpu": "8", "memory": "64Gi"}, ["NO_DEVICE_MODEL", "FIT_UNKNOWN"]),
        ("1.37.0", {}, ["NO_DEVICE_MODEL", "GROUP_WITHOUT_MODEL"]),
    ],
)
def test_an_empty_group_of_cluster_api(version: str, annotations: Any, expected: list[str]) -> None:
    program = cluster_autoscaler(image=f"registry.k8s.io/autoscaling/cluster-autoscaler:v{version}")
    said = status(in_status(MACHINES, ready=0, target=0, most=3))
    assert chain(program, said, machine_deployment(**annotations), CLASS, *asking()) == {MACHINES: expected}


def busy(name: str, **labels: str) -> tuple[Item, ...]:
    """A node of one GPU that a running pod has."""
    holder = pod(f"h-{name}", (f"held-{name}",), on=name)
    return (ready(name, labels=labels), pool(gpus(1), name), held(f"held-{name}", ["gpu-0"], name, f"h-{name}"), holder)


def test_a_node_pool_with_a_live_node_that_another_limit_stops() -> None:
    own = {"karpenter.sh/nodepool": "gpu", "node.kubernetes.io/instance-type": "g.large"}
    on = (karpenter("--ignore-dra-requests=false"), CLASS, *busy("n1", **own), *asking())
    assert chain(*on, node_pool("gpu"))["gpu"] == ["NO_DEVICE_MODEL"]
    assert chain(*on, node_pool("gpu", limits={"cpu": "10"}))["gpu"][:1] == ["LIMIT_REACHED"]


def test_a_group_of_the_status_is_found_by_its_nodes_and_full() -> None:
    on = (cluster_autoscaler(), CLASS, *busy("n1", **NAMED), *asking())
    assert chain(*on, status(in_status("a")))["a"] == []
    assert chain(*on, status(in_status("a", most=1)))["a"] == ["GROUP_FULL"]


def test_the_audit_judges_the_same_groups() -> None:
    view = cluster(cluster_autoscaler(), status(in_status("a")), CLASS, *busy("n1", **NAMED), *asking(), *asking(2, name="two"))
    rows = audit(view, node_groups(view), autoscalers(view), lambda group, pods: fits_of(view, group, pods))
    assert [(str(row.demand), row.ready, codes(row.missing)) for row in rows if row.group is not None and row.group.name == "a"] == [
        ("1 gpu", "yes", []),
        ("2 gpu", "no", ["NEW_NODE_REFUSED"]),
    ]
