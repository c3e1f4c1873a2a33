"""Random nodes to come with what is asked of them: rows for Karpenter's allocator (`client`). API JSON, no use of `src`.

Left out is what Karpenter's allocator lacks: taints, adminAccess, distinctAttribute, devices with counters that also are shared. A claim
with alternatives, which it refuses, comes now and then.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]
NODE = "node-to-come"
GPU, NIC, FABRIC = "gpu.example.com", "nic.example.com", "fabric.example.com"
ROOT, NUMA = "resource.kubernetes.io/pcieRoot", "resource.kubernetes.io/numaNode"
DEEP = 250
"""One row in so many is a search that Karpenter doesn't end."""

CLASSES = [
    *(
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "DeviceClass",
            "metadata": {"name": driver.partition(".")[0]},
            "spec": {"selectors": [{"cel": {"expression": f'device.driver == "{driver}"'}}]},
        }
        for driver in (GPU, NIC, FABRIC)
    ),
    {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "any"}, "spec": {}},
]

PLAIN = (
    f'has(device.attributes["{GPU}"].model) && device.attributes["{GPU}"].model == "large"',
    f'has(device.capacity["{GPU}"].memory) && device.capacity["{GPU}"].memory.compareTo(quantity("60Gi")) >= 0',
    f'device.driver != "{NIC}"',
    f'device.driver == "{NIC}" || device.driver == "{FABRIC}"',
)
READING = (
    'has(device.attributes["resource.kubernetes.io"].pcieRoot)',
    '!has(device.attributes["resource.kubernetes.io"].pcieRoot)',
    'has(device.attributes["resource.kubernetes.io"].pcieRoot) && device.attributes["resource.kubernetes.io"].pcieRoot == "pci0"',
)
FAILING = (f'device.attributes["{GPU}"].model == "large"', f'device.attributes["{GPU}"].generation > 3')


def rows(seed: int) -> Iterator[Json]:
    """Rows without end, the same for the same seed."""
    number = 0
    while True:
        yield row(seed, number)
        number += 1


def row(seed: int, number: int) -> Json:
    """One of them alone."""
    rng = random.Random(f"karpenter {seed} {number}")
    if number % DEEP == DEEP // 2:
        return _deep(rng, f"{seed}-{number}")
    made = _Row(rng)
    made.template()
    if rng.random() < 0.5:
        made.cluster()
    made.ask()
    return made.json(f"{seed}-{number}")


def _deep(rng: random.Random, name: str) -> Json:
    """One device fewer than is asked, and all of them in one binding."""
    made = _Row(rng)
    devices = [{"name": f"gpu-{place}"} for place in range(rng.randint(11, 13))]
    made.template_slices = [_slice(GPU, NODE, devices, nodeName=NODE)]
    made.bindings = [{"attribute": ROOT, "devices": [_id(GPU, NODE, device) for device in devices]}]
    asked = {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": len(devices) + 1}
    made.claims = [_claim("c0", [{"name": "r0", "exactly": asked}], [{"matchAttribute": ROOT}])]
    return made.json(name)


class _Row:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.template_slices: list[Json] = []
        self.bindings: list[Json] = []
        self.slices: list[Json] = []
        self.held: list[Json] = []
        self.allocated: list[Json] = []
        self.consumed: list[Json] = []
        self.claims: list[Json] = []
        self.shares = rng.random() < 0.3
        self.reads = rng.random() < 0.12
        self.fails = rng.random() < 0.08
        self.counted = False

    def json(self, name: str) -> Json:
        return {
            "id": name,
            "labels": {"zone": "east", "kubernetes.io/hostname": NODE},
            "template": self.template_slices,
            "bindings": self.bindings,
            "slices": self.slices,
            "held": self.held,
            "allocated": self.allocated,
            "consumed": self.consumed,
            "classes": CLASSES,
            "claims": self.claims,
        }

    # --- the node ---

    def template(self) -> None:
        rng = self.rng
        gpus = [self._device("gpu", place) for place in range(rng.randint(1, 5))]
        nics = [{"name": f"nic-{place}", "attributes": {NUMA: {"int": place % 2}}} for place in range(rng.choice([0, 1, 2, 3]))]
        if rng.random() < 0.3:
            counters = self._partitioned(gpus)
            self.template_slices.append(_slice(GPU, NODE, [], nodeName=NODE, count=2, suffix="counters", sharedCounters=counters))
            self.template_slices.append(_slice(GPU, NODE, gpus, nodeName=NODE, count=2))
        else:
            self.template_slices.append(_slice(GPU, NODE, gpus, nodeName=NODE))
        if nics:
            self.template_slices.append(_slice(NIC, NODE, nics, nodeName=NODE))
        if rng.random() < 0.75:
            self._bind([(GPU, device) for device in gpus] + [(NIC, device) for device in nics])

    def _bind(self, devices: list[tuple[str, Json]]) -> None:
        """Devices get roots; of most it is only said who shares one."""
        rng = self.rng
        roots = rng.choice([1, 2, 2, 3])
        groups: list[list[Json]] = [[] for _ in range(roots)]
        for driver, device in devices:
            root = rng.randrange(roots)
            if rng.random() < 0.12:
                device.setdefault("attributes", {})[ROOT] = {"string": f"pci{root}"}
                if rng.random() < 0.6:
                    continue
            elif rng.random() < 0.08:
                continue
            groups[root].append(_id(driver, NODE, device))
        for group in groups:
            if len(group) > 2 and rng.random() < 0.3:
                middle = rng.randint(1, len(group) - 1)
                self.bindings += [{"attribute": ROOT, "devices": part} for part in (group[: middle + 1], group[middle:])]
            elif group:
                self.bindings.append({"attribute": ROOT, "devices": group})

    def _device(self, kind: str, place: int) -> Json:
        rng = self.rng
        device: Json = {"name": f"{kind}-{place}", "attributes": {}, "capacity": {}}
        if rng.random() < 0.9:
            device["attributes"]["model"] = {"string": rng.choice(["large", "large", "small"])}
        if rng.random() < 0.7:
            device["attributes"][NUMA] = {"int": rng.randrange(2)}
        memory: Json = {"value": rng.choice(["40Gi", "80Gi", "80Gi"])}
        if self.shares and rng.random() < 0.7:
            device["allowMultipleAllocations"] = True
            if rng.random() < 0.5:
                memory["requestPolicy"] = rng.choice(
                    [
                        {"default": "10Gi", "validRange": {"min": "10Gi", "step": "10Gi"}},
                        {"default": "20Gi", "validValues": ["20Gi", "40Gi"]},
                    ]
                )
        device["capacity"]["memory"] = memory
        return device

    def _partitioned(self, devices: list[Json]) -> list[Json]:
        """Devices draw from two sets of counters, each alone or several together."""
        rng = self.rng
        sets = [{"name": f"card-{place}", "counters": {"memory": {"value": "40"}, "engines": {"value": "4"}}} for place in range(2)]
        whole = rng.random() < 0.3
        for place, device in enumerate(devices):
            device.pop("allowMultipleAllocations", None)
            device["capacity"]["memory"].pop("requestPolicy", None)
            share = (40, 4) if whole else rng.choice([(10, 1), (20, 2), (40, 4), (20, 1)])
            device["consumesCounters"] = [
                {
                    "counterSet": (sets[place % 2] if whole else rng.choice(sets))["name"],
                    "counters": {"memory": {"value": str(share[0])}, "engines": {"value": str(share[1])}},
                }
            ]
        return sets

    # --- what is there already ---

    def cluster(self) -> None:
        rng = self.rng
        for place in range(rng.choice([1, 1, 2])):
            pool = f"fabric-{place}"
            devices = [self._device("port", number) for number in range(rng.randint(1, 4))]
            where = rng.choice(
                [{"allNodes": True}, {"allNodes": True}, _zone("east"), _zone("east"), _zone("west"), {"nodeName": "another-node"}]
            )
            if rng.random() < 0.45 and "nodeName" not in where:
                counters = self._partitioned(devices)
                self.counted = True
                self.slices.append(_slice(FABRIC, pool, [], count=2, suffix="counters", sharedCounters=counters, **where))
                self.slices.append(_slice(FABRIC, pool, devices, count=2, **where))
            else:
                missing = rng.random() < 0.08
                self.slices.append(_slice(FABRIC, pool, devices, count=2 if missing else 1, **where))
            if rng.random() < 0.2:
                self.slices.append(_slice(FABRIC, pool, [{"name": "port-old"}], suffix="old", generation=0, **where))
            for device in devices:
                if rng.random() < 0.2:
                    self._hold(pool, device)

    def _hold(self, pool: str, device: Json) -> None:
        result: Json = {"request": "r", **_id(FABRIC, pool, device)}
        if device.get("allowMultipleAllocations"):
            share = {"memory": self.rng.choice(["10Gi", "20Gi"])}
            result |= {"shareID": f"{len(self.held):08d}-0000-0000-0000-000000000000", "consumedCapacity": share}
            self.consumed.append({**_id(FABRIC, pool, device), "capacity": share})
        else:
            self.allocated.append(_id(FABRIC, pool, device))
        held = _claim(f"held-{len(self.held)}", [{"name": "r", "exactly": {"deviceClassName": "any", "allocationMode": "All"}}], [])
        held["status"] = {"allocation": {"devices": {"results": [result]}}}
        self.held.append(held)

    # --- what is asked ---

    def ask(self) -> None:
        rng = self.rng
        if self.counted and rng.random() < 0.3:  # several partitions, and nothing else
            exactly = {"deviceClassName": "fabric", "allocationMode": "ExactCount", "count": rng.choice([2, 2, 3])}
            self.claims.append(_claim("c0", [{"name": "r0", "exactly": exactly}], []))
            return
        for number in range(rng.choice([1, 1, 1, 2])):
            requests = [self._request(place) for place in range(rng.choice([1, 1, 2]))]
            constraints: list[Json] = []
            if rng.random() < 0.6:
                attribute = ROOT if self.bindings and rng.random() < 0.8 else NUMA
                constraints.append({"matchAttribute": attribute})
                if rng.random() < 0.25:
                    constraints[0]["requests"] = [requests[0]["name"]]
                if rng.random() < 0.15:
                    constraints.append({"matchAttribute": NUMA})
            self.claims.append(_claim(f"c{number}", requests, constraints))

    def _request(self, place: int) -> Json:
        rng = self.rng
        kind = rng.choice(["gpu", "gpu", "gpu", "nic", "any", *(["fabric"] * 3 if self.slices else [])])
        exactly: Json = {"deviceClassName": kind, "allocationMode": "ExactCount", "count": rng.choice([1, 1, 1, 2, 2, 3])}
        if rng.random() < 0.08:
            exactly = {"deviceClassName": kind, "allocationMode": "All"}
        elif self.shares and rng.random() < 0.6:
            exactly["capacity"] = {"requests": {"memory": rng.choice(["10Gi", "15Gi", "30Gi", "60Gi"])}}
        texts = [rng.choice(PLAIN)] if rng.random() < 0.3 else []
        if self.reads and rng.random() < 0.7:
            texts.append(rng.choice(READING))
        if self.fails and rng.random() < 0.7:
            texts.append(rng.choice(FAILING))
        if texts:
            exactly["selectors"] = [{"cel": {"expression": text}} for text in texts]
        if rng.random() < 0.03:
            return {"name": f"r{place}", "firstAvailable": [{"name": "s0", **exactly}, {"name": "s1", **exactly, "deviceClassName": "any"}]}
        return {"name": f"r{place}", "exactly": exactly}


def _slice(driver: str, pool: str, devices: list[Json], count: int = 1, suffix: str = "devices", generation: int = 1, **more: Any) -> Json:
    spec: Json = {"driver": driver, "pool": {"name": pool, "generation": generation, "resourceSliceCount": count}, **more}
    if devices:
        spec["devices"] = devices
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": f"{pool}-{driver}-{suffix}"}, "spec": spec}


def _zone(zone: str) -> Json:
    return {"nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": [zone]}]}]}}


def _id(driver: str, pool: str, device: Json) -> Json:
    return {"driver": driver, "pool": pool, "device": device["name"]}


def _claim(name: str, requests: list[Json], constraints: list[Json]) -> Json:
    metadata = {"name": name, "namespace": "default", "uid": name}
    devices = {"requests": requests, **({"constraints": constraints} if constraints else {})}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": metadata, "spec": {"devices": devices}}
