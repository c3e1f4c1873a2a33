"""Two node groups; the accelerators' has two of ten nodes, all devices in use, and its last growth failed three minutes ago."""

from __future__ import annotations

from fault_injection.library.autoscalers import Group, cluster_autoscaler, two_groups
from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    group, plain = two_groups(world)
    zone = world.draw.choice(("us-east-1a", "us-east-1b", "eu-west-1c"))
    code, said = world.draw.choice(
        (
            ("InsufficientInstanceCapacity", f"We currently do not have sufficient capacity in {zone} for the type that was asked for."),
            ("VcpuLimitExceeded", "You have requested more vCPU capacity than your current vCPU limit allows for this instance family."),
        )
    )
    cluster_autoscaler(world, [Group(group, 2, backoff=(code, said)), Group(plain, 1)])
    claim = world.scene.claim(request(world.gpu.device_class, 4))
    world.role(pod=world.scene.pod(claim), claim=claim, driver=world.gpu.driver, group=group, code=code)
