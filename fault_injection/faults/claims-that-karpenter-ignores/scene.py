"""A NodePool of accelerators whose one node is full, and a pod whose devices come of a claim."""

from __future__ import annotations

from fault_injection.library.autoscalers import full_node_pool, karpenter, left_behind, node_pool
from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    name, kinds, holder = full_node_pool(world)
    karpenter(world)
    node_pool(world, name, kinds, limits={"cpu": "4000"})
    claim = world.scene.claim(request(world.gpu.device_class, 8))
    pod = world.scene.pod(claim)
    world.role(pod=pod, claim=claim, driver=world.gpu.driver, group=name, holder=holder)
    left_behind(world, pod, "pod has Dynamic Resource Allocation requirements that are not yet supported by Karpenter")
