"""Templates for these tests, read from API objects as a cluster's are."""

from __future__ import annotations

from typing import Any

from k8s_topo_mcp.objects import Node, Pod, ResourceSlice
from k8s_topo_mcp.scaleup.template import NodeTemplate
from k8s_topo_mcp.view import ClusterView

from ..diagnosis.clusters import Item, cluster, gpus, node, pod, pool


def template(devices: int = 0, *more: Item, name: str = "big", allocatable: dict[str, str] | None = None, **known: Any) -> NodeTemplate:
    """A node of 8 cpu and 64Gi with so many GPUs; `more` are other objects of it, named after node "t"."""
    labels = known.pop("labels", None)
    items = [node("t", allocatable=allocatable, labels=labels, **known.pop("spec", {})), *more]
    if devices:
        items.append(pool(gpus(devices, STD__numaNode=lambda number: number * 2 // devices), "t"))
    view = cluster(*items)
    return NodeTemplate(name, view.all(Node)[0], view.all(ResourceSlice), view.all(Pod), **known)


def pods(view: ClusterView) -> list[Pod]:
    """Those that wait."""
    return [found for found in view.all(Pod) if found.is_pending]


def plain(name: str, cpu: str, **more: Any) -> Item:
    return pod(name, requests={"cpu": cpu}, **more)
