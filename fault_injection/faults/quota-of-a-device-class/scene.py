"""Two pods of a team hold devices up to what its quota allows of the class; a third wants two more. Half the node is free."""

from __future__ import annotations

from fault_injection.library.signs import Sign, running
from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    world.nodes(1)
    resource = f"{world.gpu.device_class}.deviceclass.resource.k8s.io/devices"
    quota = world.scene.quota(**{resource: "4", "pods": "20"})
    world.role(quota=quota)
    world.until(Sign(of="quota", field="status.hard.pods", value="20"))
    template = world.scene.template(request(world.gpu.device_class, 2))
    for number in ("first", "second"):
        world.role(**{number: world.scene.pod(template)})
        world.until(running(number))
    world.role(pod=world.scene.pod(template), template=template, resource=resource, driver=world.gpu.driver)
