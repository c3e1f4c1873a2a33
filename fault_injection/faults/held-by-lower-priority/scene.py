"""All devices of the only node are held by a pod of low priority; one of high priority wants two."""

from __future__ import annotations

from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    (node,) = world.nodes(1)
    low, high = world.scene.names.word(), world.scene.names.word()
    world.scene.priority(low, -10)
    world.scene.priority(high, 100_000)
    holder = world.scene.running(node, world.devices(node), world.gpu.driver)
    holder["spec"]["priorityClassName"] = low
    held = next(item for item in world.scene.objects if item["kind"] == "ResourceClaim")
    claim = world.scene.claim(request(world.gpu.device_class, 2))
    pod = world.scene.pod(claim, priorityClassName=high)
    world.role(pod=pod, claim=claim, holder=holder, held=held, driver=world.gpu.driver, node=node)
