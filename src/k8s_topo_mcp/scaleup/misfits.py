"""What keeps pods off a new node of a group, as far as it can be told: its devices, volumes and labels, and what a simulation says.

Both autoscalers judge a node that doesn't exist. What they know of its devices isn't what we know: Cluster Autoscaler copies the slices of
a live node of the group, or takes what the cloud's integration gives for an empty one, which of those in its tree only Cluster API's does
(docs/dra_support.md); Karpenter takes what its provider gives for an instance type (pkg/cloudprovider/dynamicresources.go).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ..findings import Finding, finding
from ..objects import PersistentVolume, PersistentVolumeClaim, Pod
from ..view import ClusterView
from .demand import device_demand
from .fit import Fit
from .node_group import NodeGroup
from .obstacle import Certainty, Obstacle
from .passing_over import Check, Passed, concerning
from .template import Confidence, NodeTemplate


def without_model(group: NodeGroup, pods: Sequence[Pod]) -> tuple[Obstacle, ...]:
    """That nothing here says what a new node of the group would be. The autoscaler may know it from the cloud."""
    if group.templates:
        return ()
    why = group.why_none or "no live node, and no object that describes one"
    found = finding("GROUP_WITHOUT_MODEL", group.ref, "", group=group.name, why=why)
    return (Obstacle(found, "unknown", "one live node of the group, or a description of it", len(pods), len(pods)),)


def told_devices(group: NodeGroup, confidence: Confidence) -> bool:
    """Whether the devices of one of the group's templates are known in that way."""
    return any(
        bool(template.slices) and any(fact.part.startswith("devices") and fact.confidence == confidence for fact in template.facts)
        for template in group.templates
    )


def no_device_model(view: ClusterView, group: NodeGroup, certainty: Certainty, why: str, removed_by: str) -> Check:
    """Pods with claims, on a group of which the autoscaler doesn't know the devices."""

    def check(pod: Pod) -> Passed | None:
        wanted = device_demand(view, pod)
        if not wanted.claims:
            return None
        found = finding("NO_DEVICE_MODEL", group.ref, "", group=group.name, devices=str(wanted), why=why)
        return Passed(found, certainty, removed_by)

    return check


def volume_elsewhere(view: ClusterView, templates: Sequence[NodeTemplate]) -> Check:
    """Pods with a bound volume that no new node of the group can reach, by the labels that such nodes have."""

    def check(pod: Pod) -> Passed | None:
        for claim, volume in _volumes(view, pod):
            required = volume.node_affinity
            if required is None or not required.terms or not templates:
                continue
            if any(_may_match(volume, template) for template in templates):
                continue
            terms = [entry for term in required.terms for entry in term.expressions]
            missed = next((entry for entry in terms if not entry.holds(templates[0].node.metadata.labels)), None)
            if missed is None:
                continue
            there = dict.fromkeys(template.node.metadata.labels.get(missed.key, "no such label") for template in templates)
            found = finding(
                "VOLUME_ELSEWHERE",
                claim.ref,
                "spec.volumeName",
                claim=claim.full_name,
                key=missed.key,
                wanted=missed.values,
                found=tuple(there),
            )
            wanted = ", ".join(missed.values)
            return Passed(found, "certain", f"a group with nodes in {wanted}, or a volume that can be reached from this one")
        return None

    return check


def _volumes(view: ClusterView, pod: Pod) -> Iterator[tuple[PersistentVolumeClaim, PersistentVolume]]:
    for volume in pod.volumes:
        name = volume.claim_name
        claim = view.get(PersistentVolumeClaim, name, pod.namespace) if name else None
        bound = view.get(PersistentVolume, claim.volume_name) if claim is not None and claim.volume_name else None
        if claim is not None and bound is not None:
            yield claim, bound


def _may_match(volume: PersistentVolume, template: NodeTemplate) -> bool:
    """Whether nodes of the template reach the volume, labels of unknown value being taken as right."""
    required = volume.node_affinity
    labels = template.node.metadata.labels
    return required is None or any(
        all(entry.key in template.unpredictable or entry.holds(labels) for entry in term.expressions) for term in required.terms
    )


def refused(group: NodeGroup, pods: Sequence[Pod], fits: Sequence[Fit]) -> tuple[Obstacle, ...]:
    """What a simulation says against pods on every template of the group; () where each fits on one, or none was tried."""
    taken = frozenset[tuple[str, str]]().union(*(entry.taken for entry in fits))
    left = len(pods) - (len(taken) or max((entry.pods for entry in fits), default=len(pods)))
    if left <= 0:
        return ()
    unknown = next((entry for entry in fits if entry.unknown), None)
    if unknown is not None:
        found = finding("FIT_UNKNOWN", group.ref, "", template=unknown.template, why=unknown.unknown)
        return (Obstacle(found, "unknown", "what can't be told now", left, len(pods)),)
    codes = Counter(_because(entry) for entry in fits)
    example = next((entry for entry in fits if entry.refusals or entry.devices), fits[0])
    template = example.template if len(fits) == 1 else f"{len(fits)} kinds of node, such as {example.template}"
    because = ", ".join(code for code, _ in codes.most_common(3))
    reasons = "; ".join([*(_told(entry) for entry in example.refusals[:3]), *([example.devices] if example.devices else [])])
    found = finding("NEW_NODE_REFUSED", group.ref, "", template=template, because=because, reasons=reasons)
    return (Obstacle(found, "certain", "another group, or a change of what the pods ask", left, len(pods)),)


def _because(entry: Fit) -> str:
    """The first reason, as the scheduler meets them: devices come last."""
    return entry.refusals[0].code if entry.refusals else "claims that can't be allocated" if entry.devices else "no reason given"


def _told(found: Finding) -> str:
    values = ", ".join(f"{name} {found.text(name)}" for name in found.values if found.text(name))
    return f"{found.code} ({values})" if values else found.code


def all_of(pods: Sequence[Pod], *checks: Check) -> tuple[Obstacle, ...]:
    """What several checks find, in their order."""
    return tuple(entry for check in checks for entry in concerning(pods, check))
