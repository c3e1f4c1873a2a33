"""Where pods of one signature fit at the moment, and which of these nodes comes first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from heapq import heapify, heappop, heappush
from typing import Literal

from ..dra.outcome import Aborted, Unknown
from ..objects import Node, Pod
from .assumed import Assumed
from .node_info import NodeInfo, effective_requests
from .placement import NodePlacement, Placement

Preference = Literal["least allocated", "most allocated", "by name", "by name, reversed"]
"""In which order nodes are taken. The scheduler's default scores prefer the least allocated."""


class Score:
    """Lower comes first. NodeResourcesFit's default strategy over cpu and memory (least_allocated.go), turned round for the others."""

    def __init__(self, assumed: Assumed, prefer: Preference, places: Mapping[str, int]) -> None:
        self._assumed = assumed
        self._prefer: Preference = prefer
        self._places = places

    def __call__(self, pod: Pod, node: Node) -> float:
        match self._prefer:
            case "by name":
                return self._places[node.name]
            case "by name, reversed":
                return -self._places[node.name]
            case "least allocated":
                return -_left(pod, self._assumed.info(node))
            case "most allocated":
                return _left(pod, self._assumed.info(node))


def _left(pod: Pod, info: NodeInfo) -> float:
    """The mean share of cpu and memory that is left once the pod is there."""
    asked = effective_requests(pod)
    shares: list[float] = []
    for name in ("cpu", "memory"):
        total = info.allocatable.get(name)
        if total is not None and total.value:
            used = float(info.requested.get(name, 0)) + (float(asked[name].value) if name in asked else 0.0)
            shares.append(max(0.0, 1 - used / float(total.value)))
    return sum(shares) / len(shares) if shares else 0.0


class Places:
    """The nodes of one placement, kept up to date. `stale` nodes have to be judged again before anything is asked."""

    def __init__(self, placement: Placement, nodes: frozenset[str] | None, score: Score) -> None:
        self.placement = placement
        self.entries: dict[str, NodePlacement] = {}
        self.stale: set[str] = set()
        self._errors: set[str] = set()
        self._unknown: set[str] = set()
        self._score = score
        self._scores: dict[str, float] = {}
        self._heap: list[tuple[float, str]] = []
        for name, entry in placement.nodes.items():
            if nodes is None or name in nodes:
                self._note(name, entry)
        self._heap = [(value, name) for name, value in self._scores.items()]
        heapify(self._heap)

    def _note(self, name: str, entry: NodePlacement) -> None:
        self.entries[name] = entry
        self._scores.pop(name, None)
        for names, kind in ((self._errors, Aborted), (self._unknown, Unknown)):
            (names.add if entry.open and isinstance(entry.outcome, kind) else names.discard)(name)
        if entry.fits:
            self._scores[name] = self._score(self.placement.pod, entry.node)

    def update(self, placement: Placement) -> None:
        """These nodes were judged again."""
        for name, entry in placement.nodes.items():
            self._note(name, entry)
            if name in self._scores:
                heappush(self._heap, (self._scores[name], name))
        self.stale.clear()

    def best(self) -> NodePlacement | None:
        """The node to take, if there is one."""
        if self.placement.pod_wide:
            return None
        while self._heap:
            value, name = self._heap[0]
            if self._scores.get(name) == value:
                return self.entries[name]
            heappop(self._heap)
        return None

    @property
    def ends(self) -> bool:
        """An error on any node ends the attempt; a verdict that isn't known does where no other node is left."""
        if self.placement.pod_wide:
            return False
        return bool(self._errors or self.placement.devices.not_modelled) or (bool(self._unknown) and self.best() is None)

    def as_placement(self, pod: Pod) -> Placement:
        """The placement of another pod of this signature now."""
        return replace(self.placement, pod=pod, nodes=dict(self.entries))
