"""Where a new pod would go in place of one that can't start on its node."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...objects import Node, Pod
from ...scheduling.placement import place
from ...view import ClusterView, Delete, Edit, Replace
from ...view.indices import claims_of
from ..cause import find_cause
from ..remedies import has_remedies, try_for_pod

ENDS = 2
"""Releases of other claims that are told."""


@dataclass(frozen=True, slots=True)
class NewPod:
    """Where a new pod fits; where it fits nowhere, what releases of others make it fit, and where. `certain` False: that isn't known."""

    fits: tuple[str, ...]
    certain: bool
    after: tuple[tuple[str, tuple[str, ...]], ...] = ()


def new_pod_fits(view: ClusterView, pod: Pod, *, cordoned: bool = False) -> tuple[str, ...]:
    """Where a new pod like this one fits, with its present node `cordoned` or not: its generated claims are made anew, others keep their
    allocation."""
    edited, fresh = _made_anew(view, pod, cordoned)
    placement = place(edited, fresh)
    if placement.aborted or placement.unknown:
        return ()
    return tuple(entry.node.name for entry in placement.fitting)


def placed_anew(view: ClusterView, pod: Pod) -> NewPod:
    """Where a new pod like this one fits on the nodes as they are, or whose end makes room for it."""
    edited, fresh = _made_anew(view, pod, False)
    placement = place(edited, fresh)
    cause = find_cause(edited, placement)
    if cause is None:
        return NewPod(tuple(entry.node.name for entry in placement.fitting), not placement.unchecked)
    if cause.finding.status == "unknown" or not has_remedies(cause):
        return NewPod((), False)
    helping, _, _ = try_for_pod(edited, fresh, cause, placement)
    freed = [trial for trial in helping if trial.change.releases]
    return NewPod((), True, tuple((trial.change.text, trial.nodes) for trial in freed[:ENDS]))


def _made_anew(view: ClusterView, pod: Pod, cordoned: bool) -> tuple[ClusterView, Pod]:
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
    return view.with_edits(*edits), fresh
