"""Two quotas: of pods, with much room, and of a class, six of seven in use. A pod whose claim is generated wants two."""

from __future__ import annotations

from fault_injection.library.signs import Sign, running
from fault_injection.library.world import World
from fault_injection.scenes import request

DRIVERS = ("gpu.nvidia.com",)


def scene(world: World) -> None:
    world.nodes(2)
    resource = f"{world.gpu.device_class}.deviceclass.resource.k8s.io/devices"
    quota = world.scene.quota(**{resource: "7"})
    pods = world.scene.quota(**{"pods": "50", "requests.cpu": "400"})
    world.role(quota=quota, pods=pods)
    world.until(Sign(of="pods", field="status.hard.pods", value="50"))
    world.until(Sign(of="quota", field=f'status.hard["{resource}"]', value="7"))
    template = world.scene.template(request(world.gpu.device_class, 3))
    for number in ("first", "second"):
        world.role(**{number: world.scene.pod(template)})
        world.until(running(number))
    two = world.scene.template(request(world.gpu.device_class, 2))
    world.role(pod=world.scene.pod(two), template=two, resource=resource, driver=world.gpu.driver)
    world.until(Sign(of="pod", event="FailedResourceClaimCreation", message="exceeded quota"))
