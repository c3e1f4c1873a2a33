"""Two nodes of two NUMA nodes of four: on one a pod holds two devices of a NUMA node, on the other nothing is held."""

from __future__ import annotations

from fault_injection.library.world import World
from fault_injection.scenes import request, same

DRIVERS = ("gpu.nvidia.com",)
NUMA = "resource.kubernetes.io/numaNode"


def scene(world: World) -> None:
    node = world.draw.choice(world.nodes(2))
    side = world.draw.choice((0, 1))
    own = [entry["name"] for entry in world.scene.devices_of(node, world.gpu.driver) if entry["attributes"][NUMA]["int"] == side]
    holder = world.scene.running(node, own[:2], world.gpu.driver)
    claim = world.scene.claim(request(world.gpu.device_class, 5), constraints=[same(NUMA)])
    world.role(pod=world.scene.pod(claim), claim=claim, driver=world.gpu.driver, holder=holder, numa=NUMA)
