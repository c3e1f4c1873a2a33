"""A pod was made from a template and ran; the template went, then the pod was made again."""

from __future__ import annotations

from fault_injection.library.signs import gone, running
from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    world.nodes(2)
    template = world.scene.template(request(world.gpu.device_class))
    before = world.scene.pod(template)
    world.role(before=before, template=template, driver=world.gpu.driver, manifest=template["spec"])
    world.until(running("before"))
    world.delete(template)
    world.until(gone("template"))
    world.delete(before)
    world.until(gone("before"))
    world.role(pod=world.scene.pod(template))
