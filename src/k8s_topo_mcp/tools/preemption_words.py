"""What preemption does for a pod, as a part of the answer and in one line."""

from __future__ import annotations

from k8s_topo_mcp.diagnosis.report import Report
from k8s_topo_mcp.rendering import clean, fold, plural
from k8s_topo_mcp.tools.models import Preemption

PODS, NODES = 2, 3
"""Victims and nodes named."""


def part(report: Report) -> Preemption | None:
    found = report.preempting
    if found is None:
        return None
    one = len(found.nodes) < 2
    return Preemption(
        outcome=found.outcome,
        nodes=tuple(clean(name, 80) for name in found.nodes[:NODES]),
        pods=tuple(clean(pod.full_name, 120) for pod in found.pods[:PODS]) if one else (),
        count=len(found.pods) or None,
        node_count=len(found.nodes) if len(found.nodes) > NODES else None,
        priority=report.pod.priority,
    )


def line(found: Preemption) -> str:
    """What the scheduler does, as a fact."""
    pods = fold(found.pods, total=found.count)
    if found.outcome == "spares devices":
        return f"priority {found.priority} evicts none of the holders ({pods}: lower): up to 1.37 preemption never frees devices"
    who = plural(found.count, "pod") if found.count else "pods"
    nodes = fold(found.nodes, total=found.node_count)
    where = f"a node such as {nodes}" if not found.count else nodes if len(found.nodes) == 1 else f"one of {nodes}"
    does = "evicts" if found.outcome == "evicts" else "has evicted"
    named = f": {pods}" if found.pods else ""
    return f"the scheduler {does} {who} of lower priority on {where}{named}; it waits for {'it' if found.count == 1 else 'them'} to end"
