"""Two node groups of an autoscaler: the accelerators' has two nodes of two, all devices in use, the other could grow."""

from __future__ import annotations

from fault_injection.library.autoscalers import NODE_GROUP, Group, cluster_autoscaler
from fault_injection.library.signs import refused
from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    names = world.scene.names
    group, plain = names.word(), names.word()
    nodes = world.nodes(2, labels={NODE_GROUP: group})
    world.scene.plain_nodes(1, labels={NODE_GROUP: plain})
    for node in nodes:
        holder = world.scene.running(node, world.devices(node), world.gpu.driver)
        world.role(holder=holder)
    cluster_autoscaler(world, [Group(group, 2, most=2), Group(plain, 1)])
    claim = world.scene.claim(request(world.gpu.device_class, 4))
    pod = world.scene.pod(claim)
    world.role(pod=pod, claim=claim, driver=world.gpu.driver, group=group)
    world.until(refused())
    said = "pod didn't trigger scale-up: 1 max node group size reached, 1 cannot allocate all claims"
    world.said(pod, "NotTriggerScaleUp", said, "cluster-autoscaler", type="Normal", count=6, age=8)
