"""Eight divisible GPUs, each with small partitions in use: one has one of them, the others two. Three profiles are asked of one GPU."""

from __future__ import annotations

from fault_injection.library.world import World
from fault_injection.scenes import request, same

DRIVERS = ("gpu.nvidia.com",)
MIG = "mig.nvidia.com"
PARENT = "gpu.nvidia.com/parentUUID"
STARTS = range(7)


def scene(world: World) -> None:
    (node,) = world.scene.nodes("p5.48xlarge", 1, mig=True)
    chosen = world.draw.randrange(8)
    for gpu in range(8):
        held = [world.draw.choice((4, 5, 6))] if gpu == chosen else world.draw.sample(STARTS, 2)
        pods = [world.scene.running(node, [f"gpu-{gpu}-mig-1g10gb-19-{start}"], world.gpu.driver, device_class=MIG) for start in held]
        if gpu == chosen:
            world.role(lone=pods[0])
        elif gpu == (chosen + 1) % 8:
            world.role(other=pods[0], beside=pods[1])
    wanted = {"a": "4g.40gb", "b": "2g.20gb", "c": "1g.10gb"}
    claim = world.scene.claim(
        *(request(MIG, 1, f"device.attributes['gpu.nvidia.com'].profile == '{profile}'", name=name) for name, profile in wanted.items()),
        constraints=[same(PARENT)],
    )
    world.role(pod=world.scene.pod(claim), claim=claim, node=node, driver=world.gpu.driver, parent=PARENT, card=f"gpu-{chosen}")
