"""Two nodes of two NUMA nodes of four, all free; the quota allows four devices, and the template asks for five of one NUMA node."""

from __future__ import annotations

from fault_injection.library.signs import Sign
from fault_injection.library.world import World
from fault_injection.scenes import request, same

DRIVERS = ("gpu.nvidia.com",)
NUMA = "resource.kubernetes.io/numaNode"


def scene(world: World) -> None:
    world.nodes(2)
    resource = f"{world.gpu.device_class}.deviceclass.resource.k8s.io/devices"
    world.role(quota=world.scene.quota(**{resource: "4", "pods": "20"}))
    world.until(Sign(of="quota", field="status.hard.pods", value="20"))
    template = world.scene.template(request(world.gpu.device_class, 5), constraints=[same(NUMA)])
    world.role(pod=world.scene.pod(template), template=template, resource=resource, driver=world.gpu.driver, numa=NUMA)
