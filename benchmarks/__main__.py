"""`make bench`: load time, call times, memory on a generated large cluster, and start to first answer on the demo cluster.

Nothing here fails for being slow: it prints what this machine measured. Each measurement runs in its own process, so that memory is
that of one reading and "cold" means cold.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

AIMS = {
    "load": 6.0,
    "explain_pending, one pod, warm": 0.3,
    "start to first answer, demo cluster": 2.5,
    "one pod of many, warm p95": 0.15,
}
MEMORY = 700
WARM_PODS = 60
"""Different pods over which the 95th percentile is taken."""


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    options.add_argument("--nodes", type=int, default=5_000)
    options.add_argument("--pods", type=int, default=10_000)
    options.add_argument("--runs", type=int, default=3, help="of everything; the median is printed")
    options.add_argument("--waiting", type=int, default=500, help="pods that wait, for several causes, in the larger cluster of p95")
    options.add_argument("--many", type=int, default=50_000, help="pods of the larger cluster of p95 and of the gang")
    options.add_argument("--members", type=int, default=256, help="of the gang")
    options.add_argument("--probe", metavar="PATH", help=argparse.SUPPRESS)
    options.add_argument("--probe-many", metavar="PATH", help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.probe:
        print(json.dumps(probe(given.probe)))
        return 0
    if given.probe_many:
        print(json.dumps(probe_many(given.probe_many, given.members)))
        return 0
    print(f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    with tempfile.TemporaryDirectory() as folder:
        from benchmarks.cluster import GPUS, write

        path = Path(folder) / "cluster.json"
        began = time.perf_counter()
        write(path, nodes=given.nodes, pods=given.pods)
        took, size = time.perf_counter() - began, path.stat().st_size / 1e6
        print(f"generated {given.nodes:,} nodes, {given.nodes * GPUS:,} devices, {given.pods:,} pods: {size:,.0f} MB in {took:.1f} s")
        runs = [json.loads(_python("-m", "benchmarks", "--probe", str(path))) for _ in range(given.runs)]
        write(path, nodes=given.nodes, pods=given.many, mixed=given.waiting)
        many = json.loads(_python("-m", "benchmarks", "--probe-many", str(path), "--members", str(given.members)))
    print(f"\n{'median of ' + str(given.runs):<40}{'elapsed':>12}{'CPU':>12}")
    for name in runs[0]["seconds"]:
        show(name, *zip(*(run["seconds"][name] for run in runs), strict=True))
    memory = median(run["memory"] for run in runs)
    different = min(WARM_PODS, given.waiting)
    print(f"\n{given.many:,} pods, {given.waiting:,} of them wait for several causes; explain_pending of {different} of these; one run")
    for name, (elapsed, cpu) in many.items():
        show(name, [elapsed], [cpu])
    print()
    print(f"{'peak memory':<40}{memory:>8,.0f} MiB{'':>12}   (aim: {MEMORY} MiB)")
    show("start to first answer, demo cluster", [first_answer() for _ in range(given.runs)])
    return 0


def show(name: str, elapsed: Sequence[float], cpu: Sequence[float] = ()) -> None:
    aim = f"   (aim: {AIMS[name]:g} s)" if name in AIMS else ""
    used = f"{median(cpu):>10.3f} s" if cpu else f"{'':>12}"
    print(f"{name:<40}{median(elapsed):>10.3f} s{used}{aim}".rstrip())


def probe(path: str) -> dict[str, Any]:
    """All measurements of one process that reads the large cluster: elapsed and CPU seconds by name, and peak memory in MiB."""
    from k8s_topo_mcp.cli.demo import CLAIM
    from k8s_topo_mcp.objects import Pod
    from k8s_topo_mcp.sources.collector import settle
    from k8s_topo_mcp.sources.snapshot import load
    from k8s_topo_mcp.tools.asking import ask
    from k8s_topo_mcp.tools.catalogue import find

    found: dict[str, tuple[float, float]] = {}

    def timed(name: str, run: Callable[[], Any]) -> Any:
        began, used = time.perf_counter(), time.process_time()
        result = run()
        found[name] = time.perf_counter() - began, time.process_time() - used
        return result

    view = timed("load", lambda: load([path]))
    settle()  # as the server does
    pending = [pod.full_name for pod in view.all(Pod) if pod.is_pending]
    questions: list[tuple[str, str, dict[str, Any]]] = [
        ("explain_pending, whole cluster", "explain_pending", {}),
        ("topology_graph, whole cluster", "topology_graph", {}),
        ("claim_feasibility, inline claim", "claim_feasibility", {"manifest": CLAIM}),
    ]
    if pending:
        questions.insert(0, ("explain_pending, one pod", "explain_pending", {"pod": pending[0]}))
    for name, tool, arguments in questions:
        timed(f"{name}, cold", lambda tool=tool, arguments=arguments: ask(find(tool), view, arguments))
        timed(f"{name}, warm", lambda tool=tool, arguments=arguments: ask(find(tool), view, arguments))
    # Kilobytes on Linux, bytes on macOS.
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1024 * 1024)
    return {"seconds": found, "memory": memory}


def probe_many(path: str, members: int) -> dict[str, tuple[float, float]]:
    """Elapsed and CPU seconds: the 95th percentile over different pods that wait, once the first questions have been asked, and a gang that
    fits and one that doesn't."""
    from benchmarks.cluster import gang
    from k8s_topo_mcp.objects import Pod, decode
    from k8s_topo_mcp.sources.collector import settle
    from k8s_topo_mcp.sources.snapshot import load
    from k8s_topo_mcp.tools.asking import ask
    from k8s_topo_mcp.tools.catalogue import find
    from k8s_topo_mcp.view import Add

    view = load([path], gates={"GenericWorkload": True})
    settle()
    tool = find("explain_pending")
    pending = [pod.full_name for pod in view.all(Pod) if pod.is_pending]

    def timed(run: Callable[[], Any]) -> tuple[float, float]:
        began, used = time.perf_counter(), time.process_time()
        run()
        return time.perf_counter() - began, time.process_time() - used

    asked = pending[:: max(1, len(pending) // WARM_PODS)][:WARM_PODS]
    rounds = [[timed(lambda name=name: ask(tool, view, {"pod": name})) for name in asked] for _ in range(2)]
    warm = [sorted(column) for column in zip(*rounds[1], strict=True)]
    found = {
        "one pod of many, warm median": (median(warm[0]), median(warm[1])),
        "one pod of many, warm p95": (warm[0][len(asked) * 95 // 100], warm[1][len(asked) * 95 // 100]),
    }
    for size, word in ((1, "that fits"), (2, "that doesn't")):
        together = [made for item in gang(members, size) if (made := decode(item)) is not None]
        changed = view.with_edits(*map(Add, together))
        found[f"gang of {members} {word}"] = timed(lambda changed=changed: ask(tool, changed, {"pod": "team-0/together-0"}))
    return found


def first_answer() -> float:
    """From the start of the server process to its first answer, as a client waits for it."""
    import anyio
    from mcp import Client, StdioServerParameters

    async def ask_once() -> float:
        process = StdioServerParameters(command=sys.executable, args=["-m", "k8s_topo_mcp", "serve", "--demo"], env=dict(os.environ))
        began = time.perf_counter()
        async with Client(process) as client:
            said = await client.call_tool("explain_pending", {"pod": "default/trainer-0"})
            took = time.perf_counter() - began
        assert not said.is_error
        return took

    return anyio.run(ask_once)


def _python(*arguments: str) -> str:
    return subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    sys.exit(main())
