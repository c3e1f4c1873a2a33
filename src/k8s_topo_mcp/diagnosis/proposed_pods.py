"""All pods that a manifest would make: each workload's replicas, each with the claims that would be generated for it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace

from ..objects import DaemonSet, ObjectRef, Owner, Pod
from ..objects.owner import PodTemplate
from ..scheduling.gang_scheduling import Gang, gang_of
from ..view import ClusterView
from .manifest import Document
from .proposals import as_new, pod_of, replicas_of, with_objects, with_pod
from .yaml_items import ManifestError

MOST_PODS = 64
"""Pods of one manifest that are made; of a workload with more, so many are judged."""
MOST_MEMBERS = 512
"""Pods that are made of one that starts as a group: a group that begins among the first MOST_PODS isn't cut there."""
FEW = 3
"""So many workloads are named in a note."""


@dataclass(frozen=True, slots=True, eq=False)
class _Batch:
    """`count` pods like `pod`, made by a template of the owner; without one it is a pod that was given as it is."""

    pod: Pod
    count: int
    owner: Owner | None = None
    role: str = ""


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
    batches = _batches(owners, given)
    asked = sum(batch.count for batch in batches)
    empty = [owner for owner in owners if not any(batch.count for batch in batches if batch.owner is owner)]
    if not asked:
        raise ManifestError(f"manifest: nothing to simulate, as 0 pods are asked for ({_named(empty)}); right would be 1 or more")
    if empty:
        notes.append(f"{_named(empty)}: 0 pods asked for")
    notes += [f"{owner.ref} is suspended; simulated as if it ran" for owner in owners if owner.suspended and owner not in empty]
    pods: list[Pod] = []
    for pod in _made(edited, _within_bounds(edited, batches)):
        edited, added = with_pod(edited, pod, notes)
        pods.append(added)
    if asked > len(pods):
        notes.append(f"{asked:,} pods asked for; the first {len(pods)} are simulated")
    subjects = [*owners, *given]
    return ProposedPods(
        edited,
        subjects[0].ref if len(subjects) == 1 else None,
        tuple(pods),
        tuple(dict.fromkeys(notes)),
        asked if asked > len(pods) else None,
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


def _batches(owners: Sequence[Owner], given: Sequence[Pod]) -> list[_Batch]:
    """What is asked for, in the order in which it is made."""
    found: list[_Batch] = []
    for owner in owners:
        for template in owner.templates:
            role = f"{template.role}-" if template.role and len(owner.templates) > 1 else ""
            found.append(_Batch(pod_of(owner, template.pod), _count(owner, template), owner, role))
    return [*found, *(_Batch(pod, 1) for pod in given)]


def _within_bounds(view: ClusterView, batches: Sequence[_Batch]) -> list[_Batch]:
    """The first MOST_PODS of all; of a group that begins among these also its further members. Raises ManifestError for a group that could
    never start with as many as are made."""
    made: list[_Batch] = []
    total = 0
    groups: dict[Hashable, int] = {}
    gangs: dict[Hashable, tuple[Gang, int]] = {}
    for batch in batches:
        room = MOST_PODS - total
        gang = gang_of(view, batch.pod)
        if isinstance(gang, Gang):
            own = gang.ref, gang.field, batch.pod.workload_reference
            wanted = gangs[own][1] if own in gangs else 0
            gangs[own] = gang, wanted + batch.count
            if own in groups or room > 0:
                room = MOST_MEMBERS - groups.setdefault(own, 0)
                groups[own] += min(batch.count, room)
        count = min(batch.count, max(0, room))
        total += count
        made.append(replace(batch, count=count))
    for own, count in groups.items():
        gang, wanted = gangs[own]
        if count < wanted and len(gang.members) + count < gang.min_count:
            right = f"right would be a minimum of {MOST_MEMBERS} or less"
            raise ManifestError(f"manifest: {gang.ref} starts {gang.min_count:,} pods together, more than are simulated; {right}")
    return made


def _made(view: ClusterView, batches: Sequence[_Batch]) -> Iterator[Pod]:
    """The pods one at a time, those of workloads under names that nothing else has."""
    taken = {batch.pod.key for batch in batches if batch.owner is None}
    for batch in batches:
        if batch.owner is None:
            if batch.count:
                yield as_new(batch.pod)
            continue
        owner = batch.owner
        for number in range(batch.count):
            name = f"{owner.ref.name}-{batch.role}{number}"
            while (owner.namespace, name) in taken or view.get(Pod, name, owner.namespace) is not None:
                name += "x"
            taken.add((owner.namespace, name))
            metadata = replace(batch.pod.metadata, name=name, uid=f"{owner.namespace}/{name}")
            yield replace(batch.pod, metadata=metadata)
