"""A pod against one empty new node of a template: does it take it, refuse it, or is that not known before the node is there?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..dra.outcome import Aborted, Allocated, Unallocatable, Unknown
from ..objects import Node, Pod
from ..scheduling.node_info import effective_requests
from ..scheduling.placement import NodePlacement, Placement, place
from ..scheduling.pod_signature import signature
from ..view import ClusterView
from .new_nodes import with_nodes
from .template import NodeTemplate
from .unpredictable import host_names, labels_read, relaxed

Verdict = Literal["fits", "refused", "unknown"]

ABOUT_LABELS = frozenset(
    {
        "NODE_AFFINITY_MISMATCH",
        "SPREAD_KEY_MISSING",
        "SPREAD_SKEW",
        "POD_AFFINITY_UNMET",
        "POD_ANTI_AFFINITY",
        "REFUSED_BY_POD",
        "VOLUME_NODE_AFFINITY",
        "VOLUME_ZONE",
        "NO_VOLUME_TO_BIND",
        "STORAGE_SHORT",
    }
)
"""Findings that follow from the values of a node's labels."""


@dataclass(frozen=True, slots=True, eq=False)
class OnNewNode:
    """`placement`: the pod on that one node, with findings and funnel as of a real one. `why` it isn't known."""

    template: NodeTemplate
    placement: Placement
    verdict: Verdict
    why: str = ""

    @property
    def node(self) -> NodePlacement:
        return next(iter(self.placement.nodes.values()))


def on_new_node(view: ClusterView, pod: Pod, template: NodeTemplate, node: Node) -> OnNewNode:
    """The pod on `node`, a new one of the template that is in the view."""
    return judged(view, pod, template, node, place(view, pod, (node,)))


def judged(
    view: ClusterView, pod: Pod, template: NodeTemplate, node: Node, placement: Placement, hosts: frozenset[str] | None = None
) -> OnNewNode:
    """What a placement on that node means, as it isn't there yet. `hosts`: the host names of nodes that are there, where these aren't in
    the view."""
    verdict, why = _verdict(view, pod, template, node, placement, host_names(view) if hosts is None else hosts)
    return OnNewNode(template, placement, verdict, why)


def _verdict(
    view: ClusterView, pod: Pod, template: NodeTemplate, node: Node, placement: Placement, hosts: frozenset[str]
) -> tuple[Verdict, str]:
    if placement.unread:
        return "unknown", placement.unread
    if placement.pod_wide:
        return "refused", ""
    entry = placement.nodes[node.name]
    outcome = entry.outcome
    if isinstance(outcome, Unallocatable | Aborted) and template.devices_known:
        return "refused", ""
    read = labels_read(view, pod, hosts) if template.unpredictable else {}
    keys = {key: what for key, what in read.items() if key in template.unpredictable}
    if keys:
        loose = place(view, relaxed(pod, frozenset(keys)), (node,)).nodes[node.name]
        if any(found.code not in ABOUT_LABELS or found.code == "NODE_AFFINITY_MISMATCH" for found, _ in loose.plain):
            return "refused", ""
        key, what = next(iter(keys.items()))
        return "unknown", f"which {key} a new node of {template.name} will have isn't known, and {what} depends on it"
    if entry.plain or entry.elsewhere:
        return "refused", ""
    if outcome is not None and not isinstance(outcome, Allocated) and not template.devices_known:
        return "unknown", f"nothing says which devices a new node of {template.name} will publish"
    if isinstance(outcome, Unknown):
        return "unknown", outcome.why
    unstated = [name for name, amount in effective_requests(pod).items() if amount.value and name in template.amounts_unknown]
    if unstated:
        return "unknown", f"nobody states how much {', '.join(sorted(unstated))} a new node of {template.name} has"
    return "fits", ""


def doubtful_on(view: ClusterView, pods: Sequence[Pod], template: NodeTemplate) -> tuple[tuple[Pod, str], ...]:
    """Pods of which it isn't known whether a new node of the template takes them, with why; wherever else they may run."""
    new = with_nodes(view, ((template, 1),))
    node = new.of(0)[0]
    known: dict[object, OnNewNode] = {}
    found: list[tuple[Pod, str]] = []
    for pod in pods:
        own = signature(view, pod), pod.scheduling_group
        if own not in known:
            known[own] = on_new_node(new.view, pod, template, node)
        if known[own].verdict == "unknown":
            found.append((pod, known[own].why))
    return tuple(found)
