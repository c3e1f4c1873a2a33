"""A Job that was made suspended, on a cluster with free devices."""

from __future__ import annotations

from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    world.nodes(2)
    template = world.scene.template(request(world.gpu.device_class, 2))
    spec = {"restartPolicy": "Never", **world.scene.pod_spec(template)}
    made = {"suspend": True, "parallelism": 2, "completions": 2, "template": {"spec": spec}}
    job = world.scene.add("batch/v1", "Job", world.scene.names.word(), spec=made)
    world.role(job=job, template=template, driver=world.gpu.driver)
