"""A claim with a finalizer of some other controller is deleted; a pod that names it is made after that."""

from __future__ import annotations

from fault_injection.library.signs import Sign
from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    world.nodes(2)
    mark = world.draw.choice(("example.com/accounting", "resources.example.com/record"))
    claim = world.scene.claim(request(world.gpu.device_class, 2))
    claim["metadata"]["finalizers"] = [mark]
    world.role(claim=claim, mark=mark, spec=claim["spec"], driver=world.gpu.driver)
    world.delete(claim)
    world.until(Sign(of="claim", field="metadata.deletionTimestamp"))
    world.role(pod=world.scene.pod(claim))
