"""Our matching core and the real allocator (1.37) on the same problems in one run: `python -m benchmarks.allocator`.

Prints times of both and their ratio. Needs Go for the real one; without it prints ours alone. A time of theirs past the limit is shown as
"> limit". The filter of kube-scheduler gives up after 10 s.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
import tracemalloc
from typing import Any

Row = dict[str, Any]
LIMIT = 12
DRIVER = "gpu.example.com"
NUMA, PARENT = "resource.kubernetes.io/numaNode", f"{DRIVER}/parentUUID"


def device(name: str, **attributes: int | str) -> Row:
    kinds = {int: "int", str: "string"}
    return {
        "name": name,
        "attributes": {key.replace("__", "/"): {kinds[type(value)]: value} for key, value in attributes.items()},
        "capacity": {"memory": {"value": "81559Mi"}},
    }


def a_slice(node: str, devices: list[Row], **more: Any) -> Row:
    pool = {"name": node, "generation": 1, "resourceSliceCount": more.pop("count", 1)}
    name = more.pop("name", f"{node}-{DRIVER}")
    return {"metadata": {"name": name}, "spec": {"driver": DRIVER, "nodeName": node, "pool": pool, "devices": devices, **more}}


def a_claim(requests: list[Row], *constraints: Row) -> Row:
    return {
        "metadata": {"name": "c", "namespace": "default"},
        "spec": {"devices": {"requests": requests, "constraints": list(constraints)}},
    }


def ask(count: int, name: str = "r", **more: Any) -> Row:
    return {"name": name, "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": count, **more}}


def row(slices: list[Row], claim: Row, node: str = "n0") -> Row:
    features = (
        "AdminAccess PrioritizedList PartitionableDevices DeviceTaints DeviceBindingAndStatus ConsumableCapacity FractionalCapacityRange"
    )
    return {
        "features": dict.fromkeys(features.split(), True),
        "node": {"metadata": {"name": node}},
        "claims": [claim],
        "classes": [
            {"metadata": {"name": "gpu"}, "spec": {"selectors": [{"cel": {"expression": f'device.driver == "{DRIVER}"'}}]}},
        ],
        "slices": slices,
        "timeoutSeconds": LIMIT,
    }


def gpus(node: str, count: int, per_numa: int) -> list[Row]:
    found = [device(f"gpu-{index}", productName="H100", index=index) for index in range(count)]
    for index, entry in enumerate(found):
        entry["attributes"][NUMA] = {"int": index // per_numa}
    del node
    return found


def numa_group(size: int) -> Row:
    """(a) One device more than a NUMA node has, on a node with two of them."""
    return row([a_slice("n0", gpus("n0", 2 * size, size))], a_claim([ask(size + 1)], {"matchAttribute": NUMA}))


def plain(size: int) -> Row:
    """(a) One device more than the node has."""
    return row([a_slice("n0", gpus("n0", size, size))], a_claim([ask(size + 1)]))


def alternatives(requests: int) -> Row:
    """(b) Each request wants 4, 3, 2 or 2 of 8 devices; the last one wants all 8."""

    def subrequest(index: int, count: int) -> Row:
        return {"name": f"s{index}", "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": count}

    asked = [
        {"name": f"r{number}", "firstAvailable": [subrequest(index, count) for index, count in enumerate((4, 3, 2, 2))]}
        for number in range(requests)
    ]
    return row([a_slice("n0", gpus("n0", 8, 8))], a_claim([*asked, ask(8, "last")]))


def mig_devices(node: str, card: int) -> tuple[list[Row], Row]:
    """All partitions of one H100 as its driver publishes them (25 with the whole), and its counters."""
    memory = {"1g.10gb": 1, "1g.20gb": 2, "2g.20gb": 2, "3g.40gb": 4, "4g.40gb": 4, "7g.80gb": 8}
    places = {"1g.10gb": range(7), "1g.20gb": (0, 2, 4, 6), "2g.20gb": (0, 2, 4), "3g.40gb": (0, 4), "4g.40gb": (0,), "7g.80gb": (0,)}
    uuid = f"GPU-{node}-{card}"
    found: list[Row] = []

    def partition(name: str, profile: str, start: int, slices: int) -> Row:
        made = device(name, type="mig", profile=profile, parentUUID=uuid)
        used = {f"memory-slice-{index}": {"value": "1"} for index in range(start, min(8, start + slices))}
        made["consumesCounters"] = [{"counterSet": f"gpu-{card}", "counters": used}]
        return made

    for profile, starts in places.items():
        for start in starts:
            found.append(partition(f"gpu-{card}-mig-{profile.replace('.', '')}-{start}", profile, start, memory[profile]))
            if profile == "1g.10gb":
                found.append(partition(f"gpu-{card}-mig-{profile.replace('.', '')}me-{start}", f"{profile}+me", start, 1))
    found = found[:24]
    found.append(partition(f"gpu-{card}", "whole", 0, 8))
    return found, {"name": f"gpu-{card}", "counters": {f"memory-slice-{index}": {"value": "1"} for index in range(8)}}


def mig_node(node: str, cards: int = 8) -> list[Row]:
    """Counters in a slice of their own, at most 64 devices a slice."""
    devices: list[Row] = []
    counters: list[Row] = []
    for card in range(cards):
        own, counter_set = mig_devices(node, card)
        devices += own
        counters.append(counter_set)
    parts = [devices[start : start + 50] for start in range(0, len(devices), 50)]
    count = len(parts) + 1
    slices = [a_slice(node, part, count=count, name=f"{node}-{index}") for index, part in enumerate(parts)]
    made = a_slice(node, [], count=count, name=f"{node}-counters")
    del made["spec"]["devices"]
    made["spec"]["sharedCounters"] = counters
    return [*slices, made]


def mig_claim(feasible: bool) -> Row:
    """(d) Four requests tied by parentUUID: 3g + 2g + 1g + 1g fit one card; with a second 4g they don't."""
    profiles = ("3g.40gb", "2g.20gb", "1g.10gb", "1g.10gb") if feasible else ("4g.40gb", "3g.40gb", "2g.20gb", "1g.10gb")
    requests = [
        ask(1, f"r{index}", selectors=[{"cel": {"expression": f'device.attributes["{DRIVER}"].profile == "{profile}"'}}])
        for index, profile in enumerate(profiles)
    ]
    return a_claim(requests, {"matchAttribute": PARENT})


def ours(problem_row: Row, nodes: list[str]) -> tuple[float, float, str]:
    """(cold seconds, warm seconds, verdict) over the nodes: cold includes selectors, pools and node classes."""
    from k8s_topo_mcp.dra.allocation import allocate_each
    from k8s_topo_mcp.dra.outcome import Allocated, Unknown
    from k8s_topo_mcp.dra.problem import TargetNode
    from tests.conformance.comparison import problem_of

    problem, _ = problem_of(problem_row, 37)
    targets = [TargetNode(name, {}) for name in nodes]
    times: list[float] = []
    outcomes: Any = {}
    gc.freeze()  # as the server does after it has read a cluster
    for _ in range(2):
        began = time.perf_counter()
        outcomes = allocate_each(problem, targets)
        times.append(time.perf_counter() - began)
    gc.unfreeze()
    kinds = {type(outcome) for outcome in outcomes.values()}
    verdict = "fits" if Allocated in kinds else "unknown" if Unknown in kinds else "no"
    return times[0], times[1], verdict


def theirs(oracle: Any, problem_row: Row, nodes: list[str]) -> tuple[float, str] | None:
    """Seconds of the real allocator over the nodes, one call each, as the scheduler does; None without Go."""
    if oracle is None:
        return None
    total, verdict = 0.0, "no"
    rows = [{**problem_row, "node": {"metadata": {"name": name}}} for name in nodes]
    for answer in oracle.allocate(rows):
        total += answer["seconds"]
        if answer.get("errorKind") == "timeout":
            return LIMIT, "timeout"
        if answer.get("results") is not None:
            verdict = "fits"
    return total, verdict


def line(name: str, mine: tuple[float, float, str], real: tuple[float, str] | None) -> None:
    cold, warm, verdict = mine
    text = f"{name:<52}{verdict:<8}ours {cold * 1e3:>9.1f} ms cold {warm * 1e3:>9.1f} ms warm"
    if real is not None:
        seconds, other = real
        limit = "> " if other == "timeout" else "  "
        text += f"   Go {limit}{seconds * 1e3:>9.1f} ms ({other})   Go / ours {seconds / max(cold, 1e-9):>9.2f}"
    print(text, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.allocator", description=__doc__)
    parser.add_argument("--nodes", type=int, default=5_000)
    options = parser.parse_args()
    memory = memory_per_thousand()  # first, while the process is small
    oracle = _oracle()
    one = ["n0"]
    print("(a) infeasible on one node: one more than a NUMA node has, one more than the node has")
    for size in (4, 8, 12, 16, 20):
        for title, made in ((f"{size + 1} on one NUMA node of {size}", numa_group(size)), (f"{size + 1} of {size}", plain(size))):
            line(f"  {title}", ours(made, one), theirs(oracle, made, one))
    print("(b) alternatives: requests of 4, 3, 2 or 2 of 8, then 8")
    for requests in (2, 3, 4, 5):
        made = alternatives(requests)
        line(f"  {requests} requests", ours(made, one), theirs(oracle, made, one))
    print(f"(c) one claim over {options.nodes:,} nodes × 8")
    names = [f"n{index}" for index in range(options.nodes)]
    slices = [a_slice(name, gpus(name, 8, 4)) for name in names]
    for title, claim in (("2 devices (fits)", a_claim([ask(2)])), ("9 devices (doesn't)", a_claim([ask(9)]))):
        line(f"  {title}", ours(row(slices, claim), names), None)
    few = names[:50]
    for title, claim in (("2 devices, 50 of the nodes", a_claim([ask(2)])), ("9 devices, 50 of the nodes", a_claim([ask(9)]))):
        made = row(slices[:50], claim)
        line(f"  {title}", ours(made, few), theirs(oracle, made, few))
    print("(d) MIG: 4 requests tied by parentUUID, nodes × 8 H100 × 25 partitions")
    for title, feasible in (("fits", True), ("doesn't", False)):
        names = [f"n{index}" for index in range(100)]
        made = row([entry for name in names for entry in mig_node(name)], mig_claim(feasible))
        line(f"  {title}, 100 nodes", ours(made, names), None)
        made = row(mig_node("n0"), mig_claim(feasible))
        line(f"  {title}, 1 node", ours(made, one), theirs(oracle, made, one))
    print(f"(e) memory per 1,000 devices: {memory:,.0f} KiB (decoded slices, selectors judged, node classes)")
    if oracle is not None:
        per_step, per_refusal, calls, refused = costs(oracle)
        print(
            f"(f) the real allocator takes {per_step * 1e6:.1f} µs a step (17 of 16, {calls:,} steps) and {per_refusal * 1e6:.1f} µs, "
            f"{per_refusal / per_step:.1f} steps, for a device that a constraint refuses (15 on one NUMA node of 14, {refused:,} of them)"
        )
    if oracle is not None:
        oracle.close()
    return 0


def costs(oracle: Any) -> tuple[float, float, int, int]:
    """(seconds of a step, seconds of a device that is tried and refused, steps of the one problem, refused devices of the other)."""
    from k8s_topo_mcp.dra.effort import effort
    from k8s_topo_mcp.dra.prepared import prepare
    from k8s_topo_mcp.dra.problem import TargetNode
    from tests.conformance.comparison import problem_of

    steps, refusals = plain(16), numa_group(14)
    counted = effort(prepare(problem_of(refusals, 37)[0]), TargetNode("n0", {}))
    assert counted is not None
    first, second = oracle.allocate([steps, refusals])
    per_step = first["seconds"] / first["calls"]
    return per_step, (second["seconds"] - second["calls"] * per_step) / counted.refused, first["calls"], counted.refused


def _oracle() -> Any:
    from tests.oracle.build import BuildError
    from tests.oracle.client import Oracle

    try:
        return Oracle("1.37")
    except BuildError as error:
        print(f"without Go: {error}", file=sys.stderr)
        return None


def memory_per_thousand(nodes: int = 1_000) -> float:
    """KiB of what is kept for 1,000 devices: decoded, judged by a selector, sorted into node classes."""
    from k8s_topo_mcp.dra.allocation import allocate_each
    from k8s_topo_mcp.dra.problem import TargetNode
    from tests.conformance.comparison import problem_of

    names = [f"m{index}" for index in range(nodes)]
    made = row([a_slice(name, gpus(name, 8, 4)) for name in names], a_claim([ask(2)]))
    tracemalloc.start()
    problem, _ = problem_of(made, 37)
    allocate_each(problem, [TargetNode(name, {}) for name in names])
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return kept / 1024 / (nodes * 8 / 1000)


if __name__ == "__main__":
    sys.exit(main())
