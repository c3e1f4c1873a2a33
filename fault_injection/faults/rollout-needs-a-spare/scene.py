"""A Deployment of one replica with all devices of the only node; its image changes, and it may surge but not be unavailable."""

from __future__ import annotations

from fault_injection.library.signs import Sign
from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    world.nodes(1)
    template = world.scene.template(request(world.gpu.device_class, 8))
    name = world.scene.names.word()
    label = {"app": name}
    spec = {
        "replicas": 1,
        "selector": {"matchLabels": label},
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
        "template": {"metadata": {"labels": label}, "spec": world.scene.pod_spec(template, cpu="4")},
    }
    server = world.scene.add("apps/v1", "Deployment", name, labels=label, spec=spec)
    world.role(server=server, template=template, driver=world.gpu.driver)
    world.until(Sign(of="server", field="status.readyReplicas", value=1))
    image = {"name": "main", "image": "registry.example/app:2"}
    world.patch(server, {"spec": {"template": {"spec": {"containers": [{**spec["template"]["spec"]["containers"][0], **image}]}}}})
    world.pod_of("pod", server, bound=False)
    world.pod_of("old", server, bound=True)
