"""InterPodAffinity: the nearer the node is to pods that this one, or they, would have near, and the farther from the others, the better.

Source: k8s.io/kubernetes pkg/scheduler/framework/plugins/interpodaffinity/scoring.go, with HardPodAffinityWeight 1: required affinity of
pods that are there counts as a preference of weight 1 for the incoming one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...objects import Node, Pod
from ...objects.affinity import PodAffinityTerm
from ...objects.namespace import Namespace
from ...view import ClusterView
from ..inter_pod_affinity import Domain, Selection, merged
from ..placed_pods import Labels, placed_pods
from ..skip import SKIP, Skip
from .candidate import MAX_NODE_SCORE, Candidate

WEIGHT = 2
REQUIRED_WEIGHT = 1

Worth = Mapping[Domain, int]
"""What a node gains in each domain."""


def prepare(view: ClusterView, pod: Pod, placed: Iterable[Pod]) -> Worth | Skip:
    """What domains are worth to the pod; SKIP: none is worth anything. `placed` are pods that count beside those of the view."""
    placed = tuple(placed)
    found: dict[Domain, int] = {}
    own = pod.affinity
    for terms, sign in ((own.pod.preferred, 1), (own.anti.preferred, -1)):
        for entry in terms:
            selection = Selection(view, merged(entry.term, pod), pod.namespace)
            for (namespace, _), pods in placed_pods(view).items():
                if selection.means(namespace, pods[0].metadata.labels):
                    _add(view, pods, entry.term.topology_key, sign * entry.weight, found)
            for other in placed:
                if selection.means(other.namespace, other.metadata.labels):
                    _add(view, (other,), entry.term.topology_key, sign * entry.weight, found)
    namespace = view.get(Namespace, pod.namespace)
    labels: Labels = namespace.metadata.labels if namespace is not None else {}
    for (where, weight, term), pods in view.gather(Pod, _wishes).items():
        if _means(term, where, pod, labels):
            _add(view, pods, term.topology_key, weight, found)
    for other in placed:
        for weight, term in wishes_of(other):
            if _means(term, other.namespace, pod, labels):
                _add(view, (other,), term.topology_key, weight, found)
    return found if found else SKIP


def score(worth: Worth, candidates: Sequence[Candidate]) -> list[int]:
    keys = {key for key, _ in worth}

    def sum_up(labels: Labels) -> int:
        return sum(worth.get((key, labels[key]), 0) for key in keys if key in labels)

    counts = [sum_up(entry.info.node.metadata.labels) for entry in candidates]
    least, most = min(counts, default=0), max(counts, default=0)
    if least == most:
        return [0] * len(counts)
    return [int(MAX_NODE_SCORE * ((count - least) / (most - least))) for count in counts]


def wishes_of(pod: Pod) -> list[tuple[int, PodAffinityTerm]]:
    """What a pod that is there wishes of those that come: weight and term."""
    affinity = pod.affinity
    return [
        *((REQUIRED_WEIGHT, term) for term in affinity.pod.required),
        *((entry.weight, entry.term) for entry in affinity.pod.preferred),
        *((-entry.weight, entry.term) for entry in affinity.anti.preferred),
    ]


def _wishes(pod: Pod) -> Iterable[tuple[tuple[str, int, PodAffinityTerm], Pod]]:
    if not pod.node_name or pod.is_terminal:
        return ()
    return [((pod.namespace, weight, term), pod) for weight, term in wishes_of(pod)]


def _means(term: PodAffinityTerm, where: str, pod: Pod, labels: Labels) -> bool:
    """Whether the term of a pod in namespace `where` means this one; `labels` are those of its namespace."""
    if term.selector is None or not term.selector.matches(pod.metadata.labels):
        return False
    named = pod.namespace in term.namespaces or (not term.namespaces and term.namespace_selector is None and pod.namespace == where)
    return named or (term.namespace_selector is not None and term.namespace_selector.matches(labels))


def _add(view: ClusterView, pods: Iterable[Pod], key: str, weight: int, found: dict[Domain, int]) -> None:
    for pod in pods:
        node = view.get(Node, pod.node_name)
        value = node.metadata.labels.get(key) if node is not None else None
        if value is not None:
            found[key, value] = found.get((key, value), 0) + weight
