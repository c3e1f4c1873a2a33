"""What holds pods together or back: PodGroups and Workloads, Kueue's workloads and queues, ComputeDomains."""

from __future__ import annotations

from collections.abc import Iterator

from ..objects import (
    ClusterQueue,
    CompositePodGroup,
    ComputeDomain,
    ComputeDomainClique,
    ComputeDomainNode,
    GroupTemplate,
    KueueWorkload,
    LocalQueue,
    PodGroup,
    Workload,
)
from ..view.past import Effect
from .fields import Difference, at_key, came_and_went, conditions, text, value

_GROUP_BAD = ("DisruptionTarget",)
_KUEUE_GOOD = ("QuotaReserved", "Admitted")
_KUEUE_BAD = ("Evicted", "Preempted", "Requeued")
_QUEUE_GOOD = ("Active",)


def compare_pod_groups(before: PodGroup | CompositePodGroup, after: PodGroup | CompositePodGroup) -> Iterator[Difference]:
    """What is different in a group of pods, or of groups."""
    old, new = before.spec, after.spec
    name = "minCount" if isinstance(after, PodGroup) else "minGroupCount"
    yield from value(f"spec.schedulingPolicy.gang.{name}", old.min_count, new.min_count)
    yield from value("spec.schedulingPolicy", old.policy, new.policy)
    yield from came_and_went("spec.schedulingConstraints.topology", old.topology_keys, new.topology_keys, Effect.OTHER, Effect.OTHER)
    yield from value("spec.priority", old.priority, new.priority)
    yield from conditions("status.conditions", before.conditions, after.conditions, ("PodGroupScheduled",), _GROUP_BAD)
    if isinstance(before, PodGroup) and isinstance(after, PodGroup):
        was, now = before.resource_claim_statuses or {}, after.resource_claim_statuses or {}
        for entry in sorted({*was, *now}):
            path = f"{at_key('status.resourceClaimStatuses', entry)}.resourceClaimName"
            yield from value(path, was.get(entry), now.get(entry), Effect.NOTE)


def summary_of_group(group: PodGroup | CompositePodGroup) -> str:
    """A group in one line."""
    return text(f"{group.spec.policy or 'unknown policy'}{'' if group.spec.min_count is None else f', min {group.spec.min_count}'}")


def compare_workloads(before: Workload, after: Workload) -> Iterator[Difference]:
    """What is different in a Workload of scheduling.k8s.io."""
    yield from value("spec.podGroupTemplates", templates(before.templates), templates(after.templates))


def templates(given: tuple[GroupTemplate, ...]) -> str:
    """The groups that a Workload describes, in one line."""
    shown: list[str] = []
    for entry in given:
        inner = f" ({templates(entry.children)})" if entry.children else ""
        shown.append(f"{entry.name}: {entry.spec.policy} {'' if entry.spec.min_count is None else entry.spec.min_count}".rstrip() + inner)
    return text("; ".join(shown))


def compare_kueue_workloads(before: KueueWorkload, after: KueueWorkload) -> Iterator[Difference]:
    """What is different in a Workload of Kueue."""
    yield from value("spec.queueName", before.queue, after.queue)
    if before.active != after.active:
        yield Difference("spec.active", text(before.active), text(after.active), Effect.MORE if after.active else Effect.LESS)
    if before.cluster_queue != after.cluster_queue:
        effect = Effect.MORE if after.cluster_queue else Effect.LESS
        yield Difference("status.admission.clusterQueue", before.cluster_queue or None, after.cluster_queue or None, effect)
    yield from conditions("status.conditions", before.conditions, after.conditions, _KUEUE_GOOD, _KUEUE_BAD)
    old, new = {entry.name: entry.state for entry in before.checks}, {entry.name: entry.state for entry in after.checks}
    for name in sorted({*old, *new}):
        yield from value(f"{at_key('status.admissionChecks', name)}.state", old.get(name), new.get(name))
    places, later = _places(before), _places(after)
    for name in sorted({*places, *later}):
        path = f"{at_key('status.admission.podSetAssignments', name)}.topologyAssignment"
        old_places, new_places = places.get(name, ()), later.get(name, ())
        left, came = set(old_places) - set(new_places), set(new_places) - set(old_places)
        # Of hundreds of places only those that differ: cut at their end, both sides would read alike.
        yield from value(path, ", ".join(sorted(left)), ", ".join(sorted(came)))


def _places(workload: KueueWorkload) -> dict[str, tuple[str, ...]]:
    """Where Kueue has placed each pod set, and how many pods of it."""
    return {
        entry.name: tuple(f"{'/'.join(domain.values)} ({domain.count})" for domain in entry.topology.domains)
        for entry in workload.assignments
        if entry.topology is not None
    }


def compare_queues(before: LocalQueue | ClusterQueue, after: LocalQueue | ClusterQueue) -> Iterator[Difference]:
    """What is different in a queue of Kueue. Its amounts aren't read."""
    if isinstance(before, LocalQueue) and isinstance(after, LocalQueue):
        yield from value("spec.clusterQueue", before.cluster_queue, after.cluster_queue)
    if before.stop_policy != after.stop_policy:
        effect = Effect.MORE if after.stop_policy == "None" else Effect.LESS
        yield Difference("spec.stopPolicy", text(before.stop_policy), text(after.stop_policy), effect)
    yield from conditions("status.conditions", before.conditions, after.conditions, _QUEUE_GOOD)


def compare_compute_domains(before: ComputeDomain, after: ComputeDomain) -> Iterator[Difference]:
    """What is different in a ComputeDomain."""
    yield from value("spec.numNodes", before.num_nodes, after.num_nodes)
    if before.status != after.status:
        effect = Effect.MORE if after.status == "Ready" else Effect.LESS if before.status == "Ready" else Effect.NOTE
        yield Difference("status.status", before.status or None, after.status or None, effect)
    yield from _members("status.nodes", before.nodes, after.nodes)


def compare_cliques(before: ComputeDomainClique, after: ComputeDomainClique) -> Iterator[Difference]:
    """What is different in a clique."""
    yield from _members("daemons", before.daemons, after.daemons)


def _members(path: str, before: tuple[ComputeDomainNode, ...], after: tuple[ComputeDomainNode, ...]) -> Iterator[Difference]:
    old, new = ({entry.name for entry in members if entry.ready} for members in (before, after))
    yield from came_and_went(f"{path}[ready]", sorted(old), sorted(new), Effect.MORE, Effect.LESS)
