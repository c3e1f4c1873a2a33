"""A row of the filter oracle in the making: a few nodes, pods that run there, and the pod that is to be placed.

Names and values come from small sets, so that things meet.
"""

from __future__ import annotations

from random import Random
from typing import Any

Json = dict[str, Any]
Row = dict[str, Any]

ZONE, REGION, HOST, RACK = "topology.kubernetes.io/zone", "topology.kubernetes.io/region", "kubernetes.io/hostname", "example.com/rack"
OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"
NAMESPACES = ("blue", "green", "red")
APPS = ("ant", "bee", "cat")
CLASSES = ("fast", "slow", "local", "now")
CSI = "disk.example.com"


class World:
    """One row in the making."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.row: Row = {
            "nodes": [self._node(number) for number in range(random.randint(1, 8))],
            "pods": [],
            "namespaces": [self._namespace(name) for name in NAMESPACES if random.random() < 0.9],
        }
        for number in range(random.randint(0, 12)):
            pod = self.new_pod(f"old-{number}")
            pod["spec"]["nodeName"] = random.choice(self.row["nodes"])["metadata"]["name"]
            pod["status"] = {"phase": "Running"}
            if random.random() < 0.1:
                pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
                pod["metadata"]["finalizers"] = ["example.com/wait"]
            self.row["pods"].append(pod)
        self.pod = self.row["pod"] = self.new_pod("new")

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def put(self, kind: str, item: Json) -> Json:
        self.row.setdefault(kind, []).append(item)
        return item

    def _node(self, number: int) -> Json:
        random = self.random
        labels: dict[str, str] = {}
        for key, values, share in (
            (ZONE, ("east", "north", "west"), 0.8),
            (REGION, ("here", "there"), 0.6),
            (RACK, ("r1", "r2"), 0.5),
            (OLD_ZONE, ("east", "north"), 0.15),
            (HOST, (f"node-{number}",), 0.9),
        ):
            if random.random() < share:
                labels[key] = random.choice(values)
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"node-{number}", "labels": labels},
            "spec": {},
            "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "30"}},
        }

    def _namespace(self, name: str) -> Json:
        labels = {"team": self.random.choice(("one", "two"))} if self.chance(0.7) else {}
        return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}

    def labels(self) -> dict[str, str]:
        found = {"app": self.random.choice(APPS)} if self.chance(0.9) else {}
        return found | ({"tier": self.random.choice(("1", "2"))} if self.chance(0.5) else {})

    def new_pod(self, name: str) -> Json:
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": name,
                "namespace": self.random.choice(NAMESPACES),
                "uid": f"uid-{name}",
                "creationTimestamp": "2026-01-01T00:00:00Z",
                "labels": self.labels(),
            },
            "spec": {"containers": [{"name": "main"}]},
        }

    def selector(self) -> Json | None:
        random = self.random
        kind = random.randrange(8)
        if kind == 0:
            return None
        if kind == 1:
            return {}
        if kind < 5:
            return {"matchLabels": {"app": random.choice(APPS)}}
        operator = random.choice(("In", "NotIn", "Exists", "DoesNotExist"))
        values = {"values": random.sample(APPS, random.randint(1, 2))} if operator in ("In", "NotIn") else {}
        found: Json = {"matchExpressions": [{"key": "app", "operator": operator, **values}]}
        if kind == 7:
            found["matchLabels"] = {"tier": random.choice(("1", "2"))}
        return found
