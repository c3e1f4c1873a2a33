"""A node of no group whose accelerators are in use, and a group of the autoscaler that has none of its ten nodes."""

from __future__ import annotations

from fault_injection.library.autoscalers import Group, cluster_autoscaler
from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    (node,) = world.nodes(1)
    group = world.scene.names.word()
    holder = world.scene.running(node, world.devices(node), world.gpu.driver)
    cluster_autoscaler(world, [Group(group, 0)])
    claim = world.scene.claim(request(world.gpu.device_class, 4))
    world.role(pod=world.scene.pod(claim), claim=claim, driver=world.gpu.driver, group=group, holder=holder)
