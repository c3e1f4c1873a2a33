"""What would still keep a pod away once its first blocker is gone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..dra.allocation import allocate, node_groups
from ..dra.outcome import Aborted, Unallocatable
from ..dra.problem import AllocationProblem, TargetNode
from ..findings import Finding
from ..objects import DeviceClass, ObjectRef, Pod
from ..scheduling.placement import Placement, place
from ..view import ClusterView, Replace
from ..view.indices import claims_of
from .aborts import abort_cause
from .cause import find_cause, refused
from .classes import class_created, drivers_taken, stands_in
from .closed_nodes import reasons_against
from .lifted import lifted
from .proposals import with_pod
from .report import Cause
from .shortages import device_cause

MOST = 4
"""Findings that are told."""

MADE_BY_CONTROLLER = frozenset({"CLAIM_NOT_CREATED", "TEMPLATE_MISSING"})
"""Causes of which the layer of claims speaks."""

OF_ITS_VOLUMES = frozenset(
    {
        "VOLUME_CLAIMS_UNBOUND",
        "VOLUME_CLAIM_MISSING",
        "VOLUME_CLAIM_NOT_CREATED",
        "VOLUME_CLAIM_LOST",
        "VOLUME_CLAIM_BEING_DELETED",
        "VOLUME_CLAIM_OTHER_OWNER",
    }
)
"""Claims of the pod's volumes that keep it from every node."""


def behind(view: ClusterView, pod: Pod, placement: Placement, cause: Cause | None) -> tuple[Cause, ...]:
    """What is found behind the cause, one of each code, in order."""
    if cause is None:
        return ()
    if cause.finding.code == "CLASS_MISSING":
        found = _behind_a_class(view, pod, cause.finding.text("device_class"))
    elif cause.finding.code == "CLAIM_NOT_CREATED":
        found = _behind_a_claim(view, pod)
    elif cause.finding.code in OF_ITS_VOLUMES or cause.finding.code == "NODE_AFFINITY_CONFLICT":
        found = _behind_the_pod(view, pod, cause.finding)
    elif refused(placement, cause):
        found = _behind_filters(view, placement, cause)
    else:
        found = _behind_devices(view, placement, cause)
    first: dict[str, Cause] = {}
    for entry in found:
        first.setdefault(entry.finding.code, entry)
    return tuple(first.values())[:MOST]


def _behind_filters(view: ClusterView, placement: Placement, cause: Cause) -> Iterator[Cause]:
    """Later reasons against the nodes that the blocker keeps the pod from, then their devices."""
    nearest = refused(placement, cause).nearest()
    for alike in nearest.kinds:
        first = alike[0]
        yield from (Cause(found, 0, 0) for found in (*reasons_against(first)[1:], *first.elsewhere))
    problem = placement.devices.problem
    if problem is None or not all(issubclass(outcome, Aborted | Unallocatable) for outcome in nearest.outcomes):
        return
    targets, total = nearest.targets, len(placement.nodes)
    met = _still(view, problem, targets, total)
    if met is not None:
        yield met
        yield from _deeper(view, problem, targets, total, met)


def _behind_a_class(view: ClusterView, pod: Pod, name: str) -> Iterator[Cause]:
    """What the pod meets once the class is created, where it is known what that would select; unless another class was meant, which it
    isn't where this one was there before."""
    if not drivers_taken(view, name) and any(stands_in(name, None, entry) for entry in view.all(DeviceClass)):
        return
    claims = [entry.claim for entry in claims_of(view, pod) if entry.claim is not None]
    for change in class_created(view, name, claims):
        edited = view.with_edits(*change.edits)
        yield from _met(edited, edited.current(pod) or pod)


def _behind_the_pod(view: ClusterView, pod: Pod, found: Finding) -> Iterator[Cause]:
    """What the pod meets once its volumes are bound, or its affinity can be met: it is judged without those volumes, or without that
    affinity, so that what blocks then blocks wherever they are and whatever that is changed to."""
    if found.code == "NODE_AFFINITY_CONFLICT":
        lighter = replace(pod, affinity=replace(pod.affinity, node=replace(pod.affinity.node, required=None)))
    else:
        listed = found.values.get("claims")
        names = listed if isinstance(listed, tuple) else (found.object.name,) if found.object is not None else ()
        lighter = replace(pod, volumes=tuple(volume for volume in pod.volumes if volume.claim_name not in names))
        if len(lighter.volumes) == len(pod.volumes):
            return
    yield from _met(view.with_edits(Replace(lighter)), lighter)


def _met(view: ClusterView, pod: Pod) -> Iterator[Cause]:
    """What keeps the pod there, and what stands behind that."""
    placement = place(view, pod)
    cause = find_cause(view, placement)
    if cause is not None and cause.finding.status != "unknown":
        yield cause
        yield from behind(view, pod, placement, cause)


def _behind_a_claim(view: ClusterView, pod: Pod) -> Iterator[Cause]:
    """What the pod meets once its claims are generated."""
    edited, made = with_pod(view, pod, [])
    for found in _met(edited, made):
        if found.finding.code in MADE_BY_CONTROLLER:
            return
        yield replace(found, finding=_of_the_template(pod, made, found.finding))


def _of_the_template(pod: Pod, made: Pod, found: Finding) -> Finding:
    """The finding about the template where its claim is only imagined: that is what would have to change."""
    about = found.object
    if about is None or about.kind != "ResourceClaim":
        return found
    imagined = [entry for entry in pod.resource_claims if made.claim_name_for(entry) != pod.claim_name_for(entry)]
    name = next((entry.template_name for entry in imagined if made.claim_name_for(entry) == about.name), None)
    if name is None:
        return found
    template = ObjectRef("ResourceClaimTemplate", pod.namespace, name)
    return replace(found, object=template, field=f"spec.{found.field}" if found.field else "")


def _behind_devices(view: ClusterView, placement: Placement, cause: Cause) -> Iterator[Cause]:
    """What devices lack beside the selector or constraint that is the cause: what blocks without it blocks whatever it is changed to."""
    problem = placement.devices.problem
    targets = placement.as_targets(placement.searched)
    if problem is None or placement.devices.extended is not None or not targets:
        return
    yield from _deeper(view, problem, targets, len(placement.nodes), cause)


def _deeper(view: ClusterView, problem: AllocationProblem, targets: Sequence[TargetNode], total: int, cause: Cause) -> Iterator[Cause]:
    """What still blocks without what the cause names, what blocks without that too, and so on."""
    for _ in range(MOST):
        without = lifted(problem, cause)
        deeper = _still(view, without, targets, total) if without is not None else None
        if without is None or deeper is None:
            return
        yield deeper
        problem, cause = without, deeper


def _still(view: ClusterView, problem: AllocationProblem, targets: Sequence[TargetNode], total: int) -> Cause | None:
    """Why no node solves a problem, or which error ends every attempt; None where a node does, or that isn't known."""
    outcomes = [allocate(problem, group[0]) for group in node_groups(problem, targets)]
    aborted = next((outcome for outcome in outcomes if isinstance(outcome, Aborted)), None)
    if aborted is not None:
        return None if aborted.order_dependent else abort_cause(problem, aborted, targets, total)
    refusing = all(isinstance(outcome, Unallocatable) and not outcome.missed for outcome in outcomes)
    return device_cause(view, problem, targets, total) if refusing else None
