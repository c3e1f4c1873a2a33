"""Rows with claims: devices beside every other plugin. What the allocator does in depth has an oracle of its own."""

from __future__ import annotations

from .worlds import ZONE, Json, World

DRIVER = "gpu.example.com"
MODEL = f'device.attributes["{DRIVER}"].model'


def devices(world: World) -> None:
    random = world.random
    for node in world.row["nodes"]:
        if world.chance(0.85):
            _pool(world, node["metadata"]["name"])
    for name in ("gpu", "large"):
        if world.chance(0.97):
            spec: Json = {"selectors": [{"cel": {"expression": f'{MODEL} == "L"'}}]} if name == "large" else {}
            if world.chance(0.3) and name == "gpu":
                spec["extendedResourceName"] = "example.com/gpu"
            world.put("deviceClasses", _of("DeviceClass", {"name": name}, spec))
    namespace = world.pod["metadata"]["namespace"]
    _others(world)
    entries: list[Json] = []
    for name in ("one", "two")[: random.choice((0, 1, 1, 1, 2))]:
        entries.append({"name": name, "resourceClaimName": name})
        if world.chance(0.97):
            _claim(world, namespace, name)
    if entries:
        world.pod["spec"]["resourceClaims"] = entries
        world.pod["spec"]["containers"][0]["resources"] = {"claims": [{"name": entry["name"]} for entry in entries]}
    elif world.chance(0.7):
        world.pod["spec"]["containers"][0]["resources"] = {"requests": {"example.com/gpu": "1"}, "limits": {"example.com/gpu": "1"}}
        for node in world.row["nodes"]:
            if world.chance(0.3):
                node["status"]["allocatable"]["example.com/gpu"] = random.choice(("0", "1", "2"))


def _of(kind: str, metadata: Json, spec: Json) -> Json:
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": metadata, "spec": spec}


def _pool(world: World, node: str) -> None:
    found: list[Json] = []
    for number in range(world.random.randint(1, 3)):
        attributes: Json = {"index": {"int": number}}
        if world.chance(0.97):
            attributes["model"] = {"string": world.random.choice(("S", "L"))}
        found.append({"name": f"gpu-{number}", "attributes": attributes})
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1 if world.chance(0.95) else 2}
    world.put(
        "resourceSlices",
        _of("ResourceSlice", {"name": f"slice-{node}"}, {"driver": DRIVER, "nodeName": node, "pool": pool, "devices": found}),
    )


def _others(world: World) -> None:
    """Devices that other pods hold."""
    for entry in world.row.get("resourceSlices", ()):
        for device in entry["spec"]["devices"]:
            if world.chance(0.35):
                name = f"held-{entry['spec']['nodeName']}-{device['name']}"
                claim = _made(world, "green", name, [_exactly("gpu", 1)])
                claim["status"] = _status(entry["spec"]["nodeName"], [device["name"]], [{"resource": "pods", "name": "x", "uid": "uid-x"}])


def _exactly(device_class: str, count: int, *expressions: str) -> Json:
    found: Json = {"deviceClassName": device_class, "allocationMode": "ExactCount", "count": count}
    if expressions:
        found["selectors"] = [{"cel": {"expression": expression}} for expression in expressions]
    return {"name": "r", "exactly": found}


def _made(world: World, namespace: str, name: str, requests: list[Json]) -> Json:
    metadata = {"name": name, "namespace": namespace, "uid": f"uid-{namespace}-{name}"}
    return world.put("resourceClaims", _of("ResourceClaim", metadata, {"devices": {"requests": requests}}))


def _status(node: str, names: list[str], users: list[Json]) -> Json:
    results = [{"request": "r", "driver": DRIVER, "pool": node, "device": name} for name in names]
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]
    found: Json = {"allocation": {"devices": {"results": results}, "nodeSelector": {"nodeSelectorTerms": terms}}}
    return found | ({"reservedFor": users} if users else {})


def _claim(world: World, namespace: str, name: str) -> None:
    random = world.random
    expressions: tuple[str, ...] = ()
    if world.chance(0.4):
        expressions = (random.choice((f'{MODEL} == "L"', f'{MODEL} == "S"', f'{MODEL} == "XL"', f'device.driver == "{DRIVER}"')),)
    device_class = "absent" if world.chance(0.03) else random.choice(("gpu", "gpu", "large"))
    claim = _made(world, namespace, name, [_exactly(device_class, random.randint(1, 2), *expressions)])
    if world.chance(0.03):
        claim["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        claim["metadata"]["finalizers"] = ["resource.kubernetes.io/delete-protection"]
    if world.chance(0.2):
        node = random.choice(world.row["nodes"])["metadata"]["name"]
        mine = {"resource": "pods", "name": "new", "uid": "uid-new"}
        other = {"resource": "pods", "name": "y", "uid": "uid-y"}
        claim["status"] = _status(node, ["taken"], random.choice(([], [mine], [other], [mine, other])))


def zoned(world: World) -> None:
    """A pod that only some zones suit, so that devices are not the only ones to refuse."""
    if world.chance(0.5):
        world.pod["spec"]["nodeSelector"] = {ZONE: world.random.choice(("east", "west"))}
