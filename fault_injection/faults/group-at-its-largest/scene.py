"""Two node groups of an autoscaler: the accelerators' has two nodes of two, all devices in use, the other could grow."""

from __future__ import annotations

from fault_injection.library.autoscalers import Group, cluster_autoscaler, two_groups
from fault_injection.library.signs import refused
from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    group, plain = two_groups(world)
    cluster_autoscaler(world, [Group(group, 2, most=2), Group(plain, 1)])
    claim = world.scene.claim(request(world.gpu.device_class, 4))
    pod = world.scene.pod(claim)
    world.role(pod=pod, claim=claim, driver=world.gpu.driver, group=group)
    world.until(refused())
    said = "pod didn't trigger scale-up: 1 max node group size reached, 1 cannot allocate all claims"
    world.said(pod, "NotTriggerScaleUp", said, "cluster-autoscaler", type="Normal", count=6, age=8)
