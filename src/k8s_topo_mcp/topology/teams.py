"""Pods that a scope names together: those of a workload, a gang, a queue of Kueue, an InferencePool."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from k8s_topo_mcp.objects import (
    OWNERS,
    ClusterQueue,
    ComputeDomain,
    InferencePool,
    KueueWorkload,
    LocalQueue,
    ObjectRef,
    Owner,
    Pod,
    PodGroup,
)
from k8s_topo_mcp.objects.kueue import QUEUE_LABEL
from k8s_topo_mcp.objects.meta import ApiObject
from k8s_topo_mcp.view import ClusterView
from k8s_topo_mcp.view.indices import nearest_names, pods_of_owner

from .gangs import Gang, compute_domains, gangs_of
from .serving import pods_of
from .work import concerned_pods, workload_path
from .workloads import chain, find_workload, kinds_of_owners, queue_of

TEAMS = ("workload", "gang", "queue", "clusterqueue", "inferencepool")


class TeamError(ValueError):
    """No such set of pods. The message says what is near."""


@dataclass(frozen=True, slots=True, eq=False)
class Team:
    """A set of pods. `about` says what is known of it besides them."""

    path: str
    about: str
    pods: tuple[Pod, ...]


def find_team(view: ClusterView, kind: str, rest: str) -> Team:
    """
    The pods of the scope `kind`/`rest`.

    Raises
    ------
    TeamError
        Nothing has that name.
    """
    match kind:
        case "workload":
            return _workload(view, rest)
        case "gang":
            return _gang(view, rest)
        case "queue":
            return _queue(view, rest)
        case "clusterqueue":
            return _cluster_queue(view, rest)
        case _:
            return _inference_pool(view, rest)


# --- workloads --------------------------------------------------------------------------------------------------------------------


def _workload(view: ClusterView, rest: str) -> Team:
    kind, _, place = rest.partition("/")
    namespace, slash, name = place.partition("/")
    if not slash or not name:
        raise TeamError('a workload is named workload/KIND/NAMESPACE/NAME, as in "workload/Job/default/train".')
    owner = find_workload(view, kind, name, namespace)
    reference = owner.ref if owner is not None else ObjectRef(kind, namespace, name)
    pods = tuple(_below(view, reference))
    if owner is None and not pods:
        kinds = kinds_of_owners(view)
        names = [f"{found.ref.kind}/{found.full_name}" for cls in OWNERS for found in view.all(cls)]
        near = get_close_matches(f"{kind}/{namespace}/{name}", names[:5000], n=3, cutoff=0.4)
        hint = f" Nearest: {', '.join(f'workload/{entry}' for entry in near)}." if near else ""
        raise TeamError(f'workload "{rest}" not found.{hint} {len(names):,} workloads read ({", ".join(kinds[:6]) or "no kind"}).')
    return Team(workload_path(reference), _about(owner), pods)


def _about(owner: Owner | None) -> str:
    if owner is None:
        return "not there to be read; named by its pods"
    parts = [f"{owner.ready or 0} ready of {owner.desired} wanted" if owner.desired is not None and owner.ready is not None else ""]
    if owner.desired is not None and owner.ready is None:
        parts = [f"wants {owner.desired} at a time"]
    if owner.suspended:
        parts.append("suspended")
    return ", ".join(part for part in parts if part)


def _below(view: ClusterView, top: ObjectRef) -> Iterable[Pod]:
    """The pods of a workload, also those of workloads that it manages, and of a pod that manages others (a LeaderWorkerSet's leader)."""
    seen: dict[tuple[str, str, str], None] = {}
    waiting = [top]
    while waiting:
        reference = waiting.pop()
        key = (reference.kind, reference.namespace, reference.name)
        if key in seen:
            continue
        seen[key] = None
        for pod in pods_of_owner(view, reference):
            yield pod
            waiting.append(pod.ref)
        for cls in OWNERS:
            waiting.extend(owner.ref for owner in view.index(cls, _controller).get(key, ()))


def _controller(owner: Owner) -> Iterable[tuple[str, str, str]]:
    controller = owner.metadata.controller
    return () if controller is None else ((controller.kind, owner.namespace, controller.name),)


# --- gangs ------------------------------------------------------------------------------------------------------------------------


def _gang(view: ClusterView, rest: str) -> Team:
    kind, _, place = rest.partition("/")
    namespace, slash, name = place.partition("/")
    if not slash or not name:
        raise TeamError('a gang is named gang/KIND/NAMESPACE/NAME, as in "gang/PodGroup/default/llama".')
    wanted = Gang(kind, namespace, name)
    domains = compute_domains(view)
    known: dict[Gang, list[Pod]] = {}
    for pod in view.all(Pod):
        for gang in gangs_of(pod, domains):
            known.setdefault(gang, []).append(pod)
    about, there = _about_gang(view, wanted)
    if wanted not in known and not there:
        names = [gang.path for gang in known]
        near = get_close_matches(wanted.path, names[:5000], n=3, cutoff=0.4)
        hint = f" Nearest: {', '.join(near)}." if near else ""
        raise TeamError(f'gang "{rest}" not found.{hint} Pods name {len(names):,} gangs.')
    return Team(wanted.path, about, tuple(known.get(wanted, ())))


def _about_gang(view: ClusterView, gang: Gang) -> tuple[str, bool]:
    if gang.kind == "PodGroup":
        group = view.get(PodGroup, gang.name, gang.namespace)
        if group is not None:
            return (f"starts {group.min_count} together or none" if group.min_count is not None else "no minimum"), True
    if gang.kind == "ComputeDomain":
        domain = view.get(ComputeDomain, gang.name, gang.namespace)
        if domain is not None:
            ready = sum(1 for entry in domain.nodes if entry.ready)
            cliques = {entry.clique for entry in domain.nodes if entry.clique}
            joined = f"{ready} of {len(domain.nodes)} nodes that joined are ready"
            return f"{domain.status or 'status unknown'}, {joined}, in {len(cliques)} NVLink cliques", True
    return "", False


# --- queues -----------------------------------------------------------------------------------------------------------------------


def _queue(view: ClusterView, rest: str) -> Team:
    namespace, slash, name = rest.partition("/")
    if not slash or not name:
        raise TeamError('a queue is named queue/NAMESPACE/NAME, as in "queue/default/research"; a ClusterQueue clusterqueue/NAME.')
    local = view.get(LocalQueue, name, namespace)
    pods = _pods_by_queue(view).get((namespace, name), ())
    if local is None and not pods:
        raise _missing(view, LocalQueue, "queue", rest, nearest_names(view, LocalQueue, rest))
    about = "no LocalQueue of that name is seen"
    if local is not None:
        about = f"feeds ClusterQueue {local.cluster_queue}" + (f", stopped ({local.stop_policy})" if local.stop_policy != "None" else "")
    workloads = [entry for entry in view.all(KueueWorkload) if entry.namespace == namespace and entry.queue == name]
    return Team(f"queue/{rest}", "; ".join(part for part in (about, _admitted(workloads)) if part), tuple(pods))


def _cluster_queue(view: ClusterView, rest: str) -> Team:
    locals_ = [entry for entry in view.all(LocalQueue) if entry.cluster_queue == rest]
    cluster = view.get(ClusterQueue, rest)
    if cluster is None and not locals_:
        raise _missing(view, ClusterQueue, "clusterqueue", rest, nearest_names(view, ClusterQueue, rest))
    keys = {entry.key for entry in locals_}
    by_queue = _pods_by_queue(view)
    pods = tuple(pod for key in sorted(keys) for pod in by_queue.get(key, ()))
    parts = [f"{len(locals_)} LocalQueues"]
    if cluster is not None and cluster.stop_policy != "None":
        parts.append(f"stopped ({cluster.stop_policy})")
    parts.append(_admitted([entry for entry in view.all(KueueWorkload) if (entry.namespace, entry.queue) in keys]))
    return Team(f"clusterqueue/{rest}", "; ".join(part for part in parts if part), pods)


def _admitted(workloads: Sequence[KueueWorkload]) -> str:
    open_ones = [entry for entry in workloads if not entry.holds("Finished")]
    counts = Counter("admitted" if entry.holds("Admitted") else "waiting" for entry in open_ones)
    return ", ".join(f"{counts[word]:,} workloads {word}" for word in ("admitted", "waiting") if counts[word])


def _pods_by_queue(view: ClusterView) -> dict[tuple[str, str], list[Pod]]:
    def find() -> dict[tuple[str, str], list[Pod]]:
        found: dict[tuple[str, str], list[Pod]] = {}
        for pod in concerned_pods(view):
            name = pod.metadata.labels.get(QUEUE_LABEL) or queue_of(view, chain(view, pod))
            if name:
                found.setdefault((pod.namespace, name), []).append(pod)
        return found

    return view.memo("topology.pods by queue", find)


# --- serving ----------------------------------------------------------------------------------------------------------------------


def _inference_pool(view: ClusterView, rest: str) -> Team:
    namespace, _, name = rest.partition("/")
    pool = view.get(InferencePool, name, namespace)
    if pool is None:
        raise _missing(view, InferencePool, "inferencepool", rest, nearest_names(view, InferencePool, rest))
    about = f"selects {pool.selector}" if pool.selector is not None else "has no selector, so no pods"
    return Team(f"inferencepool/{rest}", about, pods_of(view, pool))


def _missing(view: ClusterView, cls: type[ApiObject], word: str, given: str, near: Sequence[str]) -> TeamError:
    hint = f" Nearest: {', '.join(f'{word}/{name}' for name in near)}." if near else ""
    return TeamError(f'{word} "{given}" not found.{hint} {view.count(cls):,} {cls.KIND}s read.')
