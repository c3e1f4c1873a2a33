"""What stands behind the pods, as portions of the graph: workloads up to the one that a user made, gangs, Kueue's queues, InferencePools;
and for pods that wait the claims that they ask for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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


@dataclass(slots=True, eq=False)
class Surroundings:
    """The objects beside the pods that portions of pods were made of, and these portions. While none of the objects is another, neither is
    a portion."""

    objects: tuple[tuple[ApiObject, ...], ...] = ()
    of: dict[Pod, tuple[Portion, ...]] = field(default_factory=dict[Pod, "tuple[Portion, ...]"])
    concerned: tuple[tuple[Pod, ...], tuple[Portion, ...]] = ((), ())
    waiting: tuple[tuple[Pod, ...], tuple[ResourceClaim, ...], tuple[Portion, ...]] | None = None
    behind: dict[tuple[str, str, str], _Behind] = field(default_factory=dict[tuple[str, str, str], "_Behind"])
    """By the pods' controller."""


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
    return list(dict.fromkeys(_of_pods(view, pods, _surroundings(view))))


def _of_pods(view: ClusterView, pods: Iterable[Pod], around: Surroundings) -> list[Portion]:
    domains, of = compute_domains(view), around.of
    found: list[Portion] = []
    for pod in pods:
        known = of.get(pod)
        if known is None:
            known = of[pod] = _of_pod(view, pod, domains, around)
        found.extend(known)
    return found


def concerned_portions(view: ClusterView) -> tuple[Portion, ...]:
    """The same for all pods that hold devices or ask for them."""
    around, pods = _surroundings(view), concerned_pods(view)
    if around.concerned[0] is not pods:
        found = tuple(dict.fromkeys(_of_pods(view, pods, around)))
        around.concerned = (pods, found)
        if len(around.of) > 2 * len(pods):  # pods that are gone
            of = around.of
            around.of = {pod: of[pod] for pod in pods if pod in of}
    return around.concerned[1]


def _of_pod(view: ClusterView, pod: Pod, domains: Mapping[tuple[str, str], str], around: Surroundings) -> tuple[Portion, ...]:
    own = pod_path(pod)
    behind = _behind(view, pod, around)
    portion = Portion(shared={own: pod_facts(pod)})
    out: dict[str, Facts] = {}
    if behind.nearest:
        portion.shared[behind.nearest] = behind.portion.shared[behind.nearest]
        out[behind.nearest] = _MANAGED
    for gang in gangs_of(pod, domains):
        portion.shared[gang.path] = _gang_facts(view, gang)
        out[gang.path] = _MEMBER
    name = pod.metadata.labels.get(QUEUE_LABEL) or behind.queue
    if name:
        queue = f"queue/{pod.namespace}/{name}"
        local = view.get(LocalQueue, name, pod.namespace)
        portion.shared[queue] = {"type": "queue"} if local is not None else {"type": "queue", "seen": False}
        out[queue] = _QUEUED
        if local is not None and local.cluster_queue:
            portion.shared[f"clusterqueue/{local.cluster_queue}"] = {"type": "clusterqueue"}
            portion.edge(queue, f"clusterqueue/{local.cluster_queue}", _FEEDS)
    for pool in pools_of(view, pod):
        path = f"inferencepool/{pool.full_name}"
        portion.shared[path] = {"type": "inferencepool"}
        out[path] = _SERVES
    if out:
        portion.shared_out[own] = out
        for other, facts in out.items():
            portion.shared_into[other] = {own: facts}
    return (behind.portion, portion) if behind.nearest else (portion,)


_NOTHING_BEHIND = _Behind("", Portion(), "")


def _behind(view: ClusterView, pod: Pod, around: Surroundings) -> _Behind:
    controller = pod.metadata.controller
    if controller is None:
        return _NOTHING_BEHIND
    key = (controller.kind, pod.namespace, controller.name)
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
    portion = Portion(shared={own: pod_facts(pod)})
    for claim in claims:
        path = f"claim/{claim.full_name}"
        portion.shared[path] = {"type": "claim", "waiting": True}
        portion.edge(own, path, _ASKS)
    return portion


def _concerned(pod: Pod) -> Iterable[bool]:
    if pod.is_terminal:
        return ()
    asks = bool(pod.resource_claims) or pod.extended_resource_claim is not None
    asks = asks or any(is_extended(name) for entry in (*pod.containers, *pod.init_containers) for name in entry.requests)
    return (True,) if asks else ()


def concerned_pods(view: ClusterView) -> tuple[Pod, ...]:
    """Pods that have not ended and ask for devices, through claims or as extended resources."""
    return view.index(Pod, _concerned).get(True, ())
