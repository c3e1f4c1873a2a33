"""What stands behind the pods, as portions of the graph: workloads up to the one that a user made, gangs, Kueue's queues, InferencePools;
and for pods that wait the claims that they ask for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from k8s_topo_mcp.objects import (
    OWNERS,
    ClusterQueue,
    ComputeDomain,
    InferencePool,
    LocalQueue,
    ObjectRef,
    Pod,
    PodGroup,
    ResourceClaim,
)
from k8s_topo_mcp.objects.kueue import QUEUE_LABEL
from k8s_topo_mcp.objects.meta import ApiObject
from k8s_topo_mcp.objects.record import record
from k8s_topo_mcp.view import ClusterView
from k8s_topo_mcp.view.indices import claims_of, find_owner, pending_pods

from .gangs import Gang, compute_domains, gangs_of
from .plugin import is_extended
from .portions import Facts, Portion, pod_facts, pod_path
from .serving import pools_of
from .workloads import chain, queue_of

_SOURCES: tuple[type[ApiObject], ...] = (*OWNERS, LocalQueue, ClusterQueue, ComputeDomain, InferencePool, PodGroup)

_MANAGED: Facts = {"kind": "managed_by"}
_MEMBER: Facts = {"kind": "member_of"}
_QUEUED: Facts = {"kind": "queued_in"}
_FEEDS: Facts = {"kind": "feeds"}
_SERVES: Facts = {"kind": "serves_for"}
_ASKS: Facts = {"kind": "asks"}


@record()
class _Behind:
    """What stands behind the pods of one controller: the nearest workload ("" for none), all of them as a portion, and their queue."""

    nearest: str
    portion: Portion
    queue: str


_Controller = tuple[str, str, str]
"""Kind, namespace and name of what manages a pod; a pod that nothing manages stands for itself."""


@dataclass(slots=True, eq=False)
class Surroundings:
    """The objects beside the pods that portions of pods were made of, and these portions, one for all pods of a controller. While none of
    the objects and pods is another, neither is a portion."""

    objects: tuple[tuple[ApiObject, ...], ...] = ()
    of: dict[_Controller, tuple[Sequence[Pod], Portion]] = field(default_factory=dict[_Controller, "tuple[Sequence[Pod], Portion]"])
    concerned: tuple[Mapping[_Controller, tuple[Pod, ...]], tuple[Portion, ...]] | None = None
    waiting: tuple[tuple[Pod, ...], tuple[ResourceClaim, ...], tuple[Portion, ...]] | None = None
    behind: dict[_Controller, _Behind] = field(default_factory=dict[_Controller, "_Behind"])


@dataclass(slots=True)
class _Kept:
    last: Surroundings


def _nothing(_: tuple[Pod, ...]) -> _Kept:
    return _Kept(Surroundings())


def _surroundings(view: ClusterView) -> Surroundings:
    kept = view.carried(Pod, _nothing)
    objects = tuple(view.all(kind) for kind in _SOURCES)
    if len(objects) != len(kept.last.objects) or any(now is not then for now, then in zip(objects, kept.last.objects, strict=True)):
        kept.last = Surroundings(objects)
    return kept.last


def pod_portions(view: ClusterView, pods: Iterable[Pod]) -> list[Portion]:
    """What these pods add, and what stands behind them."""
    around = _surroundings(view)
    groups: dict[_Controller, list[Pod]] = {}
    for pod in pods:
        groups.setdefault(_controller(pod), []).append(pod)
    return [portion for key, group in groups.items() for portion in _of_pods(view, key, group, around)]


def concerned_portions(view: ClusterView) -> tuple[Portion, ...]:
    """The same for all pods that hold devices or ask for them."""
    around, groups = _surroundings(view), view.index(Pod, _concerned_by_controller)
    if around.concerned is None or around.concerned[0] is not groups:
        known, found = around.of, dict[_Controller, tuple[Sequence[Pod], Portion]]()
        portions: list[Portion] = []
        for key, group in groups.items():
            last = known.get(key)
            if last is not None and last[0] == group:
                found[key] = last
                portions += _behind_and(around.behind.get(key), last[1])
            else:
                made = _of_pods(view, key, group, around)
                found[key] = (group, made[-1])
                portions += made
        around.of, around.concerned = found, (groups, tuple(portions))
    return around.concerned[1]


def _controller(pod: Pod) -> _Controller:
    owner = pod.metadata.controller
    return ("", pod.namespace, pod.name) if owner is None else (owner.kind, pod.namespace, owner.name)


def _concerned_by_controller(pod: Pod) -> Iterable[_Controller]:
    return (_controller(pod),) if _is_concerned(pod) else ()


def _behind_and(behind: _Behind | None, portion: Portion) -> tuple[Portion, ...]:
    return (behind.portion, portion) if behind is not None and behind.nearest else (portion,)


def _of_pods(view: ClusterView, key: _Controller, pods: Sequence[Pod], around: Surroundings) -> tuple[Portion, ...]:
    """Pods of one controller, after what stands behind it."""
    behind = _behind(view, key, pods[0], around)
    portion, domains = Portion(), compute_domains(view)
    shared, out = portion.shared, portion.shared_out
    if behind.nearest:
        shared[behind.nearest] = behind.portion.shared[behind.nearest]
    managed: Mapping[str, Facts] = {behind.nearest: _MANAGED} if behind.nearest else {}
    alike = dict(managed)
    for pod in pods:
        path = pod_path(pod)
        shared[path] = pod_facts(pod)
        more = _beyond(view, pod, behind, domains, portion)
        if more:
            out[path] = {**managed, **more}
        elif alike:
            out[path] = alike
    return _behind_and(behind, portion)


def _beyond(view: ClusterView, pod: Pod, behind: _Behind, domains: Mapping[tuple[str, str], str], portion: Portion) -> dict[str, Facts]:
    """The edges from a pod to its gangs, its queue and the InferencePools that it serves for, which are put into the portion."""
    found: dict[str, Facts] = {}
    for gang in gangs_of(pod, domains):
        portion.shared[gang.path] = _gang_facts(view, gang)
        found[gang.path] = _MEMBER
    name = pod.metadata.labels.get(QUEUE_LABEL) or behind.queue
    if name:
        queue = f"queue/{pod.namespace}/{name}"
        local = view.get(LocalQueue, name, pod.namespace)
        portion.shared[queue] = {"type": "queue"} if local is not None else {"type": "queue", "seen": False}
        found[queue] = _QUEUED
        if local is not None and local.cluster_queue:
            portion.shared[f"clusterqueue/{local.cluster_queue}"] = {"type": "clusterqueue"}
            portion.edge(queue, f"clusterqueue/{local.cluster_queue}", _FEEDS)
    for pool in pools_of(view, pod):
        path = f"inferencepool/{pool.full_name}"
        portion.shared[path] = {"type": "inferencepool"}
        found[path] = _SERVES
    return found


_NOTHING_BEHIND = _Behind("", Portion(), "")


def _behind(view: ClusterView, key: _Controller, pod: Pod, around: Surroundings) -> _Behind:
    """What stands behind a controller, one of whose pods is given."""
    if not key[0]:
        return _NOTHING_BEHIND
    found = around.behind.get(key)
    if found is None:
        owners = chain(view, pod)
        portion = Portion()
        below = ""
        for reference in owners:
            workload = workload_path(reference)
            portion.shared[workload] = _workload_facts(view, reference)
            if below:
                portion.edge(below, workload, _MANAGED)
            below = workload
        nearest = workload_path(owners[0]) if owners else ""
        found = around.behind[key] = _Behind(nearest, portion, queue_of(view, owners))
    return found


def workload_path(reference: ObjectRef) -> str:
    """The scope of a workload."""
    place = f"{reference.namespace}/{reference.name}" if reference.namespace else reference.name
    return f"workload/{reference.kind}/{place}"


def _workload_facts(view: ClusterView, reference: ObjectRef) -> Facts:
    owner = find_owner(view, reference.kind, reference.name, reference.namespace)
    facts: Facts = {"type": "workload", "workload": reference.kind}
    if owner is None:
        return facts | {"seen": False}
    if owner.desired is not None:
        facts["desired"] = owner.desired
    if owner.ready is not None:
        facts["ready"] = owner.ready
    return facts


def _gang_facts(view: ClusterView, gang: Gang) -> Facts:
    facts: Facts = {"type": "gang", "gang": gang.kind}
    if gang.kind == "PodGroup":
        group = view.get(PodGroup, gang.name, gang.namespace)
        if group is not None and group.min_count is not None:
            facts["min_count"] = group.min_count
    elif gang.kind == "ComputeDomain":
        domain = view.get(ComputeDomain, gang.name, gang.namespace)
        if domain is not None:
            facts |= {"status": domain.status or "unknown", "nodes": [entry.name for entry in domain.nodes]}
    return facts


def waiting_portions(view: ClusterView) -> tuple[Portion, ...]:
    """Pods that wait, with the claims that they ask for and that hold nothing yet."""
    around, pods, claims = _surroundings(view), pending_pods(view), view.all(ResourceClaim)
    if around.waiting is None or around.waiting[0] is not pods or around.waiting[1] is not claims:
        found: list[Portion] = []
        for pod in pods:
            asked = [entry.claim for entry in claims_of(view, pod) if entry.claim is not None and entry.claim.allocation is None]
            if asked:
                found.append(_waiting(pod, asked))
        around.waiting = (pods, claims, tuple(found))
    return around.waiting[2]


def _waiting(pod: Pod, claims: Iterable[ResourceClaim]) -> Portion:
    own = pod_path(pod)
    portion = Portion()
    portion.shared[own] = pod_facts(pod)
    for claim in claims:
        path = f"claim/{claim.full_name}"
        portion.shared[path] = {"type": "claim", "waiting": True}
        portion.edge(own, path, _ASKS)
    return portion


def _is_concerned(pod: Pod) -> bool:
    if pod.is_terminal:
        return False
    if pod.resource_claims or pod.extended_resource_claim is not None:
        return True
    return any(is_extended(name) for entry in (*pod.containers, *pod.init_containers) for name in entry.requests)


def _concerned(pod: Pod) -> Iterable[bool]:
    return (True,) if _is_concerned(pod) else ()


def concerned_pods(view: ClusterView) -> tuple[Pod, ...]:
    """Pods that have not ended and ask for devices, through claims or as extended resources."""
    return view.index(Pod, _concerned).get(True, ())
