"""What explain_pending without arguments costs on a large cluster where pods wait for many causes.

    PYTHONPATH=src python -m benchmarks.triage                     5,000 nodes, 40,000 devices, 50,000 pods, 500 of them wait
    PYTHONPATH=src python -m benchmarks.triage --nodes 500 --pods 5000 --waiting 100

"cold" is the first question to a process; "new view": the same objects in a view that remembers nothing, as after a change elsewhere;
"again": the same view. CPU seconds stand beside elapsed ones, because a busy machine stretches the latter most.
"""

from __future__ import annotations

import argparse
import gc
import os
import platform
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.cluster import GPUS, write
from k8s_topo_mcp.rendering import tokens
from k8s_topo_mcp.sources.collector import settle
from k8s_topo_mcp.sources.snapshot import load
from k8s_topo_mcp.tools.asking import ask
from k8s_topo_mcp.tools.explain_pending import TOOL
from k8s_topo_mcp.view import ClusterView

AIM = 2.0


def timed(name: str, run: Callable[[], Any]) -> Any:
    began, used = time.perf_counter(), time.process_time()
    result = run()
    elapsed, cpu = time.perf_counter() - began, time.process_time() - used
    print(f"{name:<28}{elapsed:>9.3f} s{cpu:>9.3f} s CPU")
    return result


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.triage", description=__doc__)
    options.add_argument("--nodes", type=int, default=5_000)
    options.add_argument("--pods", type=int, default=50_000)
    options.add_argument("--waiting", type=int, default=500)
    options.add_argument("--default-collector", action="store_true", help="leave the thresholds of Python's garbage collector as they are")
    given = options.parse_args()
    print(f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print(
        f"{given.nodes:,} nodes, {given.nodes * GPUS:,} devices, {given.pods:,} pods, {given.waiting:,} of them wait; aim: {AIM} s warm\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cluster.json"
        write(path, nodes=given.nodes, pods=given.pods, mixed=given.waiting)
        view: ClusterView = timed("load", lambda: load([str(path)]))
    gc.freeze() if given.default_collector else settle()  # as the server does
    said = timed("cold", lambda: ask(TOOL, view, {}))
    for _ in range(3):
        other = view.under()
        said = timed("warm, new view", lambda other=other: ask(TOOL, other, {}))
        timed("warm, again", lambda other=other: ask(TOOL, other, {}))
    print(f"\n{said.report}\n\n{tokens(said.report):,} tokens of text")


if __name__ == "__main__":
    main()
