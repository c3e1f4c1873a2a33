"""Rows about what pods ask: sidecars, init containers, overhead, pod-level resources, resizes under way. They provoke NodeResourcesFit."""

from __future__ import annotations

from .worlds import Json, World

_RESIZES = (
    ("PodResizePending", "Infeasible"),
    ("PodResizePending", "Deferred"),
    ("PodResizeInProgress", ""),
    ("PodResizeInProgress", "Error"),
)


def sizes(world: World) -> None:
    for pod in world.row["pods"]:
        if world.chance(0.7):
            _ask(world, pod, small=True)
            if world.chance(0.3):
                _resize(world, pod)
    _ask(world, world.pod, small=False)
    for node in world.row["nodes"]:
        if world.chance(0.5):
            node["status"]["allocatable"]["ephemeral-storage"] = "10Gi"
        if world.chance(0.4):
            node["status"]["allocatable"]["example.com/foo"] = world.random.choice(("0", "1", "3"))
        if world.chance(0.3):
            node["status"]["allocatable"]["hugepages-2Mi"] = "8Mi"


def _amounts(world: World, small: bool) -> Json:
    random = world.random
    found: Json = {}
    if world.chance(0.8):
        found["cpu"] = random.choice(("100m", "500m", "1", "1500m") if small else ("500m", "1", "2", "3500m", "5"))
    if world.chance(0.6):
        found["memory"] = random.choice(("256Mi", "1Gi", "1500M") if small else ("1Gi", "3G", "6Gi", "9Gi"))
    if world.chance(0.15):
        found["ephemeral-storage"] = random.choice(("1Gi", "6Gi"))
    if world.chance(0.15):
        found["example.com/foo"] = random.choice(("1", "2"))
    if world.chance(0.1):
        found["hugepages-2Mi"] = random.choice(("2Mi", "6Mi"))
    return found


def _container(world: World, name: str, small: bool) -> Json:
    return {"name": name, "resources": {"requests": _amounts(world, small)}}


def _ask(world: World, pod: Json, small: bool) -> None:
    random = world.random
    spec = pod["spec"]
    spec["containers"] = [
        {"name": f"c{number}", "resources": {"requests": _amounts(world, small)}} for number in range(random.randint(1, 2))
    ]
    if world.chance(0.4):
        spec["initContainers"] = []
        for number in range(random.randint(1, 3)):
            item = _container(world, f"i{number}", small)
            if world.chance(0.5):
                item["restartPolicy"] = "Always"
            spec["initContainers"].append(item)
    if world.chance(0.15):
        spec["overhead"] = {"cpu": "250m", "memory": "100Mi"}
    if world.chance(0.2):
        spec["resources"] = {"requests": {"cpu": random.choice(("2", "4", "6")), "memory": random.choice(("2Gi", "7Gi"))}}
        if world.chance(0.3):
            del spec["resources"]["requests"][random.choice(("cpu", "memory"))]


def _resize(world: World, pod: Json) -> None:
    """What the kubelet says while it changes a running pod's resources, or can't."""
    random = world.random
    statuses: list[Json] = []
    for container in pod["spec"]["containers"]:
        item: Json = {"name": container["name"], "image": "", "imageID": "", "ready": True, "restartCount": 0}
        if world.chance(0.8):
            item["allocatedResources"] = {"cpu": random.choice(("100m", "1", "2")), "memory": random.choice(("256Mi", "2Gi"))}
        if world.chance(0.7):
            item["resources"] = {"requests": {"cpu": random.choice(("100m", "1", "2")), "memory": random.choice(("256Mi", "2Gi"))}}
        statuses.append(item)
    pod["status"]["containerStatuses"] = statuses
    if world.chance(0.5):
        kind, reason = random.choice(_RESIZES)
        pod["status"]["conditions"] = [{"type": kind, "status": "True", "reason": reason}]
    if "resources" in pod["spec"] and world.chance(0.5):
        pod["status"]["allocatedResources"] = {"cpu": random.choice(("1", "3")), "memory": "1Gi"}
        pod["status"]["resources"] = {"requests": {"cpu": random.choice(("1", "3")), "memory": "1Gi"}}
