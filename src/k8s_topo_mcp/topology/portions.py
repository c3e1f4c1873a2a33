"""Pieces of the graph: which vertices a node, a place, a pod adds, and the edges at them. `composition` puts them together.

A portion lives as long as the facts that it was made of, so a graph of thousands of nodes is put together without looking at every device
again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Literal

from k8s_topo_mcp.objects.pod import Pod

from .serving import role_of

Facts = dict[str, Any]
Edges = dict[str, dict[str, Facts]]
Partitions = Literal["held", "all"]
"""Which partitions are vertices: those that are held, or all. Of the others the whole says how many of each profile would fit."""


class Portion:
    """A piece of the graph. `own` are vertices that no other portion adds, `shared` those that others may add too (with the same facts).
    `out` has the edges that start at those of its own, as neighbour and facts, `shared_out` those that start at shared ones; a vertex
    without edges isn't there. Facts and edges that are alike may be one dict: nobody changes them later."""

    __slots__ = ("out", "own", "shared", "shared_out")

    def __init__(self) -> None:
        self.own: dict[str, Facts] = {}
        self.out: Edges = {}
        self.shared: dict[str, Facts] = {}
        self.shared_out: Edges = {}

    def edge(self, one: str, other: str, facts: Facts) -> None:
        """An edge between two vertices that are in this portion; the first one's dict must be its own."""
        table = self.out if one in self.own else self.shared_out
        if one in table:
            table[one][other] = facts
        else:
            table[one] = {other: facts}


@lru_cache(maxsize=1024)
def _pod_facts(phase: str, role: str) -> Facts:
    return {"type": "pod", "phase": phase, "role": role} if role else {"type": "pod", "phase": phase}


def pod_facts(pod: Pod) -> Facts:
    """A pod as a vertex."""
    return _pod_facts(pod.phase, role_of(pod))


def pod_path(pod: Pod) -> str:
    """The scope of a pod."""
    return f"pod/{pod.metadata.namespace}/{pod.metadata.name}"


def pods_in(portions: Iterable[Portion]) -> Mapping[str, None]:
    """The full names of the pods that some portions have."""
    found: dict[str, None] = {}
    for portion in portions:
        for vertex, facts in portion.shared.items():
            if facts["type"] == "pod":
                found[vertex.removeprefix("pod/")] = None
    return found
