"""NodeResourcesFit: what the pod asks against what is left of the node's allocatable.

Source: k8s.io/kubernetes pkg/scheduler/framework/plugins/noderesources/fit.go. A resource that the node doesn't list counts as zero there.
Extended resources that a DeviceClass backs are devices' business, see `dynamic_resources`.
"""

from __future__ import annotations

from ..findings import Finding, finding
from ..objects import Pod
from ..objects.quantity import Quantity
from .node_info import NodeInfo, effective_requests

DEFAULT_POD_LIMIT = 0


def filter(pod: Pod, info: NodeInfo, devices: frozenset[str] = frozenset()) -> tuple[Finding, ...]:
    """`devices` are resources that a DeviceClass has to meet on this node: they aren't looked at here."""
    found: list[Finding] = []
    allowed = info.allocatable.get("pods")
    limit = int(allowed.value) if allowed is not None else DEFAULT_POD_LIMIT
    if len(info.pods) + 1 > limit:
        found.append(finding("TOO_MANY_PODS", info.node.ref, "status.allocatable.pods", pods=len(info.pods), allowed=limit))
    requests = effective_requests(pod)
    for name in sorted(requests, key=_place):
        asked = requests[name]
        if asked.value == 0 or name in devices:
            continue
        there = info.allocatable.get(name)
        total = there.value if there is not None else 0
        free = total - info.requested.get(name, 0)  # type: ignore[operator]
        if asked.value > free:
            code = "RESOURCE_TOO_LARGE" if asked.value > total else "INSUFFICIENT_RESOURCE"
            found.append(
                finding(
                    code,
                    info.node.ref,
                    f"status.allocatable.{name}",
                    resource=name,
                    asked=str(asked),
                    free=_text(free, asked),
                    allocatable=str(there) if there is not None else "0",
                )
            )
    return tuple(found)


_FIRST = ("cpu", "memory", "ephemeral-storage")


def _place(name: str) -> tuple[int, str]:
    """The order in which resources are looked at; of the others upstream's is random."""
    return _FIRST.index(name) if name in _FIRST else len(_FIRST), name


def _text(amount: object, like: Quantity) -> str:
    """A computed amount in the notation of the request."""
    try:
        whole = int(amount)  # type: ignore[call-overload]
    except (TypeError, ValueError):
        return str(amount)
    if whole == amount:
        return str(Quantity.of(whole, like.format))
    return str(Quantity(int(amount * 1000), -3, like.format))  # type: ignore[operator]


def reason(found: Finding) -> str:
    return "Too many pods" if found.code == "TOO_MANY_PODS" else f"Insufficient {found.text('resource')}"
