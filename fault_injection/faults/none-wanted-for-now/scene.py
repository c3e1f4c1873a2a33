"""A Deployment that had two replicas and was scaled to none, on a cluster with free devices."""

from __future__ import annotations

from fault_injection.library.signs import Sign
from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    world.nodes(2)
    template = world.scene.template(request(world.gpu.device_class, 2))
    name = world.scene.names.word()
    pod = {"metadata": {"labels": {"app": name}}, "spec": world.scene.pod_spec(template, cpu="4")}
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": name}}, "template": pod}
    owner = world.scene.add("apps/v1", "Deployment", name, spec=spec)
    world.role(owner=owner, template=template, driver=world.gpu.driver)
    world.until(Sign(of="owner", field="status.readyReplicas", value=2))
    world.patch(owner, {"spec": {"replicas": 0}})
    world.until(Sign(of="owner", field="status.observedGeneration", value=2))
    world.until(Sign(of="owner", field="status.replicas", exists=False))
