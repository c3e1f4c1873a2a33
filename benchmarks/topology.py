"""What topology_graph costs on a large cluster: the graph of everything, cold and after a change; the first answer, the same again, other
scopes, and after a change.

    PYTHONPATH=src python -m benchmarks.topology                   5,000 nodes, 40,000 devices
    PYTHONPATH=src python -m benchmarks.topology --nodes 500

CPU seconds stand beside elapsed ones, because a busy machine stretches only the latter.
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.cluster import write
from k8s_topo_mcp.objects import Node, Pod, ResourceClaim
from k8s_topo_mcp.rendering import tokens
from k8s_topo_mcp.sources.collector import settle
from k8s_topo_mcp.sources.snapshot import load
from k8s_topo_mcp.tools.asking import ask
from k8s_topo_mcp.tools.topology_graph import TOOL
from k8s_topo_mcp.topology.graph import cluster_graph
from k8s_topo_mcp.topology.hardware import hardware
from k8s_topo_mcp.view import ClusterView, Edit, Replace

QUESTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"scope": "zone/eu-west-1a"},
    {"scope": "node/node-00000"},
    {"scope": "zombies"},
    {"depth": "node"},
    {"depth": "device"},
    {"format": "mermaid"},
    {"format": "json"},
)


AIM_COLD, AIM_CHANGED = 1.0, 0.1
"""Seconds."""


def measured(run: Callable[[], Any]) -> tuple[float, float]:
    """Seconds elapsed, and seconds of a processor."""
    began, used = time.perf_counter(), time.process_time()
    run()
    return time.perf_counter() - began, time.process_time() - used


def show(name: str, took: tuple[float, ...], aim: float | None = None) -> None:
    elapsed, cpu = took
    against = f"   aim {aim:g} s" if aim is not None else ""
    print(f"{name:<52}{elapsed:>9.3f} s{cpu:>9.3f} s CPU{against}")


def timed(name: str, run: Callable[[], Any]) -> Any:
    found: list[Any] = []
    show(name, measured(lambda: found.append(run())))
    return found[0]


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.topology", description=__doc__)
    options.add_argument("--nodes", type=int, default=5_000)
    options.add_argument("--changes", type=int, default=5, help="after how many changes the median is taken")
    given = options.parse_args()
    print(f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cluster.json"
        write(path, nodes=given.nodes, pods=2 * given.nodes)
        view: ClusterView = timed("load", lambda: load([str(path)]))
    timed("import networkx (once a process)", lambda: import_module("networkx"))
    settle()  # as the server does after it has read a cluster
    changed = graphs(view, given.changes)
    answers(view, changed, given.changes)


def graphs(view: ClusterView, changes: int) -> ClusterView:
    """The graph of everything, cold, and after changes one after another; the last view is returned."""
    facts, graph = measured(lambda: hardware(view)), measured(lambda: cluster_graph(view))
    show("facts of all devices, cold", facts)
    show("graph of everything from them, cold", graph)
    cold = tuple(one + other for one, other in zip(facts, graph, strict=True))
    show("facts and graph, cold", cold, AIM_COLD)
    whole = cluster_graph(view)
    print(f"{'':<52}{len(whole):>9,} vertices, {whole.number_of_edges():,} edges")
    show("the same by networkx's own methods, from lists", by_networkx(whole))
    for name, edit in EDITS.items():
        runs: list[tuple[float, float]] = []
        for number in range(changes):
            view = view.with_edits(edit(view, 7 * number))
            runs.append(measured(lambda view=view: cluster_graph(view)))
        after = (median(elapsed for elapsed, _ in runs), median(cpu for _, cpu in runs))
        show(f"facts and graph, after {name}", after, AIM_CHANGED)
        print(f"{'':<52}{cold[1] / after[1]:>9.0f} times less than cold (CPU)")
    return view


def by_networkx(whole: Any) -> tuple[float, float]:
    """What it takes networkx alone to fill an empty graph with what is in this one, facts ready in lists: what a graph of this size costs
    before anybody has looked at a cluster."""
    vertices = [(name, dict(facts)) for name, facts in whole.nodes(data=True)]
    edges = [(one, other, dict(facts)) for one, other, facts in whole.edges(data=True)]
    graph = import_module("networkx").DiGraph()
    return measured(lambda: (graph.add_nodes_from(vertices), graph.add_edges_from(edges)))


def answers(view: ClusterView, changed: ClusterView, changes: int) -> None:
    """What the tool takes: the first answers, the same again, and after changes. The facts are there already."""
    for turn in ("first", "again"):
        for question in QUESTIONS:
            words = ", ".join(f"{name}={value}" for name, value in question.items()) or "cluster"
            said = timed(f"answer, {words} ({turn})", lambda question=question: ask(TOOL, view, question))
            print(f"{'':<52}{tokens(said.report):>9,} tokens")
    runs: list[tuple[float, float]] = []
    for number in range(changes):
        changed = changed.with_edits(cordon(changed, 7 * number + 3))
        runs.append(measured(lambda view=changed: ask(TOOL, view, {})))
    show("answer, cluster, after a change to one node", (median(one for one, _ in runs), median(cpu for _, cpu in runs)), AIM_CHANGED)


def cordon(view: ClusterView, number: int) -> Edit:
    """One node is cordoned, or opened again."""
    node = view.all(Node)[number % view.count(Node)]
    return Replace(replace(node, unschedulable=not node.unschedulable))


def release(view: ClusterView, number: int) -> Edit:
    """One claim lets go of its devices."""
    held = [claim for claim in view.all(ResourceClaim) if claim.allocation is not None]
    return Replace(replace(held[number % len(held)], allocation=None, reserved_for=()))


def end(view: ClusterView, number: int) -> Edit:
    """One running pod ends."""
    running = [pod for pod in view.all(Pod) if pod.phase == "Running"]
    return Replace(replace(running[number % len(running)], phase="Succeeded"))


EDITS: Mapping[str, Callable[[ClusterView, int], Edit]] = {"a change to one node": cordon, "a claim's release": release, "a pod's end": end}


if __name__ == "__main__":
    main()
