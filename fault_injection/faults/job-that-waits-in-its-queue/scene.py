"""Two Jobs in one queue of Kueue: one runs and uses six of a quota of eight, the other wants four. Two nodes of eight devices."""

from __future__ import annotations

from typing import Any

from fault_injection.library.signs import Sign
from fault_injection.library.world import World
from fault_injection.scenes import request

API = "kueue.x-k8s.io/v1beta2"
RESOURCE = "devices"
"""What Kueue's configuration calls the class in quotas (deviceClassMappings)."""
Object = dict[str, Any]


def scene(world: World) -> None:
    world.nodes(2)
    names = world.scene.names
    flavor, queue, local = names.word(), names.word(), names.word()
    world.scene.add(API, "ResourceFlavor", flavor, namespaced=False, spec={})
    share = {"name": flavor, "resources": [{"name": RESOURCE, "nominalQuota": 8}]}
    quota = {"namespaceSelector": {}, "resourceGroups": [{"coveredResources": [RESOURCE], "flavors": [share]}]}
    active = {"type": "Active", "status": "True", "reason": "Ready", "lastTransitionTime": world.moment(7200)}
    ready = {"conditions": [{**active, "message": "Can admit new workloads"}]}
    made = world.scene.add(API, "ClusterQueue", queue, namespaced=False, spec=quota, status=ready)
    open_too = {"conditions": [{**active, "message": "Can submit new workloads to clusterQueue"}]}
    world.scene.add(API, "LocalQueue", local, spec={"clusterQueue": queue}, status=open_too)
    template = world.scene.template(request(world.gpu.device_class, 2))
    other = _job(world, template, local, 3, suspend=False)
    world.role(other=other, queue=made, template=template, driver=world.gpu.driver, another=names.node("onprem"))
    world.until(Sign(of="other", field="status.ready", value=3))
    flavors = {"name": "main", "count": 3, "flavors": {RESOURCE: flavor}, "resourceUsage": {RESOURCE: "6"}}
    admitted = [
        _condition(world, "QuotaReserved", "True", "QuotaReserved", f"Quota reserved in ClusterQueue {queue}"),
        _condition(world, "Admitted", "True", "Admitted", "The workload is admitted"),
    ]
    admission = {"clusterQueue": queue, "podSetAssignments": [flavors]}
    _workload(world, other, local, 3, {"admission": admission, "conditions": admitted})
    job = _job(world, template, local, 2, suspend=True)
    world.role(job=job)
    world.until(Sign(of="job", condition="Suspended", status="True"))
    why = f"couldn't assign flavors to pod set main: insufficient unused quota for {RESOURCE} in flavor {flavor}, 2 more needed"
    waits = {"conditions": [_condition(world, "QuotaReserved", "False", "Pending", why)]}
    workload = _workload(world, job, local, 2, {**waits, "resourceRequests": [{"name": "main", "resources": {RESOURCE: "4"}}]})
    world.role(workload=workload)
    world.until(Sign(of="workload", exists=True))
    world.said(workload, "Pending", why, "kueue-admission")


def _job(world: World, template: Object, queue: str, pods: int, suspend: bool) -> Object:
    pod = {"spec": {**world.scene.pod_spec(template, cpu="4"), "restartPolicy": "Never"}}
    spec = {"parallelism": pods, "completions": pods, "suspend": suspend, "template": pod}
    return world.scene.add("batch/v1", "Job", world.scene.names.word(), labels={"kueue.x-k8s.io/queue-name": queue}, spec=spec)


def _workload(world: World, job: Object, queue: str, pods: int, status: Object) -> Object:
    metadata = job["metadata"]
    name = f"job-{metadata['name']}-{world.draw.getrandbits(20):05x}"
    sets = [{"name": "main", "count": pods, "template": job["spec"]["template"]}]
    made = world.scene.add(API, "Workload", name, spec={"active": True, "queueName": queue, "podSets": sets}, status=status)
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": metadata["name"], "uid": metadata["uid"]}
    made["metadata"]["ownerReferences"] = [{**owner, "controller": True, "blockOwnerDeletion": True}]
    return made


def _condition(world: World, kind: str, status: str, reason: str, message: str) -> Object:
    at = world.moment(600)
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": at, "observedGeneration": 1}
