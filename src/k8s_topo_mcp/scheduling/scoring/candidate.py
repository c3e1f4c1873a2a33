"""A node on which a pod fits, with what the scores read of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...dra.outcome import Outcome
from ..node_info import NodeInfo

MAX_NODE_SCORE = 100
"""What a plugin gives a node at most, before its weight (k8s.io/kube-scheduler/framework, MaxNodeScore)."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """`info`: the node as the pod finds it. `outcome`: which devices it would get there."""

    info: NodeInfo
    outcome: Outcome | None = None


def normalized(counts: Sequence[int], reverse: bool = False) -> list[int]:
    """Counts from 0 on, stretched so that the largest is MAX_NODE_SCORE (helper.DefaultNormalizeScore)."""
    largest = max(counts, default=0)
    if largest == 0:
        return [MAX_NODE_SCORE if reverse else 0] * len(counts)
    scaled = [MAX_NODE_SCORE * count // largest for count in counts]
    return [MAX_NODE_SCORE - score for score in scaled] if reverse else scaled
