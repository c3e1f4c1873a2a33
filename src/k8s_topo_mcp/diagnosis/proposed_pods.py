"""All pods that a manifest would make: each workload's replicas, each with the claims that would be generated for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..objects import ApiObject, ObjectRef, Owner, Pod
from ..view import ClusterView
from .manifest import Document
from .proposals import pod_of, with_objects, with_pod
from .yaml_items import ManifestError

MOST_PODS = 64
"""Pods of one manifest that are made; of a workload with more, so many are judged."""


@dataclass(frozen=True, slots=True, eq=False)
class ProposedPods:
    """`view` is the cluster with the manifest and its `pods` in it. `subject` is the first workload or pod, `notes` say what was left
    out."""

    view: ClusterView
    subject: ObjectRef
    pods: tuple[Pod, ...]
    notes: tuple[str, ...]


def propose_pods(view: ClusterView, documents: Sequence[Document]) -> ProposedPods:
    """Make the pods of all workloads and pods in a manifest. Raises ManifestError where it has none."""
    objects = [document.object for document in documents]
    owners = [item for item in objects if isinstance(item, Owner) and item.template is not None]
    given = [item for item in objects if isinstance(item, Pod)]
    if not owners and not given:
        kinds = ", ".join(sorted({item.ref.kind for item in objects}))
        raise ManifestError(f"manifest: no pods in it ({kinds}); give a Pod or a workload. For a claim by itself call claim_feasibility.")
    edited = with_objects(view, [item for item in objects if not isinstance(item, Owner | Pod)])
    notes: list[str] = []
    pods: list[Pod] = []
    for wanted in _wanted(owners, given, notes):
        edited, pod = with_pod(edited, wanted, notes)
        pods.append(pod)
    subject: ApiObject = owners[0] if owners else given[0]
    return ProposedPods(edited, subject.ref, tuple(pods), tuple(dict.fromkeys(notes)))


def _wanted(owners: Sequence[Owner], given: Sequence[Pod], notes: list[str]) -> list[Pod]:
    found: list[Pod] = []
    for owner in owners:
        for template in owner.templates:
            count = template.replicas if template.replicas is not None else owner.desired
            made = pod_of(owner, template.pod)
            role = f"{template.role}-" if template.role and len(owner.templates) > 1 else ""
            for number in range(1 if count is None else count):
                metadata = replace(made.metadata, name=f"{owner.ref.name}-{role}{number}", uid=f"inline-{owner.ref.name}-{role}{number}")
                found.append(replace(made, metadata=metadata))
    found += [replace(pod, node_name="", phase="Pending", resource_claim_statuses={}) for pod in given]
    if len(found) > MOST_PODS:
        notes.append(f"{len(found):,} pods in the manifest; the first {MOST_PODS} are judged")
    return found[:MOST_PODS]
