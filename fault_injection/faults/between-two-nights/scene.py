"""A CronJob that runs once in a year, on a cluster with free devices. Somebody made a Job of it by hand, suspended, and deleted it again:
its controller has said that it saw that one, so it looks."""

from __future__ import annotations

import copy

from fault_injection.library.signs import Sign, gone
from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    world.nodes(2)
    template = world.scene.template(request(world.gpu.device_class, 2))
    name = world.scene.names.word()
    pod = {"metadata": {"labels": {"app": name}}, "spec": {**world.scene.pod_spec(template, cpu="4"), "restartPolicy": "Never"}}
    minute, hour, day, month = (world.draw.randrange(*bounds) for bounds in ((0, 60), (1, 5), (2, 28), (1, 13)))
    spec = {"schedule": f"{minute} {hour} {day} {month} *", "jobTemplate": {"spec": {"template": pod}}}
    cron = world.scene.add("batch/v1", "CronJob", name, spec=spec)
    owned = {"apiVersion": "batch/v1", "kind": "CronJob", "name": name, "uid": cron["metadata"]["uid"], "controller": True}
    tried = world.scene.add("batch/v1", "Job", f"{name}-{world.scene.names.suffix()}")
    tried["metadata"] |= {"ownerReferences": [owned], "annotations": {"cronjob.kubernetes.io/instantiate": "manual"}}
    tried["spec"] = {**copy.deepcopy(spec["jobTemplate"]["spec"]), "suspend": True}
    by_hand = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": f"{name}-by-hand", "namespace": "default"}}
    world.role(cron=cron, run=by_hand, job=copy.deepcopy(spec["jobTemplate"]["spec"]), template=template, driver=world.gpu.driver)
    world.role(tried=tried)
    world.until(Sign(of="cron", event="UnexpectedJob"))
    world.delete(tried)
    world.until(gone("tried"))
