"""The scheduler's queue: which pods come up by themselves and which as a group, and in what order.

Source: k8s.io/kubernetes pkg/scheduler/framework/plugins/queuesort (priority, then the time at which the pod came into the queue) and, for
groups, backend/queue. When a pod came into the queue isn't in the API: its creation stands for it. Scheduling gates are taken as lifted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..findings import Finding, finding
from ..objects import Pod
from ..scheduling.gang_scheduling import Gang, disagreement, gang_of, in_order
from ..view import ClusterView


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """What is scheduled in one go: `pods` in the order in which they are tried. `gang`: they are members of it; `held`: why that can never
    come up."""

    pods: tuple[Pod, ...]
    gang: Gang | None = None
    held: Finding | None = None

    @property
    def priority(self) -> int:
        return self.gang.priority if self.gang is not None else self.pods[0].priority

    @property
    def came(self) -> float:
        """A group comes with the last of its pods."""
        return max(pod.metadata.created or 0.0 for pod in self.pods)


def queue_of(view: ClusterView, pods: Sequence[Pod]) -> tuple[Entry, ...]:
    """The entries of these pods, first to last."""
    entries: list[Entry] = []
    groups: dict[object, tuple[Gang, list[Pod]]] = {}
    for pod in in_order(tuple(pods)):
        found = gang_of(view, pod)
        if found is None:
            entries.append(Entry((pod,)))
        elif isinstance(found, Finding):
            entries.append(Entry((pod,), held=found))
        else:
            groups.setdefault((found.ref.kind, found.name, found.field), (found, []))[1].append(pod)
    for gang, members in groups.values():
        entries.append(Entry(tuple(members), gang, _held(view, gang)))
    places = {id(pod): number for number, pod in enumerate(in_order(tuple(pods)))}
    return tuple(sorted(entries, key=lambda entry: (-entry.priority, entry.came, places[id(entry.pods[-1])])))


def _held(view: ClusterView, gang: Gang) -> Finding | None:
    if gang.policy == "gang" and len(gang.members) < gang.min_count:
        return finding("GANG_WAITS_FOR_MEMBERS", gang.ref, gang.field, min_count=gang.min_count, exist=len(gang.members))
    wrong = disagreement(view, gang)
    return finding("GANG_REFUSED", gang.ref, "", what=wrong) if wrong else None
