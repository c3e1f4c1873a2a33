"""All pods that a manifest would make: each workload's replicas, each with the claims that would be generated for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

from ..objects import DaemonSet, ObjectRef, Owner, Pod
from ..objects.meta import PROPOSED
from ..objects.owner import PodTemplate
from ..view import ClusterView
from .manifest import Document
from .proposals import pod_of, replicas_of, with_objects, with_pod
from .yaml_items import ManifestError

MOST_PODS = 64
"""Pods of one manifest that are made; of a workload with more, so many are judged."""
FEW = 3
"""So many workloads are named in a note."""


@dataclass(frozen=True, slots=True, eq=False)
class ProposedPods:
    """`view` is the cluster with the manifest and its `pods` in it. `subject` is the workload or pod, None if there are several; `notes`
    say what was left out or taken for granted. `of`: so many pods were asked for, where these are the first."""

    view: ClusterView
    subject: ObjectRef | None
    pods: tuple[Pod, ...]
    notes: tuple[str, ...]
    of: int | None = None


def propose_pods(view: ClusterView, documents: Sequence[Document]) -> ProposedPods:
    """Make the pods of all workloads and pods in a manifest, but no more than MOST_PODS. Raises ManifestError where it has none."""
    objects = [document.object for document in documents]
    daemons = [item for item in objects if isinstance(item, DaemonSet) and item.template is not None]
    owners = [item for item in objects if isinstance(item, Owner) and item.template is not None and not isinstance(item, DaemonSet)]
    given = [item for item in objects if isinstance(item, Pod)]
    if not owners and not given:
        if daemons:
            raise ManifestError(
                f"manifest: {daemons[0].ref} runs one pod on each node, and no node is added for it; give a Pod or replicas"
            )
        kinds = ", ".join(sorted({item.ref.kind for item in objects}))
        raise ManifestError(f"manifest: no pods in it ({kinds}); give a Pod or a workload. For a claim by itself call claim_feasibility.")
    notes: list[str] = []
    edited = with_objects(view, [item for item in objects if not isinstance(item, Owner | Pod)])
    if daemons:
        notes.append(f"{_named(daemons)}: on new nodes only, where its pods take their room")
        if view.can_read(DaemonSet.KIND):
            edited = with_objects(edited, daemons)
    for item in (*owners, *given):
        notes += _there_already(view, item)
    wanted = {owner: sum(_count(owner, template) for template in owner.templates) for owner in owners}
    asked = sum(wanted.values()) + len(given)
    empty = [owner for owner in owners if not wanted[owner]]
    if not asked:
        raise ManifestError(f"manifest: nothing to simulate, as 0 pods are asked for ({_named(empty)}); right would be 1 or more")
    if empty:
        notes.append(f"{_named(empty)}: 0 pods asked for")
    notes += [f"{owner.ref} is suspended; simulated as if it ran" for owner in owners if owner.suspended and wanted[owner]]
    if asked > MOST_PODS:
        notes.append(f"{asked:,} pods asked for; the first {MOST_PODS} are simulated")
    pods: list[Pod] = []
    for pod in islice(chain(_made(edited, owners, given), _loose(given)), MOST_PODS):
        edited, added = with_pod(edited, pod, notes)
        pods.append(added)
    subjects = [*owners, *given]
    return ProposedPods(
        edited,
        subjects[0].ref if len(subjects) == 1 else None,
        tuple(pods),
        tuple(dict.fromkeys(notes)),
        asked if asked > MOST_PODS else None,
    )


def _named(owners: Sequence[Owner]) -> str:
    more = f" and {len(owners) - FEW} others" if len(owners) > FEW else ""
    return ", ".join(str(owner.ref) for owner in owners[:FEW]) + more


def _there_already(view: ClusterView, item: Owner | Pod) -> Iterator[str]:
    """What a reader has to know of a workload or pod of that name that the cluster has."""
    there = view.current(item)
    if isinstance(there, Pod) and there.node_name:
        yield f"{there.ref} runs already; simulated as if it were made again"
    elif isinstance(there, Owner):
        yield f"{there.ref} is there already; these pods are simulated on top of those that it has"


def _count(owner: Owner, template: PodTemplate) -> int:
    """How many pods are wanted of one template; one where the owner doesn't say."""
    count = replicas_of(owner, template)
    return 1 if count is None else count


def _made(view: ClusterView, owners: Sequence[Owner], given: Sequence[Pod]) -> Iterator[Pod]:
    """The pods of the workloads, one at a time, under names that nothing else has."""
    taken = {pod.key for pod in given}
    for owner in owners:
        for template in owner.templates:
            made = pod_of(owner, template.pod)
            role = f"{template.role}-" if template.role and len(owner.templates) > 1 else ""
            for number in range(_count(owner, template)):
                name = f"{owner.ref.name}-{role}{number}"
                while (owner.namespace, name) in taken or view.get(Pod, name, owner.namespace) is not None:
                    name += "x"
                taken.add((owner.namespace, name))
                metadata = replace(made.metadata, name=name, uid=f"{PROPOSED}{owner.namespace}-{name}")
                yield replace(made, metadata=metadata)


def _loose(given: Sequence[Pod]) -> Iterator[Pod]:
    for pod in given:
        metadata = replace(pod.metadata, uid=f"{PROPOSED}{pod.namespace}-{pod.name}")
        yield replace(pod, metadata=metadata, node_name="", phase="Pending", resource_claim_statuses={})
