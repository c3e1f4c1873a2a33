"""Two node groups with accelerators: the one with eight a node has two nodes of two, the one with four could have more. Six are wanted."""

from __future__ import annotations

from fault_injection.library.autoscalers import NODE_GROUP, Group, cluster_autoscaler
from fault_injection.library.signs import refused
from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    names = world.scene.names
    eights, fours = names.word(), names.word()
    large, other = world.nodes(2, labels={NODE_GROUP: eights})
    (small,) = world.nodes(1, labels={NODE_GROUP: fours})
    (piece,) = world.scene.slices_of(small, world.gpu.driver)
    piece["spec"]["devices"] = piece["spec"]["devices"][:4]
    world.role(one=world.scene.running(large, world.devices(large)[:3], world.gpu.driver))
    world.role(two=world.scene.running(other, world.devices(other)[:2], world.gpu.driver))
    world.scene.running(other, world.devices(other)[2:4], world.gpu.driver)
    world.scene.running(other, world.devices(other)[4:5], world.gpu.driver)
    world.role(beside=world.scene.running(small, world.devices(small)[:2], world.gpu.driver))
    cluster_autoscaler(world, [Group(eights, 2, most=2), Group(fours, 1)])
    claim = world.scene.claim(request(world.gpu.device_class, 6))
    pod = world.scene.pod(claim)
    world.role(pod=pod, claim=claim, driver=world.gpu.driver, eights=eights, fours=fours)
    world.until(refused())
    said = "pod didn't trigger scale-up: 1 max node group size reached, 1 cannot allocate all claims"
    world.said(pod, "NotTriggerScaleUp", said, "cluster-autoscaler", type="Normal", count=5, age=11)
