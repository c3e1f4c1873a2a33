"""Rows in which pods outrank each other: full nodes, priorities, budgets, nominated pods. They provoke DefaultPreemption."""

from __future__ import annotations

from .worlds import HOST, ZONE, Json, World

PRIORITIES = (-5, 0, 0, 100, 1000)


def ranks(world: World) -> None:
    random = world.random
    for number in range(random.randint(0, 10)):
        pod = world.new_pod(f"low-{number}")
        pod["spec"]["nodeName"] = random.choice(world.row["nodes"])["metadata"]["name"]
        pod["status"] = {"phase": "Running"}
        world.row["pods"].append(pod)
    for number, pod in enumerate(world.row["pods"]):
        pod["spec"]["priority"] = random.choice(PRIORITIES)
        pod["status"]["startTime"] = f"2026-01-01T00:{number:02d}:00Z"
        if world.chance(0.6):
            pod["spec"]["containers"][0]["resources"] = {"requests": {"cpu": random.choice(("1", "2", "3"))}}
    if world.chance(0.8):
        world.pod["spec"]["containers"][0]["resources"] = {"requests": {"cpu": random.choice(("2", "3", "4", "4", "5"))}}
    world.pod["spec"]["priority"] = random.choice((0, 50, 100, 1000, 2000))
    if world.chance(0.1):
        world.pod["spec"]["preemptionPolicy"] = "Never"
    for node in world.row["nodes"]:
        if world.chance(0.3):
            node["status"]["allocatable"]["pods"] = str(random.randint(0, 3))
    if world.chance(0.5):
        _nominate(world)
    if world.chance(0.4):
        _budgets(world)


def settle(world: World) -> None:
    """No two pods of a node have one host port, as the kubelet would have refused the second."""
    taken: set[tuple[str, int]] = set()
    for pod in world.row["pods"]:
        node = pod["spec"].get("nodeName")
        own = {(node, port["hostPort"]) for ports in _ports(pod) for port in ports if "hostPort" in port} if node else set()
        if own & taken:
            for ports in _ports(pod):
                ports.clear()
        taken |= own


def _ports(pod: Json) -> list[list[Json]]:
    return [entry["ports"] for kind in ("containers", "initContainers") for entry in pod["spec"].get(kind, ()) if "ports" in entry]


def _nominate(world: World) -> None:
    """Pods that wait for a node of theirs, and maybe the new one with its victims still there."""
    random = world.random
    for number in range(random.randint(0, 4)):
        pod = world.new_pod(f"next-{number}")
        pod["spec"]["priority"] = random.choice(PRIORITIES)
        pod["status"] = {"phase": "Pending", "nominatedNodeName": random.choice(world.row["nodes"])["metadata"]["name"]}
        if world.chance(0.7):
            pod["spec"]["containers"][0]["resources"] = {"requests": {"cpu": random.choice(("1", "2"))}}
        if world.chance(0.2):
            pod["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}]
        if world.chance(0.2):
            term = {"topologyKey": random.choice((ZONE, HOST)), "labelSelector": world.selector()}
            pod["spec"]["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        world.row["pods"].append(pod)
    if world.chance(0.3):
        world.pod["status"] = {"phase": "Pending", "nominatedNodeName": random.choice(world.row["nodes"])["metadata"]["name"]}
        for pod in world.row["pods"]:
            if world.chance(0.2) and "nodeName" in pod["spec"]:
                pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
                pod["metadata"]["finalizers"] = ["example.com/wait"]
                reason = random.choice(("PreemptionByScheduler", "PreemptionByScheduler", "EvictionByEvictionAPI"))
                pod["status"]["conditions"] = [{"type": "DisruptionTarget", "status": "True", "reason": reason}]


def _budgets(world: World) -> None:
    random = world.random
    # One at most a namespace: where several cover a pod, the order in which the scheduler reads them isn't defined.
    for namespace in random.sample(("blue", "green", "red"), random.randint(1, 3)):
        status: Json = {"disruptionsAllowed": random.randint(0, 2), "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1}
        names = [pod["metadata"]["name"] for pod in world.row["pods"] if pod["metadata"]["namespace"] == namespace]
        if names and world.chance(0.2):
            status["disruptedPods"] = {random.choice(names): "2026-01-01T00:00:00Z"}
        selector = world.selector()
        world.put(
            "podDisruptionBudgets",
            {
                "apiVersion": "policy/v1",
                "kind": "PodDisruptionBudget",
                "metadata": {"name": "budget", "namespace": namespace},
                "spec": {} if selector is None else {"selector": selector},
                "status": status,
            },
        )


def names(world: World) -> None:
    """Affinity that names nodes, as DaemonSets have it."""
    random = world.random
    known = [node["metadata"]["name"] for node in world.row["nodes"]]
    terms: list[Json] = []
    for _ in range(random.choice((1, 1, 1, 2))):
        term: Json = {}
        if world.chance(0.9):
            fields = [
                {"key": "metadata.name", "operator": "In" if world.chance(0.9) else "NotIn", "values": [random.choice((*known, "gone"))]}
                for _ in range(1 if world.chance(0.85) else 2)
            ]
            term["matchFields"] = fields
        if world.chance(0.3):
            term["matchExpressions"] = [{"key": ZONE, "operator": random.choice(("Exists", "DoesNotExist"))}]
        terms.append(term)
    affinity = world.pod["spec"].setdefault("affinity", {})
    affinity["nodeAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
