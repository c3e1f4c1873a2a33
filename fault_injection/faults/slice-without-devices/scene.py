"""A node whose driver runs and has published a slice with nothing in it."""

from __future__ import annotations

from fault_injection.library.drivers import daemon
from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    nodes = world.nodes(world.draw.choice((1, 2)), labels={"node.example.com/accelerator": "present"})
    world.role(devices=world.scene.devices_of(nodes[0], world.gpu.driver))
    for node in nodes:
        for piece in world.scene.slices_of(node, world.gpu.driver):
            piece["spec"].pop("devices")
    installed = daemon(world, {"node.example.com/accelerator": "present"}, nodes)
    claim = world.scene.claim(request(world.gpu.device_class))
    world.role(pod=world.scene.pod(claim), claim=claim, driver=world.gpu.driver, daemon=installed)
    world.role(slice=world.scene.slices_of(nodes[0], world.gpu.driver)[0])
