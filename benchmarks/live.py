"""A live source beside a large cluster: time to the first view and answer, what it costs the API server, memory, and lag under churn.

    python -m benchmarks.live                                   5,000 nodes, 40,000 devices, 50,000 pods, 200 changes a second
    python -m benchmarks.live --nodes 200 --pods 2000 --rate 1000 --seconds 120
    python -m benchmarks.live --pages                           lists by pages instead of by watch

The API server is the replay server, in a process of its own on this machine, and takes its part of the processors: how much is printed.
Each question meets a view that nobody has seen. "Warm": a pod that asks for the same was explained before, in an earlier view; the first of
each kind stand apart. Times are of the clock, beside those of the processor that the asking thread took: on a machine that others load the
clock says more of them. Nothing here fails for being slow; it prints what this machine measured.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import cluster
from benchmarks.machine import fixed_work

MARK = "benchmark-mark"


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m benchmarks.live", description=__doc__)
    options.add_argument("--nodes", type=int, default=5_000)
    options.add_argument("--pods", type=int, default=50_000)
    options.add_argument("--waiting", type=int, default=500)
    options.add_argument("--rate", type=float, default=200, help="changes a second")
    options.add_argument("--seconds", type=float, default=60, help="of churn")
    options.add_argument("--pages", action="store_true", help="list by pages")
    options.add_argument("--serve", metavar="FILE", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.serve:
        return serve(chosen.serve)
    print(f"{platform.machine()}, {os.cpu_count()} processors, CPython {platform.python_version()}")
    with tempfile.TemporaryDirectory(prefix="k8s-topo-mcp-bench-") as folder:
        snapshot = Path(folder) / "cluster.json"
        cluster.write(snapshot, chosen.nodes, chosen.pods, mixed=chosen.waiting)
        child = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.live", "--serve", str(snapshot)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        before = fixed_work()
        try:
            measure(child, chosen)
        finally:
            assert child.stdin is not None
            child.stdin.close()
            child.wait(60)
        show(
            "fixed work, before and after",
            f"{before:.1f} ms, {fixed_work():.1f} ms",
            "to compare runs by",
        )
    return 0


def serve(snapshot: str) -> int:
    """The other process: serves, and does what lines on stdin say."""
    from fault_injection import replay
    from fault_injection.replay.churn import Churn

    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": MARK, "namespace": "default"}, "spec": {"containers": []}}
    with replay.serve(snapshot) as server, tempfile.TemporaryDirectory() as folder:
        print(server.kubeconfig(Path(folder) / "kubeconfig"), flush=True)
        churn: Churn | None = None
        busy = 0.0
        for line in sys.stdin:
            word, _, value = line.strip().partition(" ")
            if word == "churn":
                churn, busy = Churn(server, float(value)), time.process_time()
                churn.__enter__()
                print("ok", flush=True)
            elif word == "mark":
                moment = time.monotonic()
                server.apply({**pod, "metadata": {**pod["metadata"], "labels": {"mark": value}}})
                print(moment, flush=True)
            elif word == "stop" and churn is not None:
                churn.__exit__(None, None, None)
                print(json.dumps({"made": churn.made, "late": churn.late, "busy": time.process_time() - busy}), flush=True)
    return 0


def measure(child: subprocess.Popen[str], chosen: argparse.Namespace) -> None:
    from k8s_topo_mcp.objects import Pod
    from k8s_topo_mcp.scheduling.pod_signature import signature
    from k8s_topo_mcp.sources.live.pace import Pace
    from k8s_topo_mcp.sources.live.source import LiveSource
    from k8s_topo_mcp.tools.asking import ask
    from k8s_topo_mcp.tools.catalogue import find

    def told(line: str = "") -> str:
        assert child.stdin is not None
        assert child.stdout is not None
        if line:
            child.stdin.write(line + "\n")
            child.stdin.flush()
        return child.stdout.readline().strip()

    kubeconfig = told()
    # So large a cluster on so small a machine may need longer than the usual 30 s; what is printed is what it took.
    source = LiveSource(kubeconfig, pace=Pace(first=600, watch_list=not chosen.pages))
    began, busy = time.perf_counter(), time.process_time()
    source.start()
    view = source.view()
    worked = time.process_time() - busy
    show(
        "start to first view",
        f"{time.perf_counter() - began:.1f} s ({worked:.1f} s of a processor)",
        f"{sum(view.count(kind) for kind in view.kinds):,} objects",
    )
    tool = find("explain_pending")
    waiting = [pod.full_name for pod in view.all(Pod) if pod.is_pending][:50] or [None]
    ask(tool, view, {"pod": waiting[0]} if waiting[0] else {})
    show("start to first answer", f"{time.perf_counter() - began:.1f} s")
    cost = source.traffic.total
    show("asked of the API server", f"{cost.requests} requests, {cost.watches} watches, {cost.bytes / 1e6:.1f} MB", source_kind(chosen))
    show("memory", f"{resident():.0f} MB", f"peak {peak():.0f} MB")

    told(f"churn {chosen.rate}")
    before, lags, views, calls = source.traffic.total, list[float](), list[float](), list[float]()
    views_busy, calls_busy = list[float](), list[float]()
    firsts, firsts_busy, asked = list[float](), list[float](), set[Any]()
    started, cpu = time.monotonic(), time.process_time()
    number = 0
    while time.monotonic() - started < chosen.seconds:
        number += 1
        written = float(told(f"mark {number}"))
        while True:
            at, busy = time.perf_counter(), time.thread_time()
            view = source.view()
            views.append(time.perf_counter() - at)
            views_busy.append(time.thread_time() - busy)
            seen = view.get(Pod, MARK, "default")
            if seen is not None and seen.metadata.labels.get("mark") == str(number):
                break
            time.sleep(0.002)
        lags.append(time.monotonic() - written)
        name = waiting[number % len(waiting)]
        pod = there(source.view(), name)
        kind = None if pod is None else signature(source.view(), pod)
        first = kind not in asked
        asked.add(kind)
        at, busy = time.perf_counter(), time.thread_time()
        ask(tool, source.view(), {} if pod is None else {"pod": name})
        (firsts if first else calls).append(time.perf_counter() - at)
        (firsts_busy if first else calls_busy).append(time.thread_time() - busy)
        time.sleep(0.2)
    took, used = time.monotonic() - started, time.process_time() - cpu
    made = json.loads(told("stop"))
    cost = source.traffic.total
    show("changes", f"{made['made'] / took:.0f} a second", f"the server was {made['late']:.1f} s late")
    show(
        "lag, written to seen in a view", f"{median(lags) * 1000:.0f} ms", f"p95 {p95(lags) * 1000:.0f} ms, worst {max(lags) * 1000:.0f} ms"
    )
    rows = (
        ("making a view", views, views_busy),
        ("explain_pending, one pod, warm", calls, calls_busy),
        ("explain_pending, first of its kind", firsts, firsts_busy),
    )
    for name, wall, work in rows:
        if not wall:
            continue
        show(
            name,
            f"{median(wall) * 1000:.1f} ms ({median(work) * 1000:.1f} of a processor)",
            f"p95 {p95(wall) * 1000:.0f} ({p95(work) * 1000:.0f}) ms, of {len(wall)}",
        )
    show("watched", f"{(cost.bytes - before.bytes) / took / 1e6:.2f} MB a second", f"{cost.requests - before.requests} requests")
    show("processor", f"{used / took * 100:.0f} % of one", f"the API server beside it: {made['busy'] / took * 100:.0f} %")
    show("memory", f"{resident():.0f} MB", f"peak {peak():.0f} MB")
    source.close()


def source_kind(chosen: argparse.Namespace) -> str:
    return "lists by pages" if chosen.pages else "lists by watch"


def there(view: Any, name: str | None) -> Any:
    """The pod of that name, if it is still there."""
    from k8s_topo_mcp.objects import Pod

    namespace, _, own = (name or "").partition("/")
    return view.get(Pod, own, namespace)


def p95(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.95)] if values else 0.0


def resident() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6


def peak() -> float:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def show(name: str, value: str, more: str = "") -> None:
    print(f"{name:<34}{value:<40}{more}".rstrip(), flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
