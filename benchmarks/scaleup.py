"""What it costs to ask which of many node groups would take which of many pods that wait, and how many nodes of one it takes.

    PYTHONPATH=src python -m benchmarks.scaleup                     200 groups, 500 pods that wait, 5,000 nodes
    PYTHONPATH=src python -m benchmarks.scaleup --nodes 500 --pods 5000 --waiting 100 --groups 20

"cold" is the first question to a process; "new view": the same objects in a view that remembers nothing. CPU seconds stand beside elapsed
ones, because a busy machine stretches the latter most.
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.cluster import GPUS, write
from k8s_topo_mcp.objects import Node, Pod, Quantity
from k8s_topo_mcp.scaleup.node_counts import node_counts
from k8s_topo_mcp.scaleup.survey import survey
from k8s_topo_mcp.scaleup.template import NodeTemplate
from k8s_topo_mcp.sources.collector import settle
from k8s_topo_mcp.sources.snapshot import load
from k8s_topo_mcp.view import ClusterView
from k8s_topo_mcp.view.indices import slices_of_node

AIM = 2.0
SHAPES = 40
"""So many of the groups differ in size; the others are like one of these."""


def timed(name: str, run: Callable[[], Any]) -> Any:
    began, used = time.perf_counter(), time.process_time()
    result = run()
    elapsed, cpu = time.perf_counter() - began, time.process_time() - used
    print(f"{name:<36}{elapsed:>9.3f} s{cpu:>9.3f} s CPU")
    return result


def groups(view: ClusterView, count: int) -> list[NodeTemplate]:
    """Templates made of nodes that are there: of two products, with as many devices and as much cpu as their shape has."""
    nodes = view.all(Node)
    found: list[NodeTemplate] = []
    for number in range(count):
        node, shape = nodes[number % len(nodes)], number % SHAPES
        allocatable = {**node.allocatable, "cpu": Quantity.of(16 * (1 + shape % 12))}
        labels = {"example.com/pool": f"pool-{shape}"}
        slices = tuple(replace(entry, devices=entry.devices[: 1 + shape % GPUS]) for entry in slices_of_node(view, node.name))
        own = replace(node, metadata=replace(node.metadata, labels={**node.metadata.labels, **labels}), allocatable=allocatable)
        found.append(NodeTemplate(f"group-{number}", own, slices))
    return found


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.scaleup", description=__doc__)
    options.add_argument("--nodes", type=int, default=5_000)
    options.add_argument("--pods", type=int, default=10_000)
    options.add_argument("--waiting", type=int, default=500)
    options.add_argument("--groups", type=int, default=200)
    given = options.parse_args()
    print(f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print(
        f"{given.nodes:,} nodes, {given.pods:,} pods, {given.waiting:,} of them wait; {given.groups} groups; aim: {AIM} s for the survey\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cluster.json"
        write(path, nodes=given.nodes, pods=given.pods, mixed=given.waiting)
        view: ClusterView = timed("load", lambda: load([str(path)]))
    settle()  # as the server does
    templates = groups(view, given.groups)
    waiting = [pod for pod in view.all(Pod) if pod.is_pending]
    found = timed("survey, cold", lambda: survey(view, waiting, templates))
    for _ in range(3):
        other = view.under()
        timed("survey, new view", lambda other=other: survey(other, waiting, templates))
    print(f"\n{len(found[0].kinds)} kinds of pods")
    best = max(found, key=lambda entry: len(entry.pods("fits")))
    some = list(best.pods("fits"))[:32]
    counts = timed(f"nodes of one group for {len(some)} pods", lambda: node_counts(view, some, best.template))
    print(f"{best.template.name} fits {len(best.pods('fits'))}; least {counts.least}, by the scheduler {counts.scheduler}")


if __name__ == "__main__":
    main()
