"""All devices publish an attribute; the claim's selector reads it in another spelling, behind has()."""

from __future__ import annotations

from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    nodes = world.nodes(2)
    published, read, value = world.draw.choice(
        (("sharingStrategy", "sharing_strategy", "none"), ("computeMode", "computemode", "default"), ("eccMode", "eccmode", "enabled"))
    )
    for node in nodes:
        for device in world.scene.devices_of(node, world.gpu.driver):
            device["attributes"][published] = {"string": value}

    def guarded(name: str) -> str:
        return f"has({world.gpu.attribute(name)}) && {world.gpu.attribute(name)} == '{value}'"

    claim = world.scene.claim(request(world.gpu.device_class, 2, guarded(read)))
    world.role(pod=world.scene.pod(claim), claim=claim, published=published, read=read, right=guarded(published))
    world.role(unguarded=f"{world.gpu.attribute(read)} == '{value}'", driver=world.gpu.driver)
