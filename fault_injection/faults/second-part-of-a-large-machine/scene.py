"""A machine whose CPUs are devices: a slice of 96 which says that the pool has two slices. A small machine beside it has three."""

from __future__ import annotations

from fault_injection.library.world import World
from fault_injection.scenes import request

DRIVER = "dra.cpu"


def scene(world: World) -> None:
    (large,) = world.scene.plain_nodes(1, cpu="192", memory="768Gi")
    (small,) = world.scene.plain_nodes(1, cpu="8")

    def cores(start: int, number: int) -> list[dict[str, object]]:
        return [
            {"name": f"cpudev{place:03d}", "attributes": {"cpuID": {"int": place}, "numaNodeID": {"int": place // 48}}}
            for place in range(start, start + number)
        ]

    piece = world.publish(large, DRIVER, cores(0, 96), slices=2)
    world.publish(small, DRIVER, cores(0, 3))
    claim = world.scene.claim(request(DRIVER, 4))
    world.role(pod=world.scene.pod(claim), claim=claim, slice=piece, node=large, driver=DRIVER, rest=cores(96, 96))
