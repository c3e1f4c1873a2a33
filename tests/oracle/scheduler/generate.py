"""Random rows for the filter oracle: small clusters and one pod, made to provoke one plugin, or all of them at once.

What the API server would default or merge is filled in here, as the scheduler never sees it otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from .devices import devices, zoned
from .ranks import names, ranks, settle
from .sizes import sizes
from .worlds import CLASSES, CSI, HOST, NAMESPACES, OLD_ZONE, RACK, REGION, ZONE, Json, Row, World


def node_basics(world: World) -> None:
    """Taints, cordons, selectors, resources: the plugins in front."""
    random = world.random
    for node in world.row["nodes"]:
        if world.chance(0.2):
            effect = random.choice(("NoSchedule", "NoExecute", "PreferNoSchedule"))
            node["spec"]["taints"] = [{"key": "gone", "value": random.choice(("a", "b")), "effect": effect}]
        if world.chance(0.1):
            node["spec"]["unschedulable"] = True
        if world.chance(0.1):
            node["status"]["allocatable"]["pods"] = str(random.randint(0, 3))
    if world.chance(0.3):
        world.pod["spec"]["nodeSelector"] = {ZONE: random.choice(("east", "west"))}
    if world.chance(0.3):
        world.pod["spec"]["tolerations"] = [{"key": "gone", "operator": "Equal", "value": "a"}]
    if world.chance(0.3):
        wanted = {"cpu": random.choice(("1", "3", "5")), "memory": random.choice(("1Gi", "9Gi"))}
        world.pod["spec"]["containers"][0]["resources"] = {"requests": wanted}
    for pod in world.row["pods"]:
        if world.chance(0.2):
            pod["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "2"}}


def ports(world: World) -> None:
    random = world.random

    def some() -> list[Json]:
        found: list[Json] = []
        for _ in range(random.randint(0, 2)):
            port: Json = {"containerPort": 80, "protocol": random.choice(("TCP", "TCP", "UDP"))}
            if world.chance(0.8):
                port["hostPort"] = random.choice((80, 443))
            if world.chance(0.5):
                port["hostIP"] = random.choice(("0.0.0.0", "10.0.0.1", "10.0.0.2", "::"))
            found.append(port)
        return found

    for pod in (*world.row["pods"], world.pod):
        pod["spec"]["containers"][0]["ports"] = some()
        if world.chance(0.3):
            init: Json = {"name": "init", "ports": some()}
            if world.chance(0.5):
                init["restartPolicy"] = "Always"
            pod["spec"]["initContainers"] = [init]


def affinity(world: World) -> None:
    random = world.random

    def term(pod: Json) -> Json:
        found: Json = {"topologyKey": random.choice((ZONE, HOST, HOST, RACK))}
        selector = world.selector()
        if selector is not None:
            if world.chance(0.2) and "tier" in pod["metadata"]["labels"] and "tier" not in selector.get("matchLabels", {}):
                # As the API server stores (mis)matchLabelKeys.
                key, operator = random.choice((("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")))
                found[key] = ["tier"]
                merged = {"key": "tier", "operator": operator, "values": [pod["metadata"]["labels"]["tier"]]}
                selector = {**selector, "matchExpressions": [*selector.get("matchExpressions", []), merged]}
            found["labelSelector"] = selector
        if world.chance(0.3):
            found["namespaces"] = random.sample(NAMESPACES, random.randint(1, 2))
        if world.chance(0.3):
            found["namespaceSelector"] = random.choice(
                ({}, {"matchLabels": {"team": "one"}}, {"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]})
            )
        return found

    for pod in (*world.row["pods"], world.pod):
        new = pod is world.pod
        chosen: Json = {}
        for kind, share in (("podAffinity", 0.5 if new else 0.1), ("podAntiAffinity", 0.4 if new else 0.3)):
            if world.chance(share):
                terms = [term(pod) for _ in range(random.randint(1, 2))]
                chosen[kind] = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
        if chosen:
            pod["spec"]["affinity"] = chosen


def spread(world: World) -> None:
    random = world.random
    constraints: list[Json] = []
    for number in range(random.randint(0, 12)):
        pod = world.new_pod(f"same-{number}")
        pod["metadata"]["namespace"] = world.pod["metadata"]["namespace"]
        pod["metadata"]["labels"] = dict(world.pod["metadata"]["labels"])
        pod["spec"]["nodeName"] = random.choice(world.row["nodes"])["metadata"]["name"]
        pod["status"] = {"phase": "Running"}
        world.row["pods"].append(pod)
    for key in random.sample((ZONE, ZONE, HOST, HOST, RACK), 1 if world.chance(0.7) else 2):
        found: Json = {
            "maxSkew": random.randint(1, 2),
            "topologyKey": key,
            "whenUnsatisfiable": "DoNotSchedule" if world.chance(0.9) else "ScheduleAnyway",
        }
        selector = world.selector()
        if selector is not None:
            found["labelSelector"] = selector
        if world.chance(0.3) and found["whenUnsatisfiable"] == "DoNotSchedule":
            found["minDomains"] = random.randint(1, 4)
        if world.chance(0.4):
            found["nodeAffinityPolicy"] = random.choice(("Honor", "Ignore"))
        if world.chance(0.4):
            found["nodeTaintsPolicy"] = random.choice(("Honor", "Ignore"))
        if world.chance(0.3) and selector is not None:
            found["matchLabelKeys"] = random.sample(("tier", "app", "none"), random.randint(1, 2))
        constraints.append(found)
    world.pod["spec"]["topologySpreadConstraints"] = constraints
    for node in world.row["nodes"]:
        if world.chance(0.3):
            node["spec"]["taints"] = [
                {"key": "gone", "value": random.choice(("a", "b")), "effect": random.choice(("NoSchedule", "NoExecute"))}
            ]
    if world.chance(0.5):
        world.pod["spec"]["tolerations"] = [{"key": "gone", "operator": "Exists"}]
    if world.chance(0.4):
        required = [{"matchExpressions": [{"key": ZONE, "operator": random.choice(("Exists", "DoesNotExist"))}]}]
        world.pod["spec"].setdefault("affinity", {})["nodeAffinity"] = {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": required}
        }
    elif world.chance(0.3):
        world.pod["spec"]["nodeSelector"] = {ZONE: random.choice(("east", "west"))}


def restrictions(world: World) -> None:
    random = world.random
    for namespace in NAMESPACES:
        for name in ("data", "cache"):
            if world.chance(0.9):
                _claim(world, namespace, name, bound=f"pv-{namespace}-{name}", modes=[random.choice(("ReadWriteOncePod", "ReadWriteOnce"))])
                _volume(world, f"pv-{namespace}-{name}", plain=True)
    for pod in (*world.row["pods"], world.pod):
        for number in range(random.randint(0, 2)):
            _add(pod, f"v{number}", _disk(world) if world.chance(0.6) else _of_claim(random.choice(("data", "cache"))))


def _disk(world: World) -> Json:
    random = world.random
    name, mode = random.choice(("d1", "d2")), {"readOnly": world.chance(0.5)}
    return random.choice(
        (
            {"gcePersistentDisk": {"pdName": name, **mode}},
            {"awsElasticBlockStore": {"volumeID": name, **mode}},
            {"iscsi": {"iqn": name, "targetPortal": "10.0.0.1", "lun": 0, **mode}},
            {"rbd": {"monitors": random.sample(("m1", "m2", "m3"), 2), "pool": random.choice(("rbd", "p")), "image": name, **mode}},
            {"emptyDir": {}},
        )
    )


def binding(world: World) -> None:
    """Claims in every state, volumes with node affinity, classes with topologies, storage capacity."""
    random = world.random
    _classes(world)
    sizes = list(range(1, 40))
    random.shuffle(sizes)
    for number in range(random.randint(0, 6)):
        volume = _volume(world, f"pv-{number}", size=sizes.pop())
        volume["spec"]["storageClassName"] = random.choice(CLASSES)
    names = ["data", "cache", "logs"][: random.randint(1, 3)]
    namespace = world.pod["metadata"]["namespace"]
    for name in names:
        state = random.choice(("bound", "waiting", "waiting", "waiting", "waiting"))
        if world.chance(0.06):
            state = random.choice(("missing", "lost", "deleted", "prebound", "gone"))
        if state == "missing":
            continue
        claim = _claim(world, namespace, name, size=sizes.pop())
        claim["spec"]["storageClassName"] = random.choice(CLASSES if world.chance(0.1) else CLASSES[:3])
        if state == "lost":
            claim["status"]["phase"] = "Lost"
            claim["spec"]["volumeName"] = "pv-lost"
        elif state == "deleted":
            claim["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        elif state == "prebound":
            claim["spec"]["volumeName"] = "pv-0"
        elif state in ("bound", "gone"):
            claim["spec"]["volumeName"] = f"pv-of-{name}"
            claim["metadata"]["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
            if state == "bound":
                _volume(world, f"pv-of-{name}")["status"]["phase"] = "Bound"
        else:
            if world.chance(0.15):
                claim["metadata"]["annotations"] = {
                    "volume.kubernetes.io/selected-node": random.choice(world.row["nodes"])["metadata"]["name"]
                }
            if world.chance(0.2):
                claim["spec"]["selector"] = {"matchLabels": {"kind": random.choice(("x", "y"))}}
            if world.chance(0.15):
                claim["spec"]["volumeMode"] = "Block"
            if world.chance(0.1):
                claim["spec"]["volumeAttributesClassName"] = "gold"
            if world.chance(0.15) and "persistentVolumes" in world.row:
                meant = random.choice(world.row["persistentVolumes"])
                meant["spec"]["claimRef"] = {"namespace": namespace, "name": name} | ({"uid": "other"} if world.chance(0.3) else {})
    for name in names:
        _add(world.pod, name, _of_claim(name))
    if world.chance(0.2):
        if world.chance(0.7):
            claim = _claim(world, namespace, "new-scratch", size=sizes.pop())
            claim["spec"]["storageClassName"] = random.choice(CLASSES[:3])
            if world.chance(0.9):
                owner = {"apiVersion": "v1", "kind": "Pod", "name": "new", "uid": "uid-new", "controller": True}
                claim["metadata"]["ownerReferences"] = [owner]
        _add(world.pod, "scratch", {"ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {}}}}})


def _classes(world: World) -> None:
    random = world.random
    for name, provisioner, mode in (
        ("fast", CSI, "WaitForFirstConsumer"),
        ("slow", "other.example.com", "WaitForFirstConsumer"),
        ("local", "kubernetes.io/no-provisioner", "WaitForFirstConsumer"),
        ("now", CSI, "Immediate"),
    ):
        if world.chance(0.03):
            continue
        item: Json = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name}, "provisioner": provisioner}
        item["volumeBindingMode"] = mode
        if world.chance(0.3):
            item["allowedTopologies"] = [
                {"matchLabelExpressions": [{"key": ZONE, "values": random.sample(("east", "north", "west"), 2)}]}
                for _ in range(random.randint(1, 2))
            ]
        world.put("storageClasses", item)
    for driver in (CSI, "other.example.com"):
        if world.chance(0.7):
            world.put(
                "csiDrivers",
                {
                    "apiVersion": "storage.k8s.io/v1",
                    "kind": "CSIDriver",
                    "metadata": {"name": driver},
                    "spec": {"storageCapacity": world.chance(0.7)},
                },
            )
    for number in range(random.randint(0, 4)):
        item = {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "CSIStorageCapacity",
            "metadata": {"name": f"room-{number}", "namespace": "kube-system"},
            "storageClassName": random.choice(("fast", "slow")),
            "capacity": f"{random.choice((5, 20, 50))}Gi",
        }
        if world.chance(0.3):
            item["maximumVolumeSize"] = f"{random.choice((2, 30))}Gi"
        if world.chance(0.9):
            item["nodeTopology"] = {"matchLabels": {ZONE: random.choice(("east", "north", "west"))}} if world.chance(0.8) else {}
        world.put("csiStorageCapacities", item)


def zones(world: World) -> None:
    random = world.random
    namespace = world.pod["metadata"]["namespace"]
    for name in ("data", "cache")[: random.randint(1, 2)]:
        _claim(world, namespace, name, bound=f"pv-{name}")
        if world.chance(0.95):
            labels: dict[str, str] = {}
            for key, values in (
                (ZONE, ("east", "north", "west__north")),
                (REGION, ("here", "there")),
                (OLD_ZONE, ("east", "east__", "west")),
            ):
                if world.chance(0.4):
                    labels[key] = random.choice(values)
            _volume(world, f"pv-{name}", plain=True)["metadata"]["labels"] = labels
        _add(world.pod, name, _of_claim(name))


def limits(world: World) -> None:
    random = world.random
    _classes(world)
    for driver in world.row.get("csiDrivers", [])[:1]:  # of several missing drivers the scheduler names any
        if world.chance(0.5):
            driver["spec"]["preventPodSchedulingIfMissing"] = True
    for node in world.row["nodes"]:
        if world.chance(0.8):
            drivers: list[Json] = []
            for name in (CSI, "other.example.com"):
                if world.chance(0.7):
                    drivers.append({"name": name, "nodeID": "x", "topologyKeys": []})
                    if world.chance(0.8):
                        drivers[-1]["allocatable"] = {"count": random.randint(0, 3)}
            item: Json = {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": node["metadata"]["name"]}}
            world.put("csiNodes", {**item, "spec": {"drivers": drivers}})
    for namespace in NAMESPACES:
        for name in ("data", "cache", "logs"):
            if world.chance(0.7):
                handle = random.choice(("h1", "h2", f"h-{namespace}-{name}"))
                _claim(world, namespace, name, bound=f"pv-{namespace}-{name}")
                volume = _volume(world, f"pv-{namespace}-{name}", plain=True)
                del volume["spec"]["nfs"]
                driver = CSI if world.chance(0.7) else "other.example.com"
                volume["spec"]["csi"] = {"driver": driver, "volumeHandle": handle}
            else:
                _claim(world, namespace, name, size=1)["spec"]["storageClassName"] = random.choice(("fast", "slow"))
    for pod in (*world.row["pods"], world.pod):
        for name in random.sample(("data", "cache", "logs"), random.randint(0, 2)):
            _add(pod, name, _of_claim(name))
    for number in range(random.randint(0, 3)):
        world.put(
            "volumeAttachments",
            {
                "apiVersion": "storage.k8s.io/v1",
                "kind": "VolumeAttachment",
                "metadata": {"name": f"va-{number}"},
                "spec": {
                    "attacher": CSI,
                    "nodeName": random.choice(world.row["nodes"])["metadata"]["name"],
                    "source": {"persistentVolumeName": f"pv-{random.choice(NAMESPACES)}-data"},
                },
            },
        )


def features(world: World) -> None:
    """What a kubelet has to declare."""
    random = world.random
    known = ("RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport", "VolumeBindMountOptions", "Other")
    for node in world.row["nodes"]:
        if world.chance(0.8):
            node["status"]["declaredFeatures"] = sorted(random.sample(known, random.randint(0, 4)))
    spec = world.pod["spec"]
    if world.chance(0.4):
        spec["initContainers"] = [{"name": "init"}]
    container = random.choice((*spec["containers"], *spec.get("initContainers", ())))
    if world.chance(0.4):
        action = random.choice(("Restart", "RestartAllContainers"))
        container["restartPolicyRules"] = [{"action": action, "exitCodes": {"operator": "In", "values": [1]}}]
    if world.chance(0.4):
        container["volumeMounts"] = [{"name": "v", "mountPath": "/v", **({"bindMountOptions": ["noexec"]} if world.chance(0.7) else {})}]
    if world.chance(0.5):
        spec["hostNetwork"] = world.chance(0.8)
    if world.chance(0.5):
        spec["hostUsers"] = world.chance(0.3)


def _add(pod: Json, name: str, source: Json) -> None:
    pod["spec"].setdefault("volumes", []).append({"name": name, **source})


def _of_claim(name: str) -> Json:
    return {"persistentVolumeClaim": {"claimName": name}}


def _claim(world: World, namespace: str, name: str, bound: str = "", size: int = 1, modes: list[str] | None = None) -> Json:
    item: Json = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": namespace, "uid": f"uid-{name}"},
        "spec": {
            "accessModes": modes or ["ReadWriteOnce"],
            "resources": {"requests": {"storage": f"{size}Gi"}},
            "volumeMode": "Filesystem",
        },
        "status": {"phase": "Bound" if bound else "Pending"},
    }
    if bound:
        item["spec"]["volumeName"] = bound
        item["spec"]["storageClassName"] = "any"
        item["metadata"]["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
    return world.put("persistentVolumeClaims", item)


def _volume(world: World, name: str, size: int = 1, plain: bool = False) -> Json:
    random = world.random
    item: Json = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "labels": {"kind": random.choice(("x", "y"))}},
        "spec": {
            "capacity": {"storage": f"{size}Gi"},
            "accessModes": ["ReadWriteOnce"],
            "nfs": {"server": "s", "path": "/"},
            "storageClassName": "any",
            "volumeMode": "Filesystem",
        },
        "status": {"phase": "Available"},
    }
    if not plain:
        if world.chance(0.6):
            key, values = random.choice(((ZONE, ["east"]), (ZONE, ["east", "north"]), (RACK, ["r1"]), (HOST, ["node-0", "node-1"])))
            terms = [{"matchExpressions": [{"key": key, "operator": random.choice(("In", "In", "NotIn")), "values": values}]}]
            item["spec"]["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
        if world.chance(0.1):
            item["status"]["phase"] = "Released"
        if world.chance(0.15):
            item["spec"]["volumeMode"] = "Block"
        if world.chance(0.1):
            item["spec"]["volumeAttributesClassName"] = "gold"
        if world.chance(0.1):
            item["spec"]["accessModes"] = ["ReadWriteMany"]
        if world.chance(0.05):
            item["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return world.put("persistentVolumes", item)


Theme = Callable[[World], None]

THEMES: dict[str, tuple[Theme, ...]] = {
    "NodePorts": (ports,),
    "InterPodAffinity": (affinity,),
    "PodTopologySpread": (spread,),
    "VolumeRestrictions": (restrictions,),
    "VolumeZone": (zones,),
    "VolumeBinding": (binding,),
    "NodeVolumeLimits": (limits,),
    "NodeDeclaredFeatures": (features,),
    "pods": (node_basics, ports, affinity, spread),
    "disks": (node_basics, restrictions, affinity),
    "storage": (node_basics, binding, spread, ports),
    "attached": (node_basics, limits, affinity, spread),
    "zones": (node_basics, zones, affinity),
    "declared": (node_basics, features, affinity, spread),
    "NodeResourcesFit": (sizes,),
    "NodeAffinity": (names,),
    "DynamicResources": (devices,),
    "DefaultPreemption": (ranks,),
    "named": (node_basics, names, spread, affinity),
    "claims": (node_basics, devices, zoned, binding, features),
    "ranked": (ranks, ports, affinity, spread, settle),
    "ranked disks": (ranks, restrictions, limits),
    "ranked claims": (devices, ranks, zoned),
    "ranked sizes": (sizes, ranks, names),
}
"""What a row provokes: one plugin alone, or several together."""


def generate(seed: int, count: int, minor: str = "1.37", themes: tuple[str, ...] = tuple(THEMES)) -> Iterator[Row]:
    """Rows in turn for each theme; the same seed makes the same rows."""
    for number in range(count):
        theme = themes[number % len(themes)]
        world = World(Random(f"{seed} {number} {theme}"))
        for provoke in THEMES[theme]:
            provoke(world)
        yield {"id": f"{seed}-{number}", "theme": theme, **world.row}
