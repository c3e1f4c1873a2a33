"""A NodePool of accelerators whose one node is full; Karpenter is told to judge claims."""

from __future__ import annotations

from fault_injection.library.autoscalers import full_node_pool, karpenter, left_behind, node_pool
from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    name, kinds, holder = full_node_pool(world)
    karpenter(world, "--ignore-dra-requests=false")
    node_pool(world, name, kinds, limits={"cpu": "4000"})
    claim = world.scene.claim(request(world.gpu.device_class, 8))
    pod = world.scene.pod(claim)
    world.role(pod=pod, claim=claim, driver=world.gpu.driver, group=name, holder=holder)
    left_behind(world, pod, "allocating dynamic resources, no instance type can satisfy the allocation")
