"""What stands behind a pod: its controllers up to the workload that a user made, and the Kueue queue that it came through."""

from __future__ import annotations

from collections.abc import Iterable

from k8s_topo_mcp.objects import ObjectRef, Owner, Pod
from k8s_topo_mcp.objects.kueue import QUEUE_LABEL
from k8s_topo_mcp.objects.meta import ApiObject
from k8s_topo_mcp.view import ClusterView
from k8s_topo_mcp.view.indices import find_owner, owners_of

MAX_LINKS = 8
"""A chain longer than this is cut: it can only be a loop."""


def chain(view: ClusterView, pod: Pod) -> tuple[ObjectRef, ...]:
    """The controllers above a pod, nearest first. A worker of a LeaderWorkerSet hangs on its leader's pod: that is passed over."""
    found: list[ObjectRef] = []
    item: ApiObject | None = pod
    while item is not None and len(found) < MAX_LINKS:
        above = owners_of(view, item)
        found.extend(reference for reference in above if reference.kind != "Pod")
        last = above[-1] if above else None
        item = view.get(Pod, last.name, last.namespace) if last is not None and last.kind == "Pod" and last.name != item.name else None
    return tuple(dict.fromkeys(found))[:MAX_LINKS]


def queue_of(view: ClusterView, owners: Iterable[ObjectRef]) -> str:
    """The LocalQueue that the workloads above a pod are to go through, by their label; "" where none says."""
    for reference in owners:
        owner = find_owner(view, reference.kind, reference.name, reference.namespace)
        name = owner.metadata.labels.get(QUEUE_LABEL, "") if owner is not None else ""
        if name:
            return name
    return ""


def find_workload(view: ClusterView, kind: str, name: str, namespace: str) -> Owner | None:
    """A workload by kind and name; the kind may be written in any case."""
    found = find_owner(view, kind, name, namespace)
    if found is not None:
        return found
    for candidate in kinds_of_owners(view):
        if candidate.lower() == kind.lower():
            return find_owner(view, candidate, name, namespace)
    return None


def kinds_of_owners(view: ClusterView) -> tuple[str, ...]:
    """The kinds of workloads that there are."""
    return tuple(dict.fromkeys(owner.ref.kind for kind in view.kinds if issubclass(kind, Owner) for owner in view.all(kind)))
