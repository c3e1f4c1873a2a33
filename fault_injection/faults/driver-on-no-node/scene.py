"""Nodes with accelerators, but without the label that the driver's DaemonSet asks for: no pod of it, so no slice."""

from __future__ import annotations

from fault_injection.library.drivers import daemon
from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    nodes = world.nodes(2)
    world.role(devices=world.scene.devices_of(nodes[0], world.gpu.driver))
    for node in nodes:
        for piece in world.scene.slices_of(node, world.gpu.driver):
            world.scene.remove(piece)
    label = world.draw.choice(("node.example.com/accelerator", f"{world.gpu.driver.partition('.')[2]}/gpu.deploy.driver"))
    installed = daemon(world, {label: "true"}, [])
    claim = world.scene.claim(request(world.gpu.device_class))
    world.role(pod=world.scene.pod(claim), claim=claim, driver=world.gpu.driver, daemon=installed, label=label, node=nodes[0])
