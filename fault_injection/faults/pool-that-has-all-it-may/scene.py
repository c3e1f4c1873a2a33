"""A NodePool of accelerators with two nodes, both full; its limit has room for half a machine more."""

from __future__ import annotations

from fault_injection.library.autoscalers import full_node_pool, karpenter, left_behind, node_pool
from fault_injection.library.signs import Sign
from fault_injection.library.world import World
from fault_injection.scenes import SHAPES, request


def scene(world: World) -> None:
    name, kinds, holder = full_node_pool(world, 2)
    karpenter(world, "--ignore-dra-requests=false")
    cpus = SHAPES[world.gpu.shape]["vcpu"] or 128
    pool = node_pool(world, name, kinds, limits={"cpu": str(cpus * 5 // 2)})
    world.role(pool=pool)
    if world.left_to("karpenter"):
        world.until(Sign(of="pool", field="status.nodes", value=2))
    else:
        pool["status"] |= {"nodes": 2, "resources": {"cpu": str(2 * cpus), "nodes": "2"}}
    claim = world.scene.claim(request(world.gpu.device_class, 8))
    pod = world.scene.pod(claim)
    world.role(pod=pod, claim=claim, driver=world.gpu.driver, group=name, holder=holder)
    left_behind(world, pod, f"all available instance types exceed limits for nodepool (NodePool={name})")
