"""One node, whose devices a pod took through a class; then the class was deleted, and a pod that names it came."""

from __future__ import annotations

from fault_injection.library.signs import gone, running
from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    (node,) = world.nodes(1)
    wanted = f"{world.scene.names.word()}.example.com"
    expression = f"device.driver == '{world.gpu.driver}' && {world.gpu.is_product()}"
    world.scene.device_class(wanted, expression)
    (made,) = [item for item in world.scene.objects if item["kind"] == "DeviceClass" and item["metadata"]["name"] == wanted]
    holder = world.scene.running(node, world.devices(node), world.gpu.driver, device_class=wanted)
    world.role(holder=holder, device_class=made, node=node)
    world.until(running("holder"))
    world.delete(made)
    world.until(gone("device_class"))
    template = world.scene.template(request(wanted))
    world.role(pod=world.scene.pod(template), template=template, wanted=wanted, expression=expression, driver=world.gpu.driver)
