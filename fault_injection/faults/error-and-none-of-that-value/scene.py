"""Two nodes of one product; the devices of the first have an attribute, with another value than is asked, those of the second lack it."""

from __future__ import annotations

from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    first, _ = world.nodes(2)
    name, published, asked = world.draw.choice(
        (("linkType", "NVLink", "nvlink"), ("computeMode", "Default", "default"), ("eccMode", "Enabled", "enabled"))
    )
    for device in world.scene.devices_of(first, world.gpu.driver):
        device["attributes"][name] = {"string": published}

    def equals(value: str) -> str:
        return f"{world.gpu.attribute(name)} == '{value}'"

    claim = world.scene.claim(request(world.gpu.device_class, 1, equals(asked)))
    world.role(pod=world.scene.pod(claim), claim=claim, attribute=name, asked=asked, published=published, driver=world.gpu.driver)
    guard = f"has({world.gpu.attribute(name)}) && "
    world.role(guarded=guard + equals(asked), right=equals(published), guarded_right=guard + equals(published))
    world.neighbour(lambda: world.scene.running(first, world.devices(first)[:1], world.gpu.driver))
