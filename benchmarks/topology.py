"""What topology_graph costs on a large cluster: the first answer, the same again, other scopes, and after a change to one node.

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
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.cluster import write
from k8s_topo_mcp.objects.node import Node
from k8s_topo_mcp.rendering import tokens
from k8s_topo_mcp.sources.snapshot import load
from k8s_topo_mcp.tools.asking import ask
from k8s_topo_mcp.tools.topology_graph import TOOL
from k8s_topo_mcp.topology.graph import hardware_graph
from k8s_topo_mcp.topology.hardware import hardware
from k8s_topo_mcp.topology.shapes import shapes
from k8s_topo_mcp.view import ClusterView, Replace

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


def timed(name: str, run: Callable[[], Any]) -> Any:
    began, used = time.perf_counter(), time.process_time()
    result = run()
    elapsed, cpu = time.perf_counter() - began, time.process_time() - used
    print(f"{name:<52}{elapsed:>9.3f} s{cpu:>9.3f} s CPU")
    return result


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.topology", description=__doc__)
    options.add_argument("--nodes", type=int, default=5_000)
    given = options.parse_args()
    print(f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cluster.json"
        write(path, nodes=given.nodes, pods=2 * given.nodes)
        view: ClusterView = timed("load", lambda: load([str(path)]))
    for turn in ("cold", "warm"):
        for question in QUESTIONS:
            words = ", ".join(f"{name}={value}" for name, value in question.items()) or "cluster"
            said = timed(f"{words} ({turn})", lambda question=question: ask(TOOL, view, question))
            print(f"{'':<52}{tokens(said.report):>9,} tokens")
    node = view.all(Node)[0]
    changed = view.with_edits(Replace(replace(node, unschedulable=True)))
    timed("cluster, after a change to one node", lambda: ask(TOOL, changed, {}))
    facts = hardware(view)
    graph = timed("networkx graph of everything", lambda: hardware_graph(facts.nodes, shapes(facts.nodes)))
    print(f"{'':<52}{len(graph):>9,} nodes, {graph.number_of_edges():,} edges")


if __name__ == "__main__":
    main()
