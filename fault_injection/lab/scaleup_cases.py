"""Random cases for `lab check-scaleup`: a few nodes that are partly full, one to twelve pods that wait, and a kind of node to add.

Nodes have GPUs with NUMA nodes, cards with partitions that exclude each other, or GPUs of a device plugin; pods ask for these, for cpu and
memory, host ports, to be spread, near or apart, sometimes as a gang. Left out is what changes more than places: preemption, volumes.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from functools import cached_property

from fault_injection.scenes import distinct, on_nodes, same
from k8s_topo_mcp.objects import Node, Pod, ResourceSlice
from k8s_topo_mcp.scaleup.template import NodeTemplate
from k8s_topo_mcp.sources.snapshot import load_text
from k8s_topo_mcp.view import ClusterView

from .client import Object

DRIVER, CLASS, HALF, WHOLE = "gpu.example.com", "gpu", "half-card", "whole-card"
PLUGIN, BACKED = "example.com/gpu", "example.com/dra-gpu"
NUMA = "resource.kubernetes.io/numaNode"
ZONE, HOST, TIER = "topology.kubernetes.io/zone", "kubernetes.io/hostname", "example.com/tier"
NAMESPACE = "default"
NEVER = "waits-politely"
"""A priority class whose pods evict nobody."""
GATES = {"GenericWorkload": True}
PROTOTYPE = "prototype"
RUNS = {"phase": "Running"}


@dataclass(slots=True)
class Shape:
    """A kind of node: `devices` is what its driver publishes."""

    cpu: int
    memory: int
    devices: str = "none"
    count: int = 0
    zone: str = "a"
    tier: str = ""
    plugin: int = 0
    soft_taint: bool = False


@dataclass
class Case:
    """API objects: `shared` are made before the pods, `pods` wait in this order, each with its claims."""

    title: str
    shape: Shape
    daemon: bool
    old: list[Object]
    pods: list[Object] = field(default_factory=list[Object])
    claims: list[Object] = field(default_factory=list[Object])
    groups: list[Object] = field(default_factory=list[Object])

    def new(self, name: str) -> list[Object]:
        """The objects of one new node."""
        return [*node_objects(name, self.shape), *([daemon(name)] if self.daemon else [])]

    @cached_property
    def view(self) -> ClusterView:
        """The cluster before anything is added."""
        return view_of([*CLASSES, *self.old, *self.groups, *self.claims, *self.pods])

    @cached_property
    def template(self) -> NodeTemplate:
        view = view_of([*CLASSES, *self.new(PROTOTYPE)])
        return NodeTemplate("added", view.all(Node)[0], view.all(ResourceSlice), view.all(Pod))

    @property
    def waiting(self) -> tuple[Pod, ...]:
        found = (self.view.get(Pod, pod["metadata"]["name"], NAMESPACE) for pod in self.pods)
        return tuple(pod for pod in found if pod is not None)


def view_of(items: list[Object]) -> ClusterView:
    whole = {"apiVersion": "k8s-topo-mcp/v1", "kind": "SnapshotInfo"}
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [whole, *items]})
    return load_text(text, version="1.37", gates=GATES, as_of="2026-11-01T00:00:00Z", name="a case")


def _class(name: str, *conditions: str, **spec: str) -> Object:
    expression = " && ".join((f"device.driver == '{DRIVER}'", *conditions))
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": {"selectors": [{"cel": {"expression": expression}}], **spec},
    }


def _of_type(name: str) -> str:
    return f"device.attributes['{DRIVER}'].type == '{name}'"


CLASSES = [
    _class(CLASS, _of_type("gpu")),
    _class(HALF, _of_type("half")),
    _class(WHOLE, _of_type("whole")),
    _class("backed", _of_type("gpu"), extendedResourceName=BACKED),
    {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": NEVER},
        "value": 0,
        "preemptionPolicy": "Never",
    },
]


# --- nodes --------------------------------------------------------------------------------------------------------------------------


def node_objects(name: str, shape: Shape) -> list[Object]:
    """A node and its slices."""
    amounts = {"cpu": str(shape.cpu), "memory": f"{shape.memory}Gi", "pods": "20", "ephemeral-storage": "100Gi"}
    if shape.plugin:
        amounts[PLUGIN] = str(shape.plugin)
    labels = {HOST: name, ZONE: shape.zone, **({TIER: shape.tier} if shape.tier else {})}
    ready = [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]
    taints = [{"key": "example.com/dear", "effect": "PreferNoSchedule"}] if shape.soft_taint else []
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {"taints": taints} if taints else {},
        "status": {"allocatable": amounts, "capacity": amounts, "conditions": ready},
    }
    return [node, *_slices(name, shape)]


def _slices(name: str, shape: Shape) -> list[Object]:
    if shape.devices == "gpus":
        devices = [
            _device(f"gpu-{number}", "gpu", {NUMA: {"int": number * 2 // shape.count}, "index": {"int": number}})
            for number in range(shape.count)
        ]
        return [_slice(name, "devices", 1, devices=devices)]
    if shape.devices == "cards":
        counters = [
            {"name": f"card-{card}", "counters": {f"part-{part}": {"value": "1"} for part in (0, 1)}} for card in range(shape.count)
        ]
        devices = []
        for card in range(shape.count):
            for part, (kind, parts) in {"low": ("half", (0,)), "high": ("half", (1,)), "whole": ("whole", (0, 1))}.items():
                use = {"counterSet": f"card-{card}", "counters": {f"part-{number}": {"value": "1"} for number in parts}}
                devices.append({**_device(f"card-{card}-{part}", kind, {"card": {"int": card}}), "consumesCounters": [use]})
        return [_slice(name, "counters", 2, sharedCounters=counters), _slice(name, "devices", 2, devices=devices)]
    return []


def _device(name: str, kind: str, attributes: Object) -> Object:
    return {"name": name, "attributes": {"type": {"string": kind}, **attributes}, "capacity": {"memory": {"value": "80Gi"}}}


def _slice(node: str, what: str, count: int, **spec: object) -> Object:
    pool = {"name": node, "generation": 1, "resourceSliceCount": count}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": f"{node}-{what}"},
        "spec": {"driver": DRIVER, "nodeName": node, "pool": pool, **spec},
    }


def daemon(node: str) -> Object:
    """What a DaemonSet runs on each new node."""
    return {**_pod(f"daemon-{node}", {"cpu": "500m", "memory": "256Mi"}, {"app": "daemon"}, nodeName=node), "status": RUNS}


def _held(name: str, node: str, device: str, of: str) -> Object:
    """A claim that holds a device."""
    result = {"request": "r", "driver": DRIVER, "pool": node, "device": device}
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"devices": {"requests": [_request("r", of, 1)]}},
        "status": {"allocation": {"devices": {"results": [result]}, "nodeSelector": {"nodeSelectorTerms": [term]}}},
    }


# --- pods ---------------------------------------------------------------------------------------------------------------------------


def _pod(name: str, requests: Object, labels: Object, *, port: int = 0, **spec: object) -> Object:
    container: Object = {"name": "main", "image": "example.com/work:1", "resources": {"requests": requests}}
    if port:
        container["ports"] = [{"containerPort": port, "hostPort": port}]
    extended = {key: value for key, value in requests.items() if "/" in key}
    if extended:
        container["resources"]["limits"] = extended
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels},
        "spec": {"containers": [container], "priorityClassName": NEVER, "priority": 0, "preemptionPolicy": "Never", **spec},
    }


def at_random(number: int, seed: int) -> Case:
    """The case of a seed; `number` keeps its names apart from those of others."""
    draw = random.Random(seed)
    kind = draw.choice(["gpus", "gpus", "cards", "none", "none", "plugin"])
    shape = Shape(draw.choice([4, 8, 8, 16]), draw.choice([16, 32, 64]), zone=draw.choice("ab"), soft_taint=draw.random() < 0.1)
    if kind in ("gpus", "cards"):
        shape.devices, shape.count = kind, draw.choice([2, 4, 8]) if kind == "gpus" else draw.choice([1, 2])
    elif kind == "plugin":
        shape.plugin = draw.choice([2, 4, 8])
    if draw.random() < 0.3:
        shape.tier = draw.choice(["gold", "iron"])
    case = Case(f"case {seed}", shape, draw.random() < 0.4, [])
    for place in range(draw.choice([0, 1, 1, 2, 3])):
        _old(draw, case, f"s{number}-old-{place}")
    _waiting(draw, case, number)
    return case


def _old(draw: random.Random, case: Case, name: str) -> None:
    """A node that is there, mostly of the same kind, with a pod or two on it."""
    shape = case.shape
    own = Shape(
        draw.choice([shape.cpu, shape.cpu, 4, 8]),
        draw.choice([shape.memory, 16, 32]),
        shape.devices if draw.random() < 0.7 else "none",
        shape.count,
        draw.choice("ab"),
        draw.choice(["", "gold", "iron"]),
        shape.plugin if draw.random() < 0.7 else 0,
        draw.random() < 0.15,
    )
    case.old += node_objects(name, own)
    if own.devices == "gpus":
        held = draw.sample(range(own.count), draw.choice([0, 0, 1, 1, own.count // 2]))
        case.old += [_held(f"{name}-holds-{device}", name, f"gpu-{device}", CLASS) for device in held]
    elif own.devices == "cards" and draw.random() < 0.5:
        case.old.append(_held(f"{name}-holds-0", name, "card-0-low", HALF))
    for place in range(draw.choice([0, 1, 1, 2])):
        cpu = draw.randrange(1, own.cpu // 2 + 1)
        labels = {"app": draw.choice(["web", "db"])}
        pod = _pod(f"{name}-runs-{place}", {"cpu": str(cpu), "memory": f"{draw.randrange(1, 9)}Gi"}, labels, nodeName=name)
        if draw.random() < 0.2:
            pod["spec"]["affinity"] = {"podAntiAffinity": _required({"app": draw.choice(["web", "db", "batch"])}, HOST)}
        case.old.append({**pod, "status": RUNS})


def _waiting(draw: random.Random, case: Case, number: int) -> None:
    gang = draw.random() < 0.25
    kinds = [draw.randrange(10**6) for _ in range(draw.choice([1, 1, 2, 2, 3, 4]))]
    count = draw.choice([1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 10, 12])
    members = draw.randrange(2, count + 1) if gang and count > 1 else 0
    group = f"s{number}-gang"
    if members:
        minimum = members if draw.random() < 0.7 else draw.randrange(1, members + 1)
        case.groups.append(
            {
                "apiVersion": "scheduling.k8s.io/v1beta1",
                "kind": "PodGroup",
                "metadata": {"name": group, "namespace": NAMESPACE},
                "spec": {"schedulingPolicy": {"gang": {"minCount": minimum}}, "priorityClassName": NEVER, "priority": 0},
            }
        )
    start = draw.randrange(0, count - members + 1) if members else 0
    for place in range(count):
        pod = _one(random.Random(draw.choice(kinds)), case, f"s{number}-p{place:02}")
        if members and start <= place < start + members:
            pod["spec"]["schedulingGroup"] = {"podGroupName": group}
        case.pods.append(pod)


def _one(draw: random.Random, case: Case, name: str) -> Object:
    """A pod of the kind that `draw` makes, with claims of its own."""
    shape = case.shape
    requests: Object = {"cpu": draw.choice(["500m", "1", "1", "2", "3", str(max(1, shape.cpu // 2)), str(max(1, shape.cpu - 1))])}
    if draw.random() < 0.7:
        requests["memory"] = draw.choice(["1Gi", "4Gi", "8Gi", f"{shape.memory // 2}Gi"])
    if draw.random() < 0.1:
        requests = {}
    spec: Object = {}
    asked: list[tuple[list[Object], list[Object]]] = []
    if shape.devices == "gpus" and draw.random() < 0.75:
        if draw.random() < 0.2:
            requests[BACKED] = str(draw.choice([1, 2]))
        else:
            asked.append(_gpus(draw, shape.count))
    elif shape.devices == "cards" and draw.random() < 0.75:
        asked.append(([_request("r", draw.choice([HALF, HALF, WHOLE]), draw.choice([1, 1, 2]) if shape.count > 1 else 1)], []))
    elif shape.plugin and draw.random() < 0.75:
        requests[PLUGIN] = str(draw.choice([1, 1, 2, shape.plugin // 2, shape.plugin]))
    labels = {"app": draw.choice(["web", "db", "batch"])}
    for chance, add in ((0.12, _spread), (0.1, _apart), (0.07, _near), (0.08, _port), (0.12, _prefers), (0.08, _tier), (0.08, _soft_apart)):
        if draw.random() < chance:
            add(draw, spec, labels)
    pod = _pod(name, requests, labels, **spec)
    for place, (own, constraints) in enumerate(asked):
        claim = f"{name}-c{place}"
        devices: Object = {"requests": own, **({"constraints": constraints} if constraints else {})}
        metadata = {"name": claim, "namespace": NAMESPACE}
        case.claims.append(
            {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": metadata, "spec": {"devices": devices}}
        )
        pod["spec"].setdefault("resourceClaims", []).append({"name": f"c{place}", "resourceClaimName": claim})
    return pod


def _gpus(draw: random.Random, count: int) -> tuple[list[Object], list[Object]]:
    most = max(1, count // 2)
    kind = draw.random()
    if kind < 0.45:
        return [_request("r", CLASS, draw.choice([1, 1, 2, most]))], []
    if kind < 0.7:
        return [_request("r", CLASS, draw.choice([most, min(2, most)]))], [same(NUMA)]
    if kind < 0.8:
        return [_request("r", CLASS, 2)], [distinct(NUMA)]
    if kind < 0.9:
        return [{"name": "r", "firstAvailable": [_exact("a", CLASS, count), _exact("b", CLASS, most)]}], []
    return [_request("r", CLASS, 1), _request("s", CLASS, 1)], [same(NUMA)] if draw.random() < 0.5 else []


def _exact(name: str, of: str, count: int) -> Object:
    return {"name": name, "deviceClassName": of, "allocationMode": "ExactCount", "count": count}


def _request(name: str, of: str, count: int) -> Object:
    return {"name": name, "exactly": {"deviceClassName": of, "allocationMode": "ExactCount", "count": count}}


def _required(labels: Object, key: str) -> Object:
    return {"requiredDuringSchedulingIgnoredDuringExecution": [_term(labels, key)]}


def _term(labels: Object, key: str) -> Object:
    return {"labelSelector": {"matchLabels": labels}, "topologyKey": key}


def _spread(draw: random.Random, spec: Object, labels: Object) -> None:
    spec["topologySpreadConstraints"] = [
        {
            "maxSkew": draw.choice([1, 1, 2]),
            "topologyKey": draw.choice([HOST, HOST, ZONE]),
            "whenUnsatisfiable": draw.choice(["DoNotSchedule", "ScheduleAnyway"]),
            "labelSelector": {"matchLabels": labels},
        }
    ]


def _apart(draw: random.Random, spec: Object, labels: Object) -> None:
    spec.setdefault("affinity", {})["podAntiAffinity"] = _required(labels, HOST)


def _near(draw: random.Random, spec: Object, labels: Object) -> None:
    spec.setdefault("affinity", {})["podAffinity"] = _required({"app": draw.choice(["web", labels["app"]])}, draw.choice([HOST, ZONE]))


def _soft_apart(draw: random.Random, spec: Object, labels: Object) -> None:
    kind = draw.choice(["podAffinity", "podAntiAffinity"])
    entry = {
        "weight": draw.choice([1, 10, 100]),
        "podAffinityTerm": _term({"app": draw.choice(["web", labels["app"]])}, draw.choice([HOST, ZONE])),
    }
    spec.setdefault("affinity", {}).setdefault(kind, {})["preferredDuringSchedulingIgnoredDuringExecution"] = [entry]


def _port(draw: random.Random, spec: Object, labels: Object) -> None:
    spec["port"] = draw.choice([8080, 9090])


def _prefers(draw: random.Random, spec: Object, labels: Object) -> None:
    expression = {"key": draw.choice([TIER, ZONE]), "operator": "In", "values": [draw.choice(["gold", "iron", "a", "b"])]}
    entry = {"weight": draw.choice([1, 50]), "preference": {"matchExpressions": [expression]}}
    affinity = spec.setdefault("affinity", {}).setdefault("nodeAffinity", {})
    affinity["preferredDuringSchedulingIgnoredDuringExecution"] = [entry]


def _tier(draw: random.Random, spec: Object, labels: Object) -> None:
    term = on_nodes((TIER, draw.choice(["In", "NotIn"]), [draw.choice(["gold", "iron"])]))
    spec.setdefault("affinity", {}).setdefault("nodeAffinity", {}).update(term["nodeAffinity"])
