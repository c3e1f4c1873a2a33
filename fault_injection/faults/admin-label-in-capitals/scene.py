"""A monitoring pod asks for admin access from a template; somebody wrote the label of its namespace anew, by hand."""

from __future__ import annotations

from fault_injection.library.world import World
from fault_injection.scenes import request

KEY = "resource.kubernetes.io/admin-access"


def scene(world: World) -> None:
    (node,) = world.nodes(1)
    world.scene.running(node, world.devices(node)[:5], world.gpu.driver)
    name = world.scene.names.word()
    # Admission refuses such a template outright, so it was made when the namespace was still allowed to.
    space = world.scene.add("v1", "Namespace", name, namespaced=False, labels={KEY: "true"})
    template = world.scene.template(request(world.gpu.device_class, None, admin=True))
    template["metadata"]["namespace"] = name
    world.role(space=space)
    value = world.draw.choice(("True", "TRUE", "yes"))
    world.patch(space, {"metadata": {"labels": {KEY: value}}})
    pod = world.scene.pod(template)
    pod["metadata"]["namespace"] = name
    world.role(pod=pod, template=template, driver=world.gpu.driver, value=value)
