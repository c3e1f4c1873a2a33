"""GangScheduling: which pods start together, and whether the group may come up for scheduling at all.

Source: k8s.io/kubernetes pkg/scheduler: framework/plugins/gangscheduling (PreEnqueue, PlacementFeasible), backend/cache/podgroupstate.go
(who counts as a member), and validatePodGroup in schedule_one_podgroup.go. 1.35 knows groups inside a Workload, later releases PodGroups.
From 1.37 on a group is one entry of the queue: a member that a PreEnqueue plugin holds back holds back all of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..findings import Finding, finding
from ..objects import ObjectRef, Pod, PodGroup, Workload
from ..view import ClusterView
from ..view.indices import pods_of_group, pods_of_reference
from . import dynamic_resources

WITH_HIERARCHIES = "CompositePodGroup"


@dataclass(frozen=True, slots=True, eq=False)
class Gang:
    """A group of pods as the scheduler sees it. `ref` is the PodGroup (1.35: the Workload) and `field` where its minimum stands. `members`
    are those that haven't ended, in the order in which they are tried; `topology_key` is the label whose value all have to share."""

    ref: ObjectRef
    field: str
    policy: str
    min_count: int
    members: tuple[Pod, ...]
    group: PodGroup | None = None
    topology_key: str = ""

    @property
    def bound(self) -> tuple[Pod, ...]:
        """Members that have a node."""
        return tuple(pod for pod in self.members if pod.node_name)

    @property
    def waiting(self) -> tuple[Pod, ...]:
        """Members that are to be placed: one that is being deleted is skipped."""
        return tuple(pod for pod in self.members if not pod.node_name and pod.metadata.deleted is None)

    @property
    def name(self) -> str:
        """Namespace and name."""
        return f"{self.ref.namespace}/{self.ref.name}"

    @property
    def priority(self) -> int:
        """What the group preempts with."""
        if self.group is not None and self.group.spec.priority is not None:
            return self.group.spec.priority
        return 0


def gang_of(view: ClusterView, pod: Pod) -> Gang | Finding | None:
    """The group that the pod starts with; what keeps it from having one; or None: it starts alone. Worked out once for all members."""
    if pod.scheduling_group is None and pod.workload_reference is None:
        return None
    key = "gang of", pod.namespace, pod.scheduling_group, pod.workload_reference
    return view.memo(key, lambda: _found(view, pod))


def _found(view: ClusterView, pod: Pod) -> Gang | Finding | None:
    if view.release.minor < 36:
        return _of_workload(view, pod)
    name = pod.scheduling_group
    if name is None or not view.release.enabled("GenericWorkload"):
        return None
    group = view.get(PodGroup, name, pod.namespace)
    if group is None:
        return _missing(view, pod, "PodGroup", name)
    if group.parent is not None and view.release.enabled(WITH_HIERARCHIES):
        what = f"PodGroup {name} is part of CompositePodGroup {group.parent}, which isn't modelled"
        return finding("GANG_NOT_MODELLED", group.ref, "spec.parentCompositePodGroupName", group=group.full_name, what=what)
    if group.spec.policy not in ("gang", "basic"):
        what = "its scheduling policy isn't known"
        return finding("GANG_NOT_MODELLED", group.ref, "spec.schedulingPolicy", group=group.full_name, what=what)
    counts = group.spec.policy == "gang" and (view.release.minor >= 37 or view.release.enabled("GangScheduling"))
    topology = group.spec.topology_keys if view.release.enabled("TopologyAwareWorkloadScheduling") else ()
    return Gang(
        group.ref,
        "spec.schedulingPolicy.gang.minCount",
        "gang" if counts else "basic",
        (group.min_count or 0) if counts else 1,
        in_order(pods_of_group(view, group)),
        group,
        topology[0] if topology else "",
    )


def _of_workload(view: ClusterView, pod: Pod) -> Gang | Finding | None:
    reference = pod.workload_reference
    if reference is None or not view.release.enabled("GangScheduling"):
        return None
    workload = view.get(Workload, reference.workload, pod.namespace)
    if workload is None:
        return _missing(view, pod, "Workload", reference.workload)
    for index, template in enumerate(workload.templates):
        if template.name == reference.pod_group:
            gang = template.spec.policy == "gang"
            members = in_order(pods_of_reference(view, pod.namespace, reference))
            field = f"spec.podGroups[{index}].policy.gang.minCount"
            return Gang(workload.ref, field, template.spec.policy, (template.spec.min_count or 0) if gang else 1, members)
    about = f"{reference.pod_group} of Workload {reference.workload}"
    return finding("POD_GROUP_MISSING", workload.ref, "spec.podGroups", kind="pod group", group=about)


def _missing(view: ClusterView, pod: Pod, kind: str, name: str) -> Finding:
    about = ObjectRef(kind, pod.namespace, name)
    field = "spec.schedulingGroup" if kind == "PodGroup" else "spec.workloadRef"
    if not view.can_read(kind):
        return finding("UNREADABLE", about, field, what=f"{kind} {about.namespace}/{about.name} could not be read")
    return finding("POD_GROUP_MISSING", about, field, kind=kind, group=name)


def in_order(pods: tuple[Pod, ...]) -> tuple[Pod, ...]:
    """Living members as the scheduler tries them: by priority, then by when they came. Creation times have whole seconds, so that of two
    pods of one second the one with the lower number is taken to be the older."""
    alive = [pod for pod in pods if not pod.is_terminal]
    return tuple(sorted(alive, key=lambda pod: (-pod.priority, pod.metadata.created or 0.0, _natural(pod.name))))


def _natural(name: str) -> tuple[tuple[int, str], ...]:
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name) if part)


def pre_enqueue(view: ClusterView, gang: Gang) -> Finding | None:
    """What keeps the group out of the queue: too few pods, or (from 1.37 on) a member that is held by itself."""
    if gang.policy == "gang" and len(gang.members) < gang.min_count:
        return finding("GANG_WAITS_FOR_MEMBERS", gang.ref, gang.field, min_count=gang.min_count, exist=len(gang.members))
    if view.release.minor < 37:
        return None
    for pod in gang.waiting:
        held = held_alone(view, pod)
        if held is not None:
            return finding("GANG_MEMBER_HELD", pod.ref, held.field, member=pod.name, because=held.code)
    return None


def held_alone(view: ClusterView, pod: Pod) -> Finding | None:
    """What keeps one pod out of the queue, whatever its group."""
    if pod.scheduling_gates:
        return finding("SCHEDULING_GATED", pod.ref, "spec.schedulingGates", gates=pod.scheduling_gates)
    return dynamic_resources.pre_enqueue(view, pod)


def taking_part(view: ClusterView, gang: Gang) -> tuple[Pod, ...]:
    """Members of this attempt: before 1.37 one that is held by itself stays behind alone."""
    if view.release.minor >= 37:
        return gang.waiting
    return tuple(pod for pod in gang.waiting if held_alone(view, pod) is None)


def disagreement(view: ClusterView, gang: Gang) -> str:
    """The error of a group whose pods differ in what has to be one for all, or ""."""
    first = next(iter(gang.waiting), None)
    if first is None or gang.group is None:
        return ""
    start = "all pods in a single pod group should have the same"
    for pod in gang.waiting if view.release.minor < 37 else (*gang.waiting, *gang.bound):
        if pod.scheduler_name != first.scheduler_name:
            return f'{start} .spec.schedulerName set, got: "{pod.scheduler_name}" and "{first.scheduler_name}"'
        if view.release.minor < 37:
            continue
        if pod.priority != gang.priority:
            return f"{start} priority as the pod group's priority, got {pod.priority} and {gang.priority}"
        if view.release.enabled("PodGroupPreemptionPolicy"):
            if pod.preemption_policy != gang.group.spec.preemption_policy:
                policies = f"{pod.preemption_policy} and {gang.group.spec.preemption_policy}"
                return f"{start} preemption policy as the pod group's preemption policy, got {policies}"
        elif pod.preemption_policy != first.preemption_policy:
            return f"{start} preemption policy, got {pod.preemption_policy} and {first.preemption_policy}"
    return ""


def can_start(gang: Gang, scheduled: int) -> bool:
    """Whether enough have a place. At least one is needed in any group."""
    return scheduled >= gang.min_count


def hopeless(gang: Gang, scheduled: int, remaining: int) -> bool:
    """Whether the minimum can't be reached with the members that are left to try."""
    return scheduled + remaining < gang.min_count


def quorum_text(gang: Gang, scheduled: int, remaining: int) -> str:
    """What the plugin says then."""
    return f"minCount ({gang.min_count}) cannot be satisfied: {scheduled} scheduled, {remaining} remaining"
