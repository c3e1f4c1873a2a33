"""A node whose accelerators are in use, and a MachineDeployment of no machine, whose annotations tell driver and number of devices."""

from __future__ import annotations

from fault_injection.library.autoscalers import Group, cluster_autoscaler
from fault_injection.library.world import World
from fault_injection.scenes import request

SIZES = "cluster.x-k8s.io/cluster-api-autoscaler-node-group"
CAPACITY = "capacity.cluster-autoscaler.kubernetes.io"


def scene(world: World) -> None:
    (node,) = world.nodes(1)
    name = world.scene.names.word()
    holder = world.scene.running(node, world.devices(node), world.gpu.driver)
    group = f"MachineDeployment/default/{name}"
    spec = {"clusterName": world.scene.names.word(), "replicas": 0, "template": {"spec": {}}}
    machines = world.scene.add("cluster.x-k8s.io/v1beta1", "MachineDeployment", name, spec=spec)
    machines["metadata"]["annotations"] = {
        f"{SIZES}-min-size": "0",
        f"{SIZES}-max-size": "4",
        f"{CAPACITY}/cpu": "64",
        f"{CAPACITY}/memory": "512Gi",
        f"{CAPACITY}/gpu-count": "8",
        f"{CAPACITY}/dra-driver": world.gpu.driver,
    }
    cluster_autoscaler(world, [Group(group, 0, most=4)], provider="clusterapi")
    claim = world.scene.claim(request(world.gpu.device_class, 4, world.gpu.is_product()))
    world.role(pod=world.scene.pod(claim), claim=claim, driver=world.gpu.driver, group=group, holder=holder)
