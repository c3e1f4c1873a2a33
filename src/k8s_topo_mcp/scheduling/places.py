"""Where pods of one kind fit at the moment, and which of these nodes comes first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Literal

from ..dra.outcome import Aborted, Unknown
from ..objects import Node, Pod
from . import scoring
from .assumed import Assumed
from .node_info import NodeInfo
from .node_placement import NodePlacement
from .placement import Placement

Preference = Literal["by score", "by score, reversed", "by name", "by name, reversed"]
"""In which order nodes are taken. The scheduler's is that of its scores; of nodes with equal scores it takes any."""


Worth = dict[int, tuple[NodeInfo, int]]
"""id of a node's info -> that info, and what it is worth to pods of one kind."""


class Places:
    """The nodes of one placement on which the pod may fit, kept up to date; nothing opens another. `stale` nodes have to be judged again
    before anything is asked. `order` is the place of a node's name in the cluster; `worth` is kept for others of the kind."""

    def __init__(
        self,
        placement: Placement,
        pod: Pod,
        nodes: frozenset[str] | None,
        prefer: Preference,
        assumed: Assumed,
        order: Callable[[str], int],
        worth: Worth | None = None,
    ) -> None:
        self._pod = pod
        self.placement = placement
        self._nodes = nodes
        self.entries: dict[str, NodePlacement] = {}
        self.stale: set[str] = set()
        self._errors: set[str] = set()
        self._unknown: set[str] = set()
        self._prefer: Preference = prefer
        self._assumed = assumed
        self._order = order
        self._worth: Worth = {} if worth is None else worth
        self._scores: dict[str, int] = {}
        self._by_score: dict[int, dict[str, None]] = {}
        self._merged: dict[str, NodePlacement] | None = None
        for name, entry in placement.contending.items():
            if nodes is None or name in nodes:
                self._note(name, entry)

    def copy(self, assumed: Assumed, order: Callable[[str], int]) -> Places:
        """The same, to go on from in another play."""
        other = copy(self)
        other._assumed, other._order, other._merged = assumed, order, None
        other.entries, other.stale, other._scores = dict(self.entries), set(self.stale), dict(self._scores)
        other._errors, other._unknown = set(self._errors), set(self._unknown)
        other._by_score = {score: dict(names) for score, names in self._by_score.items()}
        return other

    def _note(self, name: str, entry: NodePlacement) -> None:
        self.entries[name] = entry
        before = self._scores.pop(name, None)
        if before is not None:
            of_score = self._by_score[before]
            del of_score[name]
            if not of_score:
                del self._by_score[before]
        for names, kind in ((self._errors, Aborted), (self._unknown, Unknown)):
            (names.add if entry.open and isinstance(entry.outcome, kind) else names.discard)(name)
        if entry.fits:
            score = self._scores[name] = self._score(entry.node)
            self._by_score.setdefault(score, {})[name] = None

    def _score(self, node: Node) -> int:
        match self._prefer:
            case "by name":
                return -self._order(node.name)
            case "by name, reversed":
                return self._order(node.name)
            case "by score":
                return self._of_node(node)
            case "by score, reversed":
                return -self._of_node(node)

    def _of_node(self, node: Node) -> int:
        info = self._assumed.info(node)
        kept = self._worth.get(id(info))
        if kept is None:
            kept = self._worth[id(info)] = info, scoring.of_node(self._assumed.view, self._pod, info)
        return kept[1]

    def update(self, nodes: Mapping[str, NodePlacement]) -> None:
        """These nodes were judged again."""
        for name, entry in nodes.items():
            self._note(name, entry)
        self.stale.clear()
        self._merged = None

    @property
    def fitting(self) -> tuple[str, ...]:
        """Nodes on which the pod fits."""
        return () if self.placement.pod_wide else tuple(self._scores)

    def best(self, pod: Pod | None = None) -> NodePlacement | None:
        """The node to take, if there is one; of several the first in the cluster's order."""
        names = self.equally_good(pod)
        return self.entries[min(names, key=self._order)] if names else None

    def equally_good(self, pod: Pod | None = None) -> Sequence[str]:
        """The nodes that come first: several if their scores are equal. The one that the pod is nominated to, if it fits there, before all
        others (schedule_one.go, evaluateNominatedNode)."""
        if self.placement.pod_wide or not self._scores:
            return ()
        nominated = (pod or self._pod).nominated_node_name
        if nominated in self._scores:
            return (nominated,)
        if len(self._scores) == 1:
            return tuple(self._scores)
        totals = self._compared(pod or self._pod)
        if totals is None:
            return tuple(self._by_score[max(self._by_score)])
        most = max(totals.values())
        return tuple(name for name, total in totals.items() if total == most)

    def _compared(self, pod: Pod) -> dict[str, int] | None:
        """All scores together where some compare nodes with each other; None where none does."""
        if self._prefer not in ("by score", "by score, reversed"):
            return None
        view, placed = self._assumed.view, self._assumed.placed
        if not scoring.compares(view, pod, self.placement.devices, placed):
            return None
        candidates = [scoring.Candidate(self._assumed.info(self.entries[name].node), self.entries[name].outcome) for name in self._scores]
        sign = 1 if self._prefer == "by score" else -1
        more = scoring.among(view, pod, self.placement.devices, candidates, placed)
        return {name: own + sign * other for (name, own), other in zip(self._scores.items(), more, strict=True)}

    @property
    def ends(self) -> bool:
        """An error on any node ends the attempt; a verdict that isn't known does where no other node is left."""
        if self.placement.pod_wide:
            return False
        return bool(self._errors or self.placement.devices.unknown) or (bool(self._unknown) and not self._scores)

    def as_placement(self, pod: Pod) -> Placement:
        """The placement of another pod of this kind now."""
        if self._merged is None:
            named, nodes = self._nodes, self.placement.nodes
            there = nodes if named is None else {name: entry for name, entry in nodes.items() if name in named}
            self._merged = {**there, **self.entries}
        return replace(self.placement, pod=pod, nodes=self._merged)
