"""Kueue as it shows in a cluster: a queue with its quota, Jobs that wait in it, and the Workloads and conditions that Kueue writes.

Where Kueue runs itself (`record --with kueue`), `queue` leaves its part to it and starts it with the class mapped to a name in quotas; the
scene then makes the Jobs alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .signs import Sign
from .world import World

Object = dict[str, Any]

API = "kueue.x-k8s.io/v1beta2"
RESOURCE = "devices"
"""What Kueue's configuration calls the class in quotas (deviceClassMappings)."""
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"


@dataclass(frozen=True, slots=True)
class Queue:
    """A ClusterQueue, with the names of its flavor and of the LocalQueue of the namespace that leads to it. `itself`: Kueue runs."""

    made: Object
    flavor: str
    local: str
    itself: bool

    @property
    def name(self) -> str:
        return self.made["metadata"]["name"]


def queue(world: World, devices: int, cpus: int = 256) -> Queue:
    """A queue with a quota of devices of this seed's class, and of CPUs: what a queue doesn't cover it doesn't admit."""
    itself = world.left_to("kueue", deviceClassMappings=[{"name": RESOURCE, "deviceClassNames": [world.gpu.device_class]}])
    names = world.scene.names
    flavor, cluster, local = names.word(), names.word(), names.word()
    world.scene.add(API, "ResourceFlavor", flavor, namespaced=False, spec={})
    share = {"name": flavor, "resources": [{"name": RESOURCE, "nominalQuota": devices}, {"name": "cpu", "nominalQuota": cpus}]}
    quota = {"namespaceSelector": {}, "resourceGroups": [{"coveredResources": [RESOURCE, "cpu"], "flavors": [share]}]}
    active = {"type": "Active", "status": "True", "reason": "Ready", "lastTransitionTime": world.moment(7200)}
    ready = _status(itself, {**active, "message": "Can admit new workloads"})
    made = world.scene.add(API, "ClusterQueue", cluster, namespaced=False, spec=quota, **ready)
    open_too = _status(itself, {**active, "message": "Can submit new workloads to localQueue"})
    world.scene.add(API, "LocalQueue", local, spec={"clusterQueue": cluster}, **open_too)
    return Queue(made, flavor, local, itself)


def _status(itself: bool, condition: Object) -> Object:
    return {} if itself else {"status": {"conditions": [condition]}}


def job(world: World, template: Object, of: Queue, pods: int, suspend: bool) -> Object:
    """A Job of so many pods, four CPUs each, in a queue."""
    pod = {"spec": {**world.scene.pod_spec(template, cpu="4"), "restartPolicy": "Never"}}
    spec = {"parallelism": pods, "completions": pods, "suspend": suspend, "template": pod}
    return world.scene.add("batch/v1", "Job", world.scene.names.word(), labels={QUEUE_LABEL: of.local}, spec=spec)


def workload(world: World, of: Object, where: Queue, status: Object) -> Object:
    """The Workload that Kueue makes for a Job."""
    metadata, pods = of["metadata"], of["spec"]["parallelism"]
    name = f"job-{metadata['name']}-{world.draw.getrandbits(20):05x}"
    sets = [{"name": "main", "count": pods, "template": of["spec"]["template"]}]
    made = world.scene.add(API, "Workload", name, spec={"active": True, "queueName": where.local, "podSets": sets}, status=status)
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": metadata["name"], "uid": metadata["uid"]}
    made["metadata"]["ownerReferences"] = [{**owner, "controller": True, "blockOwnerDeletion": True}]
    return made


def admitted(world: World, of: Queue, pods: int, devices: int) -> Object:
    """The status of a Workload of so many pods with so many devices each, which has its quota."""
    both = {RESOURCE: of.flavor, "cpu": of.flavor}
    used = {RESOURCE: str(pods * devices), "cpu": str(pods * 4)}
    assigned = {"name": "main", "count": pods, "flavors": both, "resourceUsage": used}
    return {
        "admission": {"clusterQueue": of.name, "podSetAssignments": [assigned]},
        "conditions": [
            condition(world, "QuotaReserved", "True", "QuotaReserved", f"Quota reserved in ClusterQueue {of.name}"),
            condition(world, "Admitted", "True", "Admitted", "The workload is admitted"),
        ],
    }


def condition(world: World, kind: str, status: str, reason: str, message: str) -> Object:
    """A condition of ten minutes ago."""
    at = world.moment(600)
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": at, "observedGeneration": 1}


def waits_itself(world: World, template: Object, of: Queue, pods: int, seen: Sign) -> None:
    """A Job that Kueue itself suspends, with its Workload, until Kueue has said why. Gives both their roles."""
    waiting = job(world, template, of, pods, suspend=False)
    world.role(job=waiting)
    world.made_for("workload", waiting, API, "Workload")
    world.until(seen)
