"""Two nodes of one product; the devices of the second, which came later, are published without an attribute that the first's have."""

from __future__ import annotations

from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    first, second = world.nodes(2)
    name, value = world.draw.choice((("sharingStrategy", "none"), ("computeMode", "default"), ("eccMode", "enabled")))
    for device in world.scene.devices_of(first, world.gpu.driver):
        device["attributes"][name] = {"string": value}
    claim = world.scene.claim(request(world.gpu.device_class, 1, f"{world.gpu.attribute(name)} == '{value}'"))
    guarded = f"has({world.gpu.attribute(name)}) && {world.gpu.attribute(name)} == '{value}'"
    world.role(pod=world.scene.pod(claim), claim=claim, attribute=name, value=value, guarded=guarded, bare=second, driver=world.gpu.driver)
    world.role(unguarded=f"{world.gpu.attribute(name)} == '{value}'")
    world.neighbour(lambda: world.scene.running(first, world.devices(first)[:1], world.gpu.driver))
