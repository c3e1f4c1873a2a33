"""TaintToleration: NoSchedule and NoExecute taints keep pods away that don't tolerate them.

Source: k8s.io/kubernetes pkg/scheduler/framework/plugins/tainttoleration, Toleration.ToleratesTaint of k8s.io/api/core/v1, IsDecimalInteger
of apimachinery. The operators Gt and Lt compare integers and need the gate TaintTolerationComparisonOperators.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..findings import Finding, finding
from ..objects import Node, Pod, Toleration
from ..objects.node import Taint
from .node_info import NodeInfo

REASON = "node(s) had untolerated taint(s)"
BLOCKING = frozenset({"NoSchedule", "NoExecute"})
_CANONICAL = re.compile(r"0|-?[1-9][0-9]{0,18}")


def _tolerates(toleration: Toleration, taint: Taint, comparison: bool) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    match toleration.operator:
        case "" | "Equal":
            return toleration.value == taint.value
        case "Exists":
            return True
        case "Gt" | "Lt" if comparison:
            own, bound = _integer(taint.value), _integer(toleration.value)
            if own is None or bound is None:
                return False
            return own > bound if toleration.operator == "Gt" else own < bound
        case _:
            return False


def _integer(text: str) -> int | None:
    """A 64-bit integer as it is written by default: no leading zero, no sign but a minus, no "-0"."""
    if not _CANONICAL.fullmatch(text):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


def tolerated(tolerations: Iterable[Toleration], taint: Taint, comparison: bool) -> bool:
    return any(_tolerates(toleration, taint, comparison) for toleration in tolerations)


def untolerated(pod: Pod, node: Node, comparison: bool) -> Taint | None:
    """The first taint that keeps the pod off the node."""
    for taint in node.taints:
        if taint.effect in BLOCKING and not tolerated(pod.tolerations, taint, comparison):
            return taint
    return None


def filter(pod: Pod, info: NodeInfo, comparison: bool) -> tuple[Finding, ...]:
    taint = untolerated(pod, info.node, comparison)
    return () if taint is None else (finding("UNTOLERATED_TAINT", info.node.ref, "spec.taints", taint=str(taint)),)


def reason(found: Finding) -> str:
    return REASON
