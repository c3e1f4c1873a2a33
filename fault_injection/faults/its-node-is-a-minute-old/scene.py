"""A node group of two nodes: the accelerators of one are in use, the other has just registered and has no slices yet."""

from __future__ import annotations

import copy

from fault_injection.library.autoscalers import NODE_GROUP, Group, cluster_autoscaler
from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    group = world.scene.names.word()
    full, young = world.nodes(2, labels={NODE_GROUP: group})
    (piece,) = world.scene.slices_of(young, world.gpu.driver)
    for own in world.scene.slices_of(young):
        world.scene.remove(own)
    holder = world.scene.running(full, world.devices(full), world.gpu.driver)
    cluster_autoscaler(world, [Group(group, 2, starting=1)])
    claim = world.scene.claim(request(world.gpu.device_class, 4))
    world.role(pod=world.scene.pod(claim), claim=claim, driver=world.gpu.driver, group=group, young=young, holder=holder)
    world.role(piece=piece["metadata"]["name"], slice=copy.deepcopy(piece["spec"]))
