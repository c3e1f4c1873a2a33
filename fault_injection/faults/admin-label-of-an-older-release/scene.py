"""A monitoring pod asks for admin access from a template; its namespace has the label as it was called in 1.33."""

from __future__ import annotations

from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    (node,) = world.nodes(1)
    world.scene.running(node, world.devices(node)[:2], world.gpu.driver)
    name = world.scene.names.word()
    space = world.scene.add("v1", "Namespace", name, namespaced=False, labels={"resource.k8s.io/admin-access": "true"})
    template = world.scene.template(request(world.gpu.device_class, None, admin=True))
    template["metadata"]["namespace"] = name
    # Admission refuses such a template outright, so it was made when the namespace was still allowed to: as after an upgrade.
    space["metadata"]["labels"]["resource.kubernetes.io/admin-access"] = "true"
    world.role(space=space)
    world.patch(space, {"metadata": {"labels": {"resource.kubernetes.io/admin-access": None}}})
    pod = world.scene.pod(template)
    pod["metadata"]["namespace"] = name
    world.role(pod=pod, template=template, driver=world.gpu.driver)
