"""Two nodes with all devices free; the pod's claims each have a constraint of their own, and only together do they not fit."""

from __future__ import annotations

from fault_injection.library.world import World
from fault_injection.scenes import request, same

DRIVERS = ("gpu.nvidia.com",)
NUMA = "resource.kubernetes.io/numaNode"


def scene(world: World) -> None:
    world.nodes(2)
    sizes = [3, 3, 2]
    claims = {size: [] for size in sizes}
    world.draw.shuffle(sizes)
    made = [world.scene.claim(request(world.gpu.device_class, size), constraints=[same(NUMA)]) for size in sizes]
    for size, claim in zip(sizes, made, strict=True):
        claims[size].append(claim)
    (one, two), (pair,) = claims[3], claims[2]
    world.role(pod=world.scene.pod(*made), one=one, two=two, pair=pair, driver=world.gpu.driver, numa=NUMA)
