"""A claim takes the first that it can have of two products; this cluster only has the second."""

from __future__ import annotations

from fault_injection.library.signs import running
from fault_injection.library.world import World
from fault_injection.scenes import first_of, request


def scene(world: World) -> None:
    world.nodes(2)
    first = world.draw.choice(("NVIDIA GB200", "NVIDIA B200", "AMD_Instinct_MI355X"))
    choices = [
        request(world.gpu.device_class, 2, f"{world.gpu.attribute()} == '{first}'", name="a"),
        request(world.gpu.device_class, 4, world.gpu.is_product(), name="b"),
    ]
    claim = world.scene.claim(first_of(*choices))
    world.role(pod=world.scene.pod(claim), claim=claim, driver=world.gpu.driver)
    world.until(running())
