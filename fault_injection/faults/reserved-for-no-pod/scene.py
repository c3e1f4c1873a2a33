"""All devices of the only node are allocated to a claim whose pod is gone; another entry of reservedFor keeps it."""

from __future__ import annotations

from fault_injection.library.signs import gone
from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    (node,) = world.nodes(1)
    user = world.scene.running(node, world.devices(node), world.gpu.driver)
    held = next(item for item in world.scene.objects if item["kind"] == "ResourceClaim")
    batch = world.scene.names.word()
    held["status"]["reservedFor"].append(
        {"apiGroup": "batch.example.com", "resource": "runs", "name": batch, "uid": world.scene.names.uid()}
    )
    world.role(user=user, held=held)
    world.delete(user)
    world.until(gone("user"))
    claim = world.scene.claim(request(world.gpu.device_class, 2))
    world.role(pod=world.scene.pod(claim), claim=claim, driver=world.gpu.driver, node=node, batch=batch)
