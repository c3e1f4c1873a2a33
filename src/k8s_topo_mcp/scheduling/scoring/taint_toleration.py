"""TaintToleration: the fewer PreferNoSchedule taints that the pod doesn't tolerate, the better.

Source: k8s.io/kubernetes pkg/scheduler/framework/plugins/tainttoleration, Score and NormalizeScore.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...objects import Node, Pod
from ...view import ClusterView
from .. import taint_toleration
from ..skip import SKIP, Skip
from .candidate import Candidate, normalized

WEIGHT = 3
SOFT = "PreferNoSchedule"


def prepare(view: ClusterView) -> bool | Skip:
    """Whether Gt and Lt compare; SKIP where no node has such a taint, so that all get the same."""
    if not view.shared(Node, _any_soft):
        return SKIP
    return view.release.enabled("TaintTolerationComparisonOperators")


def score(comparison: bool, pod: Pod, candidates: Sequence[Candidate]) -> list[int]:
    tolerations = [entry for entry in pod.tolerations if entry.effect in ("", SOFT)]

    def count(node: Node) -> int:
        return sum(taint.effect == SOFT and not taint_toleration.tolerated(tolerations, taint, comparison) for taint in node.taints)

    return normalized([count(entry.info.node) for entry in candidates], reverse=True)


def _any_soft(nodes: tuple[Node, ...]) -> bool:
    return any(taint.effect == SOFT for node in nodes for taint in node.taints)
