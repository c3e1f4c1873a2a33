"""Tiny clusters for these tests, written as API objects and read by the product's own snapshot reader."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import combinations
from typing import Any

from k8s_topo_mcp.diagnosis.pending import explain_pending
from k8s_topo_mcp.diagnosis.report import Report, Trial
from k8s_topo_mcp.objects import Pod
from k8s_topo_mcp.sources.snapshot import load_text
from k8s_topo_mcp.tools import blocker_parts, remedy_parts
from k8s_topo_mcp.tools.asking import ask
from k8s_topo_mcp.tools.catalogue import find
from k8s_topo_mcp.tools.models import Remedy
from k8s_topo_mcp.view import ClusterView

Item = dict[str, Any]
DRIVER = "gpu.example.com"
STANDARD = "resource.kubernetes.io"
MOMENT = "2026-11-29T12:00:00Z"


WHOLE: Item = {"apiVersion": "k8s-topo-mcp/v1", "kind": "SnapshotInfo"}
"""What makes a list of objects a whole cluster: a kind without an object has none, it wasn't left out."""


def cluster(*items: Item, minor: int = 37, gates: Mapping[str, bool] | None = None) -> ClusterView:
    """The objects as a snapshot of a release."""
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [WHOLE, *items]})
    return load_text(text, version=f"1.{minor}", gates=dict(gates) if gates else None, as_of=MOMENT, name="made by a test")


def explained(view: ClusterView, name: str = "p") -> Report:
    """The report of a pod of namespace default."""
    pod = view.get(Pod, name, "default")
    assert pod is not None
    return explain_pending(view, pod)


def answered(view: ClusterView, name: str = "p") -> str:
    """What a client reads about a pod of namespace default."""
    return ask(find("explain_pending"), view, {"pod": f"default/{name}"}).report


def code(report: Report) -> str:
    """The code of the first blocker."""
    return report.cause.finding.code if report.cause is not None else ""


def helping(report: Report) -> dict[str, tuple[str, ...]]:
    """change -> nodes on which the pod then fits."""
    return {trial.change.text: trial.nodes for trial in report.remedies}


def vain(report: Report) -> dict[str, str]:
    """change -> why it doesn't help."""
    return {trial.change.text: trial.why for trial in report.not_helping}


def offered(report: Report) -> tuple[Remedy, ...]:
    """What an answer offers, with object, field and values."""
    assert report.cause is not None
    return remedy_parts.remedies(report.remedies, len(report.remedies), blocker_parts.blocker(report.cause))


def trials(report: Report) -> tuple[Trial, ...]:
    """Everything that was tried."""
    return (*report.remedies, *report.not_helping)


# --- nodes and devices ------------------------------------------------------------------------------------------------------------


def node(name: str = "n1", *, labels: Mapping[str, str] | None = None, allocatable: Mapping[str, str] | None = None, **spec: Any) -> Item:
    amounts = {"cpu": "8", "memory": "64Gi", "pods": "10", **(allocatable or {})}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {"kubernetes.io/hostname": name, **(labels or {})},
            "creationTimestamp": "2026-11-01T00:00:00Z",
        },
        "spec": spec,
        "status": {"allocatable": amounts, "capacity": amounts},
    }


def attribute(value: Any) -> Item:
    """A value as the API types it; a string that starts with v and a digit is a version."""
    if isinstance(value, bool):
        return {"bool": value}
    if isinstance(value, int):
        return {"int": value}
    if isinstance(value, list):
        return {"ints" if isinstance(value[0], int) else "strings": value}
    if value[:1] == "v" and value[1:2].isdigit():
        return {"version": value[1:]}
    return {"string": value}


def gpu(name: str, attributes: Mapping[str, Any] | None = None, memory: str = "80Gi", **more: Any) -> Item:
    """A device with `memory`; a key of `attributes` without a domain is the driver's own."""
    own = {"type": "gpu", **(attributes or {})}
    return {
        "name": name,
        "attributes": {key: attribute(value) for key, value in own.items() if value is not None},
        "capacity": {"memory": {"value": memory}},
        **more,
    }


def gpus(count: int, **attributes: Any) -> list[Item]:
    """`gpu-0`, …; a callable is given the number of the device."""
    named = {key.replace("__", "/").replace("STD", STANDARD): value for key, value in attributes.items()}
    return [
        gpu(f"gpu-{number}", {key: value(number) if callable(value) else value for key, value in named.items()}) for number in range(count)
    ]


def pool(
    devices: list[Item], on: str = "n1", *, driver: str = DRIVER, name: str = "", generation: int = 1, count: int = 1, **spec: Any
) -> Item:
    """A ResourceSlice of the node's pool."""
    place = {} if {"nodeSelector", "allNodes", "perDeviceNodeSelection"} & set(spec) else {"nodeName": on}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": name or f"{on}-{driver}"},
        "spec": {
            "driver": driver,
            "pool": {"name": on, "generation": generation, "resourceSliceCount": count},
            **({} if "sharedCounters" in spec else {"devices": devices}),
            **place,
            **spec,
        },
    }


def device_class(name: str = "gpu", *selectors: str, **spec: Any) -> Item:
    """A class; by default of the driver's devices."""
    expressions = selectors or (f'device.driver == "{DRIVER}"',)
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": {"selectors": [{"cel": {"expression": text}} for text in expressions], **spec},
    }


# --- claims and pods --------------------------------------------------------------------------------------------------------------


def request(name: str = "r", count: int | None = 1, *selectors: str, of: str = "gpu", **more: Any) -> Item:
    """A request for `count` devices; None asks for all."""
    return {"name": name, "exactly": exactly(count, *selectors, of=of, **more)}


def exactly(count: int | None = 1, *selectors: str, of: str = "gpu", **more: Any) -> Item:
    amount = {"allocationMode": "All"} if count is None else {"count": count, "allocationMode": "ExactCount"}
    own = {"selectors": [{"cel": {"expression": text}} for text in selectors]} if selectors else {}
    return {"deviceClassName": of, **amount, **own, **more}


def either(name: str, *options: Item) -> Item:
    """A request with alternatives a, b, …"""
    return {"name": name, "firstAvailable": [{"name": "abcdefgh"[place], **option} for place, option in enumerate(options)]}


def match(attribute_name: str, *requests: str) -> Item:
    return {"matchAttribute": attribute_name, **({"requests": list(requests)} if requests else {})}


def distinct(attribute_name: str, *requests: str) -> Item:
    return {"distinctAttribute": attribute_name, **({"requests": list(requests)} if requests else {})}


def claim(name: str, *requests: Item, constraints: list[Item] | None = None, status: Item | None = None, **metadata: Any) -> Item:
    devices: Item = {"requests": list(requests or (request(),))}
    if constraints:
        devices["constraints"] = constraints
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}", **metadata},
        "spec": {"devices": devices},
        **({"status": status} if status else {}),
    }


def held(name: str, devices: list[str], on: str = "n1", pod: str | None = None, *, driver: str = DRIVER, **result: Any) -> Item:
    """A claim that holds devices of a node's pool, reserved for a pod."""
    results = [{"request": "r", "driver": driver, "pool": on, "device": device, **result} for device in devices]
    selector = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [on]}]}]}
    status: Item = {"allocation": {"devices": {"results": results}, "nodeSelector": selector}}
    if pod is not None:
        status["reservedFor"] = [{"resource": "pods", "name": pod, "uid": f"uid-{pod}"}]
    return claim(name, request("r", len(devices)), status=status)


def pod(name: str = "p", claims: tuple[str, ...] = (), *, on: str = "", requests: Mapping[str, str] | None = None, **spec: Any) -> Item:
    """A pod that waits, or runs on a node. `status` and `metadata` may be given whole."""
    status = spec.pop("status", None) or {"phase": "Running" if on else "Pending"}
    metadata = spec.pop("metadata", {})
    entries = [{"name": f"c{place}", "resourceClaimName": entry} for place, entry in enumerate(claims)]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}", **metadata},
        "spec": {
            **({"nodeName": on} if on else {}),
            "containers": [{"name": "main", "resources": {"requests": dict(requests or {})}}],
            **({"resourceClaims": entries} if entries else {}),
            **spec,
        },
        "status": status,
    }


def replicated(kind: str, name: str, **labels: str) -> Item:
    """A ReplicaSet or StatefulSet for the pods with these labels."""
    template = {"metadata": {"labels": labels}, "spec": {}}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}"},
        "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": template},
    }


def owned_by(pod: Item, owner: Item) -> Item:
    """The pod as that controller has made it."""
    about = owner["metadata"]
    reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": about["name"], "uid": about["uid"], "controller": True}
    return {**pod, "metadata": {**pod["metadata"], "ownerReferences": [reference]}}


def asking(*requests: Item, constraints: list[Item] | None = None, **more: Any) -> tuple[Item, Item]:
    """Pod p and its claim c."""
    return claim("c", *requests, constraints=constraints), pod("p", ("c",), **more)


def taint_rule(name: str, key: str, *, effect: str = "NoSchedule", **selector: str) -> Item:
    return {
        "apiVersion": "resource.k8s.io/v1beta2",
        "kind": "DeviceTaintRule",
        "metadata": {"name": name},
        "spec": {"deviceSelector": selector, "taint": {"key": key, "effect": effect}},
    }


# --- partitions -------------------------------------------------------------------------------------------------------------------


def partitioned(on: str = "n1", cards: int = 1, slices: int = 4, size: str = "10Gi", *, minor: int = 37) -> list[Item]:
    """Cards of `slices` memory slices each: a whole-card device, and a device for each half. From 1.35 on the counter sets have a slice of
    their own."""
    counters = [
        {"name": f"card-{card}", "counters": {f"slice-{number}": {"value": size} for number in range(slices)}} for card in range(cards)
    ]
    devices: list[Item] = []
    for card in range(cards):
        half = slices // 2
        for name, numbers in (("whole", range(slices)), ("low", range(half)), ("high", range(half, slices))):
            use = {"counterSet": f"card-{card}", "counters": {f"slice-{number}": {"value": size} for number in numbers}}
            kind = "whole" if name == "whole" else "half"
            devices.append(gpu(f"card-{card}-{name}", {"type": kind, "card": card}, consumesCounters=[use]))
    if minor == 34:
        both = pool(devices, on)
        both["spec"]["sharedCounters"] = counters
        return [both]
    return [pool(devices, on, count=2), pool([], on, name=f"{on}-counters", count=2, sharedCounters=counters)]


def pairs_of_slices(slices: int) -> list[Item]:
    """One card; each device takes two of its slices. No counter alone tells how many fit side by side, and many are the choices."""
    counters = [{"name": "card", "counters": {f"slice-{number}": {"value": "1"} for number in range(slices)}}]
    devices = [
        gpu(f"pair-{a}-{b}", consumesCounters=[{"counterSet": "card", "counters": {f"slice-{at}": {"value": "1"} for at in (a, b)}}])
        for a, b in combinations(range(slices), 2)
    ]
    return [
        pool(devices, "n1", count=2),
        pool([], "n1", name="n1-counters", count=2, sharedCounters=counters),
    ]
