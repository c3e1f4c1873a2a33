"""A NodePool of accelerators whose one node is full, and a pod whose devices come of a claim."""

from __future__ import annotations

from fault_injection.library.autoscalers import NODE_POOL, karpenter, node_pool
from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    name = world.scene.names.word()
    (node,) = world.nodes(1, labels={NODE_POOL: name})
    world.scene.plain_nodes(1)
    holder = world.scene.running(node, world.devices(node), world.gpu.driver)
    karpenter(world)
    kinds = [world.gpu.shape]
    node_pool(world, name, [{"key": "node.kubernetes.io/instance-type", "operator": "In", "values": kinds}], limits={"cpu": "4000"})
    claim = world.scene.claim(request(world.gpu.device_class, 8))
    world.role(pod=world.scene.pod(claim), claim=claim, driver=world.gpu.driver, group=name, holder=holder)
