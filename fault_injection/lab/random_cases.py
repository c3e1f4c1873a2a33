"""Pods at random for `lab check`: claims of every feature, and what else a pod can ask of a node, each sometimes and mostly possible.

Left out is what changes the cluster for the next pod or that the scheduler waits for: preemption that evicts, provisioning by a driver.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from fault_injection.scenes import Scene, distinct, first_of, on_nodes, request, same, tolerate

from .cases import A10G, A100, CSI, EXTENDED, GPU, H100, L4, LATER, MIG, NIC, NOW, NUMA, POOL, ROOT, SHARED, Case, Hardware, memory, product
from .client import Object

POOLS = "one two three four five six seven".split()
ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
APPS = ("web", "db", "cache")

Add = Callable[[random.Random, Scene, Hardware, Object], None]
"""Adds something to a pod, and objects to the scene."""


def at_random(draw: random.Random) -> Case:
    """A pod of a seed of its own, so that it can be made again."""
    seed = draw.getrandbits(32)
    return Case(f"random {seed}", lambda scene, hardware: _pod(random.Random(seed), scene, hardware))


def _pod(draw: random.Random, scene: Scene, hardware: Hardware) -> Object:
    claims: list[Object] = []
    kind = draw.random()
    if kind < 0.75:
        claims.append(_claim(draw, scene))
    if kind < 0.08:
        claims.append(_claim(draw, scene))
    cpu = draw.choice(["1", "1", "1", "4", "7", "100", "191"])
    resources = {EXTENDED: draw.choice(["1", "2", "5", "9"])} if kind > 0.88 else None
    pod = scene.pod(*claims, cpu=cpu, resources=resources, labels={"app": draw.choice(APPS)} if draw.random() < 0.5 else None)
    for chance, add in ADDITIONS:
        if draw.random() < chance:
            add(draw, scene, hardware, pod)
    return pod


# --- claims -------------------------------------------------------------------------------------------------------------------------


def _claim(draw: random.Random, scene: Scene) -> Object:
    requests = [_request(draw, "a")]
    if draw.random() < 0.3:
        requests.append(_request(draw, "b"))
    if draw.random() < 0.15:
        requests[0] = first_of(*(_exact(draw, name) for name in ("x", "y", "z")[: draw.choice([2, 3])]), name="a")
    constraints: list[Object] = []
    if draw.random() < 0.4:
        shape = distinct if draw.random() < 0.2 else same
        named = ["a"] if draw.random() < 0.3 else []
        attribute = draw.choice([NUMA, NUMA, ROOT, ROOT, f"{GPU}/productName", f"{GPU}/parentUUID"])
        constraints.append(shape(attribute, *named))
    make = scene.template if draw.random() < 0.2 else scene.claim
    return make(*requests, constraints=constraints)


def _request(draw: random.Random, name: str) -> Object:
    if draw.random() < 0.12:
        amount = draw.choice([None, "1G", "9500M", "30G", "50G"])
        return request(SHARED, draw.choice([1, 1, 2]), name=name, capacity={"bandwidth": amount} if amount else None)
    return _exact(draw, name)


def _exact(draw: random.Random, name: str) -> Object:
    kind = draw.choice([GPU, GPU, GPU, MIG, NIC])
    selectors: list[str] = []
    if kind == GPU and draw.random() < 0.6:
        wanted = [*(product(of) for of in (H100, L4, A100, A10G)), memory(">=", draw.choice(["20Gi", "79Gi", "80Gi"]))]
        selectors.append(draw.choice(wanted))
    if kind == MIG:
        selectors.append(f"device.attributes['{GPU}'].profile == '{draw.choice(['1g.10gb', '2g.20gb', '3g.40gb', '7g.80gb'])}'")
    if kind != NIC and draw.random() < 0.1:
        selectors.append(f"device.attributes['{NUMA.partition('/')[0]}'].numaNode == {draw.randrange(2)}")
    if kind == GPU and draw.random() < 0.05:
        selectors.append(f"device.attributes['{GPU}'].{draw.choice(['index', 'productname'])} == 'x'")
    count = None if draw.random() < 0.08 else draw.choice([1, 1, 2, 2, 4, 5, 8])
    tolerations = [tolerate("gpu.nvidia.com/xid")] if draw.random() < 0.3 else []
    return request(kind, count, *selectors, name=name, tolerations=tolerations)


# --- what else a pod asks ---------------------------------------------------------------------------------------------------------------


def _selector(draw: random.Random, scene: Scene, hardware: Hardware, pod: Object) -> None:
    pod["spec"]["nodeSelector"] = draw.choice([{POOL: draw.choice(POOLS)}, {POOL: draw.choice(POOLS)}, {ZONE: draw.choice("abz")}])


def _affinity(draw: random.Random, scene: Scene, hardware: Hardware, pod: Object) -> None:
    term = on_nodes((POOL, draw.choice(["In", "NotIn"]), draw.sample(POOLS, 2)))
    pod["spec"].setdefault("affinity", {}).update(term)


def _tolerations(draw: random.Random, scene: Scene, hardware: Hardware, pod: Object) -> None:
    pod["spec"]["tolerations"] = [tolerate(draw.choice(["team.example.com/name", "node.kubernetes.io/unschedulable", ""]))]


def _port(draw: random.Random, scene: Scene, hardware: Hardware, pod: Object) -> None:
    port: Object = {"containerPort": 8080, "hostPort": draw.choice([8080, 8080, 9090])}
    if draw.random() < 0.2:
        port["hostIP"] = "127.0.0.1"
    pod["spec"]["containers"][0]["ports"] = [port]


def _near(draw: random.Random, scene: Scene, hardware: Hardware, pod: Object) -> None:
    kind = draw.choice(["podAffinity", "podAntiAffinity", "podAntiAffinity"])
    term = {"labelSelector": {"matchLabels": {"app": draw.choice(APPS)}}, "topologyKey": draw.choice([ZONE, HOST, POOL, "rack"])}
    pod["spec"].setdefault("affinity", {})[kind] = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}


def _spread(draw: random.Random, scene: Scene, hardware: Hardware, pod: Object) -> None:
    constraint = {
        "maxSkew": draw.choice([1, 1, 2]),
        "topologyKey": draw.choice([ZONE, HOST, POOL, "rack"]),
        "whenUnsatisfiable": draw.choice(["DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"]),
        "labelSelector": {"matchLabels": {"app": draw.choice(APPS)}},
    }
    if draw.random() < 0.3:
        constraint["nodeTaintsPolicy"] = "Honor"
    if draw.random() < 0.2:
        constraint["minDomains"] = draw.choice([2, 3, 9])
    pod["spec"]["topologySpreadConstraints"] = [
        constraint | {"whenUnsatisfiable": "DoNotSchedule"} if "minDomains" in constraint else constraint
    ]


def _priority(draw: random.Random, scene: Scene, hardware: Hardware, pod: Object) -> None:
    pod["spec"]["priorityClassName"] = draw.choice(["low", "polite"])


def _volume(draw: random.Random, scene: Scene, hardware: Hardware, pod: Object) -> None:
    kind = draw.choice(["local", "local", "bound", "bound", "missing", "immediate", "csi"])
    claim = scene.names.word()
    if kind == "local":
        _local_volume(draw, scene, hardware, LATER, draw.choice(["10Gi", "50Gi"]))
        scene.add("v1", "PersistentVolumeClaim", claim, spec=_claim_spec(LATER, draw.choice(["5Gi", "20Gi"])))
    elif kind == "bound":
        volume = _local_volume(draw, scene, hardware, NOW, "10Gi")
        scene.add("v1", "PersistentVolumeClaim", claim, spec={**_claim_spec(NOW, "5Gi"), "volumeName": volume["metadata"]["name"]})
    elif kind == "immediate":
        scene.add("v1", "PersistentVolumeClaim", claim, spec=_claim_spec(NOW, "500Gi"))
    elif kind == "csi":  # more than the driver has room for: it would have to be waited for
        scene.add("v1", "PersistentVolumeClaim", claim, spec=_claim_spec(CSI, "2Ti"))
    pod["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]


def _claim_spec(of: str, storage: str) -> Object:
    return {"storageClassName": of, "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": storage}}}


def _local_volume(draw: random.Random, scene: Scene, hardware: Hardware, of: str, storage: str) -> Object:
    node = draw.choice(_any_node(hardware))["metadata"]
    key, value = draw.choice([(HOST, node["labels"][HOST]), (ZONE, node["labels"][ZONE])])
    expression = {"key": key, "operator": "In", "values": [value]}
    labels = {ZONE: draw.choice("ab")} if draw.random() < 0.3 else None
    spec = {
        "storageClassName": of,
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": storage},
        "persistentVolumeReclaimPolicy": "Retain",
        "local": {"path": "/data"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}},
    }
    return scene.add("v1", "PersistentVolume", scene.names.word(), namespaced=False, labels=labels, spec=spec)


def _any_node(hardware: Hardware) -> Sequence[Object]:
    return [*hardware.big, *hardware.small, *hardware.reserved, *hardware.full, *hardware.sick, *hardware.divisible, *hardware.plain]


ADDITIONS: tuple[tuple[float, Add], ...] = (
    (0.25, _selector),
    (0.15, _affinity),
    (0.3, _tolerations),
    (0.12, _port),
    (0.2, _near),
    (0.2, _spread),
    (0.15, _priority),
    (0.2, _volume),
)
"""How often a pod has each."""
