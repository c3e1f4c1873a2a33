"""What the page of `topology --html` costs on a large cluster: the time to make it, its size, plain and compressed.

    PYTHONPATH=src python -m benchmarks.page                   5,000 nodes, 40,000 devices
    PYTHONPATH=src python -m benchmarks.page --nodes 500 --out page.html

CPU seconds stand beside elapsed ones, because a busy machine stretches only the latter.
"""

from __future__ import annotations

import argparse
import gzip
import os
import platform
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.cluster import write
from k8s_topo_mcp.sources.collector import settle
from k8s_topo_mcp.sources.snapshot import load
from k8s_topo_mcp.tools.topology_page import topology_page


def timed(name: str, run: Callable[[], Any]) -> Any:
    began, used = time.perf_counter(), time.process_time()
    result = run()
    elapsed, cpu = time.perf_counter() - began, time.process_time() - used
    print(f"{name:<40}{elapsed:>10.3f} s{cpu:>10.3f} s CPU")
    return result


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.page", description=__doc__)
    options.add_argument("--nodes", type=int, default=5_000)
    options.add_argument("--out", metavar="FILE", help="keep the page, to look at it")
    given = options.parse_args()
    print(f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cluster.json"
        write(path, nodes=given.nodes, pods=2 * given.nodes)
        view = load([str(path)])
    settle()
    made = timed("page, cold", lambda: topology_page(view))
    made = timed("page, warm", lambda: topology_page(view))
    content = made.html.encode()
    size, packed = len(content) / 1e6, len(gzip.compress(content)) / 1e6
    print(f"{made.nodes:,} nodes, {made.devices:,} devices: {size:.2f} MB, {packed:.2f} MB as .gz")
    if given.out:
        Path(given.out).write_bytes(content)


if __name__ == "__main__":
    main()
