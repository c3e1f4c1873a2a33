"""Two nodes of two accelerators, all free, and a quota of four; a pod wants four on one node."""

from __future__ import annotations

from fault_injection.library.signs import Sign
from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    *small, large = world.nodes(3)
    for node in small:
        (piece,) = world.scene.slices_of(node, world.gpu.driver)
        piece["spec"]["devices"] = piece["spec"]["devices"][:2]
    (more,) = world.scene.slices_of(large, world.gpu.driver)
    for item in (large, *world.scene.slices_of(large)):
        world.scene.remove(item)
    resource = f"{world.gpu.device_class}.deviceclass.resource.k8s.io/devices"
    world.role(quota=world.scene.quota(**{resource: "4"}), resource=resource)
    world.until(Sign(of="quota", field=f'status.hard["{resource}"]', value="4"))
    template = world.scene.template(request(world.gpu.device_class, 4))
    world.role(pod=world.scene.pod(template), template=template, driver=world.gpu.driver)
    metadata = {"name": large["metadata"]["name"], "labels": large["metadata"]["labels"]}
    world.role(large=large["metadata"]["name"], about=metadata, offers={"allocatable": large["status"]["allocatable"]})
    world.role(piece=more["metadata"]["name"], slice=more["spec"])
