"""Two pods held four devices each; they are gone and their claims deleted, but the controller that would have ended these was away."""

from __future__ import annotations

from fault_injection.library.signs import gone
from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    (node,) = world.nodes(1)
    devices = world.devices(node)
    users = [world.scene.running(node, part, world.gpu.driver) for part in (devices[:4], devices[4:])]
    held = [item for item in world.scene.objects if item["kind"] == "ResourceClaim"]
    world.role(held=held[0], third=held[1], one=users[0], two=users[1])
    world.stop("kube-controller-manager")
    for user in users:
        world.delete(user)
    world.until(gone("one"))
    world.until(gone("two"))
    for claim in held:
        world.delete(claim)
    claim = world.scene.claim(request(world.gpu.device_class, 3))
    world.role(pod=world.scene.pod(claim), claim=claim, driver=world.gpu.driver, node=node)
