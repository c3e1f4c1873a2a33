"""Clusters for these tests, made of ordinary API objects: from the catalogue of machines, or large ones by seed."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from typing import Any

from fault_injection.scenes import Scene
from k8s_topo_mcp.objects import decode
from k8s_topo_mcp.releases import release
from k8s_topo_mcp.view import ClusterView, SourceInfo

Item = dict[str, Any]
STANDARD = "resource.kubernetes.io"


def view(items: Iterable[Item], name: str = "made by a test", minor: int = 37) -> ClusterView:
    decoded = [entry for entry in (decode(item) for item in items) if entry is not None]
    return ClusterView(decoded, release=release(minor), source=SourceInfo("snapshot", name))


def node(name: str, labels: Mapping[str, str] | None = None, *, allocatable: Mapping[str, str] | None = None, **spec: Any) -> Item:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}},
        "spec": spec,
        "status": {
            "allocatable": {"cpu": "64", **(allocatable or {})},
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
        },
    }


def device(name: str, attributes: Mapping[str, Any], **more: Any) -> Item:
    typed = {
        key: {"bool": value} if isinstance(value, bool) else {"int": value} if isinstance(value, int) else {"string": value}
        for key, value in attributes.items()
        if value is not None
    }
    return {"name": name, "attributes": typed, **more}


def resource_slice(
    driver: str, pool: str, devices: list[Item], *, name: str = "", generation: int = 1, count: int = 1, **spec: Any
) -> Item:
    selection = {"nodeName": pool} if not {"nodeSelector", "allNodes", "perDeviceNodeSelection", "nodeName"} & set(spec) else {}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": name or f"{pool}-{driver}"},
        "spec": {
            "driver": driver,
            "pool": {"name": pool, "generation": generation, "resourceSliceCount": count},
            "devices": devices,
            **selection,
            **spec,
        },
    }


def gpu(name: str, numa: int | None = 0, root: str | None = "pci0000:00", product: str = "NVIDIA H100 80GB HBM3", **more: Any) -> Item:
    return device(name, {"type": "gpu", "productName": product, f"{STANDARD}/numaNode": numa, f"{STANDARD}/pcieRoot": root}, **more)


def claim(
    name: str, devices: Iterable[tuple[str, str, str]] = (), *, namespace: str = "default", pod: str | None = None, **status: Any
) -> Item:
    """A claim that holds `devices` (driver, pool, device), reserved for a pod."""
    results = [{"request": "r", "driver": driver, "pool": pool, "device": held} for driver, pool, held in devices]
    reserved = [] if pod is None else [{"resource": "pods", "name": pod, "uid": f"uid-{namespace}-{pod}"}]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": max(1, len(results))}}]}},
        "status": {**({"allocation": {"devices": {"results": results}}} if results else {}), "reservedFor": reserved, **status},
    }


def pod(
    name: str, *, namespace: str = "default", node: str = "", claims: Iterable[str] = (), phase: str = "Running", **requests: str
) -> Item:
    named = {key.replace("__", "/").replace("_", "."): value for key, value in requests.items()}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "uid": f"uid-{namespace}-{name}"},
        "spec": {
            **({"nodeName": node} if node else {}),
            "containers": [{"name": "c", "resources": {"requests": named}}],
            "resourceClaims": [{"name": entry, "resourceClaimName": entry} for entry in claims],
        },
        "status": {"phase": phase if node else "Pending"},
    }


# --- machines of the catalogue ----------------------------------------------------------------------------------------------------


def machine(shape: str, name: str, places: Mapping[str, str] | None = None, mig: bool = False) -> list[Item]:
    """A node of a shape of the scenes' catalogue, with the slices that its drivers publish."""
    scene = Scene()
    scene.nodes(shape, names=(name,), zone="z1", labels=places, mig=mig)
    return scene.objects


# --- large clusters ---------------------------------------------------------------------------------------------------------------

LARGE = (("p5.48xlarge", 8, 8), ("a3-highgpu-8g", 8, 4), ("g6.12xlarge", 4, 4))
_PRODUCTS = {"p5.48xlarge": "NVIDIA H100 80GB HBM3", "a3-highgpu-8g": "NVIDIA H100 80GB HBM3", "g6.12xlarge": "NVIDIA L4"}


def large(nodes: int = 5000, seed: int = 1, accelerated: float = 1.0, pods: bool = True) -> list[Item]:
    """Many nodes of three shapes in three zones, blocks and racks: most devices held, some free, some tainted, zombies, broken pools."""
    dice = random.Random(seed)
    items: list[Item] = []
    for number in range(nodes):
        name = f"node-{number:05d}"
        shape, gpus, roots = LARGE[dice.choices((0, 1, 2), (6, 2, 2))[0]]
        zone = f"eu-west-1{'abc'[number * 3 // nodes]}"
        labels = {
            "topology.kubernetes.io/zone": zone,
            "topology.k8s.aws/network-node-layer-2": f"nb-{number // 64:03d}",
            "topology.k8s.aws/network-node-layer-3": f"nl-{number // 16:03d}",
            "node.kubernetes.io/instance-type": shape,
        }
        if dice.random() > accelerated:
            items.append(node(name, {**labels, "node.kubernetes.io/instance-type": "m6i.8xlarge"}))
            continue
        items.append(node(name, labels, **({"unschedulable": True} if dice.random() < 0.004 else {})))
        taint = dice.random() < 0.002
        devices = [
            gpu(
                f"gpu-{index}",
                index * 2 // gpus,
                f"pci0000:{index * roots // gpus:02x}",
                _PRODUCTS[shape],
                capacity={"memory": {"value": "81559Mi"}},
                **({"taints": [{"key": "gpu.nvidia.com/xid", "value": "79", "effect": "NoSchedule"}]} if taint and index == 0 else {}),
            )
            for index in range(gpus)
        ]
        items.append(resource_slice("gpu.nvidia.com", name, devices, count=2 if dice.random() < 0.0005 else 1))
        mood = dice.random()
        taken = gpus if mood < 0.9 else 0 if mood < 0.93 else dice.randrange(1, gpus)
        size = dice.choice([size for size in (1, 2, 4, 8) if size <= gpus])
        for start in range(0, taken, size):
            space = dice.choice(("train", "train", "train", "infer", "lab"))
            owner = f"job-{number}-{start}"
            held = [("gpu.nvidia.com", name, f"gpu-{index}") for index in range(start, min(start + size, taken))]
            items.append(claim(owner, held, namespace=space, pod=owner))
            if pods and dice.random() > 0.0005:
                items.append(pod(owner, namespace=space, node=name, claims=[owner]))
    return items
