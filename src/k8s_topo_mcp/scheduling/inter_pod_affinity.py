"""InterPodAffinity: required affinity and anti-affinity between pods, in both directions.

Source: k8s.io/kubernetes pkg/scheduler/framework/plugins/interpodaffinity/filtering.go. A pod near which the incoming one must be has to
match all of its affinity terms at once; for anti-affinity each term counts alone. The anti-affinity of pods that are there already keeps
the incoming pod away too. Of a stored pod, (mis)matchLabelKeys are part of the selectors already; for a manifest that is done here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ..findings import Finding, finding
from ..objects import Node, Pod
from ..objects.affinity import PodAffinityTerm
from ..objects.label_selector import LabelSelector
from ..objects.namespace import Namespace
from ..objects.node import HOSTNAME
from ..objects.node_selector import Requirement
from ..view import ClusterView
from .node_info import NodeInfo
from .placed_pods import Labels, placed_pods
from .skip import SKIP, Skip

REASON_AFFINITY = "node(s) didn't match pod affinity rules"
REASON_ANTI_AFFINITY = "node(s) didn't match pod anti-affinity rules"
REASON_EXISTING = "node(s) didn't satisfy existing pods anti-affinity rules"

Domain = tuple[str, str]
"""topology key, value"""

Holders = Mapping[str, Mapping[str, str]]
"""topology key -> value -> the pod there that is first by name"""


@dataclass(frozen=True, slots=True, eq=False)
class Affinity:
    """`near`: domains with pods that match all of `terms`; `alone`: there are none, and the pod matches its own terms. `away`: domains with
    a pod that one of the pod's own anti-affinity terms means, keys in the order of the terms; `refused`: those of the other pods' terms,
    keys sorted. So which domain and which pod is told doesn't depend on the order in which the pods came."""

    terms: tuple[PodAffinityTerm, ...] = ()
    near: frozenset[Domain] = frozenset()
    alone: bool = False
    away: Holders = field(default_factory=dict[str, Mapping[str, str]])
    refused: Holders = field(default_factory=dict[str, Mapping[str, str]])


def prepare(view: ClusterView, pod: Pod) -> Affinity | Skip:
    terms = pod.affinity.pod.required
    anti = pod.affinity.anti.required
    refused = _refused(view, pod)
    if not terms and not anti and not refused:
        return Affinity() if _looks_at_hosts(view) else SKIP
    near: set[Domain] = set()
    alone = False
    if terms:
        terms = tuple(merged(term, pod) for term in terms)
        selections = [Selection(view, term, pod.namespace) for term in terms]
        for (namespace, _), pods in placed_pods(view).items():
            if all(selection.means(namespace, pods[0].metadata.labels) for selection in selections):
                near.update(_domains(view, pods, [term.topology_key for term in terms]))
        alone = not near and all(selection.means(pod.namespace, pod.metadata.labels) for selection in selections)
    away: dict[str, dict[str, str]] = {}
    for term in anti:
        selection = Selection(view, merged(term, pod), pod.namespace)
        for (namespace, _), pods in placed_pods(view).items():
            if selection.means(namespace, pods[0].metadata.labels):
                _hold(view, pods, term.topology_key, away)
    return Affinity(terms, frozenset(near), alone, away, refused)


def filter(state: Affinity, info: NodeInfo) -> tuple[Finding, ...]:
    node, labels = info.node, info.node.metadata.labels
    unmet = _unmet(state, labels)
    if unmet is not None:
        return (finding("POD_AFFINITY_UNMET", node.ref, "metadata.labels", term=described(unmet), key=unmet.topology_key),)
    for code, domains in (("POD_ANTI_AFFINITY", state.away), ("REFUSED_BY_POD", state.refused)):
        for key, holders in domains.items():
            holder = holders.get(labels[key]) if key in labels else None
            if holder is not None:
                return (finding(code, node.ref, "metadata.labels", key=key, value=labels[key], holder=holder),)
    return ()


def _unmet(state: Affinity, labels: Labels) -> PodAffinityTerm | None:
    for term in state.terms:
        if term.topology_key not in labels:
            return term
    if state.alone:
        return None
    return next((term for term in state.terms if (term.topology_key, labels[term.topology_key]) not in state.near), None)


def described(term: PodAffinityTerm) -> str:
    """Which pods a term means."""
    if term.selector is None:
        return "no pod (no selector)"
    return str(term.selector) or "any pod"


class Selection:
    """Which pods a term of the incoming pod means, its namespaceSelector resolved."""

    def __init__(self, view: ClusterView, term: PodAffinityTerm, namespace: str) -> None:
        self._selector = term.selector
        self._namespaces = set(term.namespaces)
        self._everywhere = term.namespace_selector is not None and _means_all(term.namespace_selector, view.release.minor)
        if not term.namespaces and term.namespace_selector is None:
            self._namespaces.add(namespace)
        elif term.namespace_selector is not None and not self._everywhere:
            chosen = term.namespace_selector
            self._namespaces.update(entry.name for entry in view.all(Namespace) if chosen.matches(entry.metadata.labels))

    def means(self, namespace: str, labels: Labels) -> bool:
        return self._selector is not None and (self._everywhere or namespace in self._namespaces) and self._selector.matches(labels)


def _means_all(chosen: LabelSelector, minor: int) -> bool:
    """Before 1.37 a selector that matches a namespace without labels meant all namespaces: what it had been resolved to was lost
    (mergeAffinityTermNamespacesIfNotEmpty got its term by value), and it was asked again with no labels."""
    return chosen.is_empty or (minor < 37 and chosen.matches({}))


def _anti_terms(pod: Pod) -> Iterable[tuple[tuple[str, PodAffinityTerm], Pod]]:
    if not pod.affinity.anti.required or not pod.node_name or pod.is_terminal:
        return ()
    return [((pod.namespace, term), pod) for term in pod.affinity.anti.required]


def _refused(view: ClusterView, pod: Pod) -> Holders:
    """Where pods with anti-affinity are that means this one. Replicas share their terms, so each is looked at once."""
    known = view.gather(Pod, _anti_terms)
    if not known:
        return {}
    found: dict[str, dict[str, str]] = {}
    own = view.get(Namespace, pod.namespace)
    labels: Labels = own.metadata.labels if own is not None else {}
    for (namespace, term), pods in known.items():
        if term.selector is None or not term.selector.matches(pod.metadata.labels):
            continue
        named = pod.namespace in term.namespaces or (not term.namespaces and term.namespace_selector is None and pod.namespace == namespace)
        if named or (term.namespace_selector is not None and term.namespace_selector.matches(labels)):
            _hold(view, pods, term.topology_key, found)
    return {key: found[key] for key in sorted(found)}


def refusing_keys(view: ClusterView, pod: Pod) -> frozenset[str]:
    """The labels in whose values pods that are there keep this one away."""
    return frozenset(_refused(view, pod))


def _looks_at_hosts(view: ClusterView) -> bool:
    """With InterPodAffinityHostnameFastPath the plugin stays awake while any pod has an anti-affinity term over host names."""
    fast = view.release.enabled("InterPodAffinityHostnameFastPath")
    return fast and any(term.topology_key == HOSTNAME for _, term in view.gather(Pod, _anti_terms))


def _hold(view: ClusterView, pods: Iterable[Pod], key: str, domains: dict[str, dict[str, str]]) -> None:
    """Name a pod for each domain that these are in."""
    for pod in pods:
        node = view.get(Node, pod.node_name)
        value = node.metadata.labels.get(key) if node is not None else None
        if value is not None:
            holders, name = domains.setdefault(key, {}), pod.full_name
            holders[value] = min(name, holders.get(value, name))


def _domains(view: ClusterView, pods: Iterable[Pod], keys: list[str]) -> Iterable[Domain]:
    for pod in pods:
        node = view.get(Node, pod.node_name)
        if node is not None:
            for key in keys:
                value = node.metadata.labels.get(key)
                if value is not None:
                    yield key, value


def merged(term: PodAffinityTerm, pod: Pod) -> PodAffinityTerm:
    """The term as the API server would store it."""
    if pod.metadata.created is not None or term.selector is None or not (term.match_label_keys or term.mismatch_label_keys):
        return term
    known = {entry.key for entry in term.selector.expressions}
    added = [
        Requirement(key, operator, (pod.metadata.labels[key],))
        for keys, operator in ((term.match_label_keys, "In"), (term.mismatch_label_keys, "NotIn"))
        for key in keys
        if key in pod.metadata.labels and key not in known
    ]
    return replace(term, selector=LabelSelector(term.selector.match_labels, (*term.selector.expressions, *added)))


def reason(found: Finding) -> str:
    return {"POD_AFFINITY_UNMET": REASON_AFFINITY, "POD_ANTI_AFFINITY": REASON_ANTI_AFFINITY}.get(found.code, REASON_EXISTING)
