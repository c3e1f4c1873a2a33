"""Where a new pod would go in place of one that can't start on its node."""

from __future__ import annotations

from dataclasses import replace

from ...objects import Node, Pod
from ...scheduling.placement import place
from ...view import ClusterView, Delete, Edit, Replace
from ...view.indices import claims_of


def new_pod_fits(view: ClusterView, pod: Pod, *, cordoned: bool = False) -> tuple[str, ...]:
    """Where a new pod like this one fits, with its present node `cordoned` or not: its generated claims are made anew, others keep their
    allocation."""
    edits: list[Edit] = []
    fresh = replace(pod, node_name="", phase="Pending", conditions=(), nominated_node_name="", extended_resource_claim=None)
    edits.append(Replace(fresh))
    for entry in claims_of(view, pod):
        if entry.claim is None:
            continue
        if entry.entry is None:
            edits.append(Delete(entry.claim))
        elif entry.entry.template_name is not None or entry.claim.reserved_for[1:] == ():
            edits.append(Replace(replace(entry.claim, allocation=None, reserved_for=(), devices=())))
    node = view.get(Node, pod.node_name)
    if cordoned and node is not None:
        edits.append(Replace(replace(node, unschedulable=True)))
    placement = place(view.with_edits(*edits), fresh)
    if placement.aborted or placement.unknown:
        return ()
    return tuple(entry.node.name for entry in placement.fitting)
