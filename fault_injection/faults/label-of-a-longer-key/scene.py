"""Nodes that carry the label of their PCI devices under class and vendor; the DaemonSet selects vendor alone."""

from __future__ import annotations

from fault_injection.library.drivers import daemon
from fault_injection.library.world import World
from fault_injection.scenes import request

VENDORS = {"gpu.nvidia.com": "10de", "gpu.amd.com": "1002"}


def scene(world: World) -> None:
    vendor = VENDORS[world.gpu.driver]
    published = f"feature.node.kubernetes.io/pci-{world.draw.choice(('0300', '0302'))}_{vendor}.present"
    nodes = world.nodes(2, labels={published: "true"})
    world.role(devices=world.scene.devices_of(nodes[0], world.gpu.driver))
    for node in nodes:
        for piece in world.scene.slices_of(node, world.gpu.driver):
            world.scene.remove(piece)
    wanted = f"feature.node.kubernetes.io/pci-{vendor}.present"
    installed = daemon(world, {wanted: "true"}, [])
    claim = world.scene.claim(request(world.gpu.device_class))
    world.role(pod=world.scene.pod(claim), claim=claim, driver=world.gpu.driver, daemon=installed, node=nodes[0])
    world.role(wanted=wanted, published=published)
