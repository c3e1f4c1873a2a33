"""Which nodes Kueue has assigned to a workload's pods, and so what it leaves each of them.

Pods that are placed in a topology carry a gate until their Workload is admitted; then Kueue takes it away and puts the labels of one domain
into the pod's nodeSelector (sigs.k8s.io/kueue pkg/controller/tas/topology_ungater.go). Nodes that come later are no part of an assignment:
it stands until the Workload is evicted, but for nodes that Kueue calls unhealthy, in whose place it looks for others.

Which of the pods that still carry the gate gets which domain is taken to go by their names. Kueue goes by their rank where they have one;
pods of one pod set ask alike, so that which of them it is seldom matters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..objects import KueueWorkload, Pod
from ..objects.kueue import POD_SET_LABEL, TOPOLOGY_GATE, WORKLOAD_ANNOTATION
from ..objects.kueue_assignment import PodSetAssignment, TopologyAssignment
from ..objects.node import HOSTNAME
from ..view import ClusterView, Replace
from .admission import workload_of_pod


@dataclass(frozen=True, slots=True, eq=False)
class Assigned:
    """`selector`: the labels of the domain that a pod is to run in. `to_come`: they aren't in the pod yet."""

    workload: KueueWorkload
    selector: Mapping[str, str]
    to_come: bool

    @property
    def domain(self) -> str:
        """As people write it."""
        return ", ".join(f"{key}={value}" for key, value in self.selector.items())


def assigned(view: ClusterView, pod: Pod) -> Assigned | None:
    """The domain that Kueue has assigned to a pod; None where it has assigned none, or looks for another. Worked out once for a view."""
    if not view.count(KueueWorkload):
        return None
    return view.memo(("kueue assigned", pod), lambda: _assigned(view, pod))


def _assigned(view: ClusterView, pod: Pod) -> Assigned | None:
    found = _of_pod(view, pod)
    if found is None:
        return None
    workload, pod_set, topology = found
    if not _is_gated(pod):
        own = tuple(pod.node_selector.get(key, "") for key in topology.levels)
        places = view.memo(("kueue places", workload, pod_set), lambda: frozenset(domain.values for domain in topology.domains))
        if own in places:
            return Assigned(workload, dict(zip(topology.levels, own, strict=True)), to_come=False)
        return None
    values = view.memo(("kueue domains", workload, pod_set), lambda: _given_out(view, workload, pod_set, topology)).get(pod.key)
    return None if values is None else Assigned(workload, dict(zip(topology.levels, values, strict=True)), to_come=True)


@dataclass(frozen=True, slots=True, eq=False)
class InDomains:
    """A view in which pods that are to get a domain have its labels already; `pods` as they are in it, `assigned` by a pod's key."""

    view: ClusterView
    pods: tuple[Pod, ...]
    assigned: Mapping[tuple[str, str], Assigned]


def in_domains(view: ClusterView, pods: Sequence[Pod]) -> InDomains:
    """These pods as they will be once Kueue lets them go."""
    found = {pod.key: own for pod in pods if (own := assigned(view, pod)) is not None}
    edits = [
        Replace(replace(pod, node_selector={**pod.node_selector, **own.selector}))
        for pod in pods
        if (own := found.get(pod.key)) is not None and own.to_come and view.current(pod) is pod
    ]
    after = view.with_edits(*edits) if edits else view
    return InDomains(after, tuple(after.current(pod) or pod for pod in pods), found)


def _is_gated(pod: Pod) -> bool:
    return TOPOLOGY_GATE in pod.scheduling_gates


def _is_marked(pod: Pod) -> bool:
    """Whether the pod may have been placed by Kueue: it marks them."""
    return POD_SET_LABEL in pod.metadata.labels or WORKLOAD_ANNOTATION in pod.metadata.annotations or _is_gated(pod)


def _marked(pod: Pod) -> Iterable[str]:
    return (pod.namespace,) if _is_marked(pod) and not pod.is_terminal else ()


def _of_pod(view: ClusterView, pod: Pod) -> tuple[KueueWorkload, str, TopologyAssignment] | None:
    """The pod's Workload with the name and the assignment of its pod set."""
    if pod.is_terminal or not _is_marked(pod):
        return None
    name = pod.metadata.annotations.get(WORKLOAD_ANNOTATION, "")
    workload = (view.get(KueueWorkload, name, pod.namespace) if name else None) or workload_of_pod(view, pod)
    if workload is None or workload.holds("Finished") or workload.holds("Evicted"):
        return None
    own = _assignment(workload, pod.metadata.labels.get(POD_SET_LABEL, ""))
    return None if own is None or own.topology is None else (workload, own.name, own.topology)


def _assignment(workload: KueueWorkload, pod_set: str) -> PodSetAssignment | None:
    if not pod_set and len(workload.assignments) == 1:
        return workload.assignments[0]
    return next((entry for entry in workload.assignments if entry.name == pod_set), None)


def _pod_sets(view: ClusterView, namespace: str) -> Mapping[tuple[int, str], Sequence[Pod]]:
    """The pods of a namespace by workload, by its id, and pod set."""
    found: dict[tuple[int, str], list[Pod]] = {}
    for pod in view.index(Pod, _marked).get(namespace, ()):
        of = _of_pod(view, pod)
        if of is not None:
            found.setdefault((id(of[0]), of[1]), []).append(pod)
    return found


def _given_out(
    view: ClusterView, workload: KueueWorkload, pod_set: str, topology: TopologyAssignment
) -> Mapping[tuple[str, str], tuple[str, ...]]:
    """The domain of each gated pod of a pod set: what the others have left, in order."""
    namespace = workload.namespace
    own = view.memo(("kueue pod sets", namespace), lambda: _pod_sets(view, namespace)).get((id(workload), pod_set), ())
    taken: dict[tuple[str, ...], int] = {}
    for pod in own:
        if not _is_gated(pod):
            values = tuple(pod.node_selector.get(key, "") for key in topology.levels)
            taken[values] = taken.get(values, 0) + 1
    waiting = iter(sorted((pod for pod in own if _is_gated(pod)), key=lambda pod: pod.name))
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    by_host = bool(topology.levels) and topology.levels[-1] == HOSTNAME
    for domain in topology.domains:
        if by_host and domain.values[-1] in workload.unhealthy:
            continue
        for _ in range(min(domain.count - taken.get(domain.values, 0), len(own))):
            pod = next(waiting, None)
            if pod is None:
                return found
            found[pod.key] = domain.values
    return found
