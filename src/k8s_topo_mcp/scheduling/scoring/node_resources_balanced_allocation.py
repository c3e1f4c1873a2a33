"""NodeResourcesBalancedAllocation: the nearer the used shares of cpu and memory are to each other, the better.

Source: k8s.io/kubernetes pkg/scheduler/framework/plugins/noderesources/balanced_allocation.go. From 1.36 on what counts is how much better
or worse the pod makes it. A pod that asks for neither gets nothing anywhere.
"""

from __future__ import annotations

from math import ceil

from ...objects import Pod
from ..node_info import NodeInfo, effective_requests
from .candidate import MAX_NODE_SCORE
from .node_resources_fit import Amounts, allocatable, amounts

COMPARES_SINCE = 36


def score(pod: Pod, info: NodeInfo, minor: int) -> int:
    """What the plugin gives the node."""
    asked = amounts(effective_requests(pod))
    if asked == (0, 0):
        return 0
    there = allocatable(info)
    taken = ceil(info.requested.get("cpu", 0) * 1000), ceil(info.requested.get("memory", 0))
    after = _balance((taken[0] + asked[0], taken[1] + asked[1]), there)
    if minor < COMPARES_SINCE:
        return after
    return MAX_NODE_SCORE // 2 + _half(MAX_NODE_SCORE // 2 + after - _balance(taken, there))


def _half(value: int) -> int:
    """As Go divides: towards zero."""
    return value // 2 if value >= 0 else -(-value // 2)


def _balance(requested: Amounts, there: Amounts) -> int:
    shares = [min(requested[at] / there[at], 1.0) for at in (0, 1) if there[at]]
    apart = abs((shares[0] - shares[1]) / 2) if len(shares) == 2 else 0.0
    return int((1 - apart) * MAX_NODE_SCORE)
