"""A suspended Job on a cluster with free devices."""

from __future__ import annotations

from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    world.nodes(2)
    template = world.scene.template(request(world.gpu.device_class, 2))
    name = world.scene.names.word()
    pod = {"metadata": {"labels": {"app": name}}, "spec": {**world.scene.pod_spec(template, cpu="4"), "restartPolicy": "Never"}}
    job = world.scene.add("batch/v1", "Job", name, spec={"parallelism": 2, "completions": 2, "suspend": True, "template": pod})
    world.role(job=job, template=template, driver=world.gpu.driver)
