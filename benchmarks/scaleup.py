"""What it costs to ask which of many node groups would start which of many pods that wait.

    PYTHONPATH=src python -m benchmarks.scaleup                     200 NodePools, 500 pods that wait, 2,000 nodes
    PYTHONPATH=src python -m benchmarks.scaleup --nodes 5000 --pods 10000

The question is asked as a client asks it: simulate_scaleup without arguments (three kinds of pods are told), in full (all kinds), then with
nodes of one group. "first" is the first of its kind to a process; "new view": the same objects in a view that remembers nothing. The aims
are in seconds of the processor, since a busy machine stretches elapsed ones: past one of them the exit status is 1.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

from benchmarks.cluster import write
from k8s_topo_mcp.objects import Deployment, Node, NodePool, Pod, Quantity, decode
from k8s_topo_mcp.objects.karpenter import NODE_POOL_LABEL
from k8s_topo_mcp.sources.collector import settle
from k8s_topo_mcp.sources.snapshot import load
from k8s_topo_mcp.tools.asking import ask
from k8s_topo_mcp.tools.catalogue import find
from k8s_topo_mcp.view import Add, ClusterView, Edit, Replace

AIM = 2.0
SHAPES = 40
"""So many of the groups differ in the size of their nodes and a label; the others are like one of these."""

V = TypeVar("V")


def timed(name: str, run: Callable[[], V]) -> tuple[V, float]:
    """The result, and seconds of the processor."""
    began, used = time.perf_counter(), time.process_time()
    result = run()
    elapsed, cpu = time.perf_counter() - began, time.process_time() - used
    print(f"{name:<44}{elapsed:>9.3f} s{cpu:>9.3f} s CPU")
    return result, cpu


def _karpenter() -> Deployment:
    container = {"name": "controller", "image": "karpenter/controller:1.14.1"}
    template = {"metadata": {"labels": {"app": "karpenter"}}, "spec": {"containers": [container]}}
    made = decode(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "karpenter", "namespace": "kube-system", "uid": "uid-karpenter"},
            "spec": {"replicas": 1, "template": template},
            "status": {"replicas": 1, "readyReplicas": 1},
        }
    )
    assert isinstance(made, Deployment)
    return made


def in_pools(view: ClusterView, count: int) -> ClusterView:
    """The cluster with its nodes dealt out to so many NodePools, and Karpenter."""
    edits: list[Edit] = [Add(_karpenter())]
    for number, node in enumerate(view.all(Node)):
        pool = number % count
        labels = {**node.metadata.labels, NODE_POOL_LABEL: f"pool-{pool}", "example.com/shape": f"shape-{pool % SHAPES}"}
        allocatable = {**node.allocatable, "cpu": node.allocatable["cpu"] + Quantity.of(pool % SHAPES)}
        edits.append(Replace(replace(node, metadata=replace(node.metadata, labels=labels), allocatable=allocatable)))
    for pool in range(count):
        made = decode({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": f"pool-{pool}"}, "spec": {}})
        assert isinstance(made, NodePool)
        edits.append(Add(made))
    return view.with_edits(*edits)


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m benchmarks.scaleup", description=__doc__)
    options.add_argument("--nodes", type=int, default=2_000)
    options.add_argument("--pods", type=int, default=4_000)
    options.add_argument("--waiting", type=int, default=500)
    options.add_argument("--groups", type=int, default=200)
    given = options.parse_args()
    print(f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cluster.json"
        write(path, nodes=given.nodes, pods=given.pods, mixed=given.waiting)
        loaded, _ = timed("load", lambda: load([str(path)]))
    view = in_pools(loaded, given.groups)
    settle()  # as the server does
    waiting = sum(pod.is_pending for pod in view.all(Pod))
    print(f"{given.nodes:,} nodes, {given.pods:,} pods, {waiting:,} of them wait; {given.groups} NodePools\n")

    def asked(where: ClusterView, **arguments: Any) -> dict[str, Any]:
        return ask(find("simulate_scaleup"), where, arguments).structured()

    _, first = timed("all that waits, first", lambda: asked(view))
    audit, _ = timed("all that waits in full, first", lambda: asked(view, detail="full"))
    again = [timed("all that waits in full, new view", lambda: asked(view.under(), detail="full"))[1] for _ in range(3)]
    timed("all that waits, new view", lambda: asked(view.under()))
    added, _ = timed("20 nodes of one group more, new view", lambda: asked(view.under(), add=["pool-1=20"]))
    print(f"\n{audit['report'].splitlines()[0]}\n{added['report'].splitlines()[0]}\n")
    assert audit["groups"] == given.groups
    met = True
    for name, cpu in {"all that waits, first": first, "all that waits in full, new view (median)": median(again)}.items():
        met = met and cpu <= AIM
        print(f"{name}: {cpu:.2f} s of the processor, aim {AIM:g} s: {'met' if cpu <= AIM else 'not met'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
