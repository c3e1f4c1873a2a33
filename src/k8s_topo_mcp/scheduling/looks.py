"""Which of some pods are meant by what others of them ask of their neighbours: labels and namespaces tell pods apart only as far as that.

What has to hold (required affinity, DoNotSchedule) decides where a pod may run; what should (preferred affinity, ScheduleAnyway, the
scheduler's own spread of replicas) gives nodes other scores and no more.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..objects import Pod
from ..objects.affinity import PodAffinityTerm
from ..objects.label_selector import LabelSelector
from ..view import ClusterView
from . import pod_topology_spread
from .inter_pod_affinity import Selection, merged
from .scoring import pod_topology_spread as soft_spread
from .skip import Skip

MOST_COMPARED = 50_000
"""Labels that differ, times looks: one such comparison took 3 µs of the processor (`required` of the `replicas` in
tests/scheduling/test_pod_signature.py, 100 to 400 jobs, CPython 3.11), so that these take 0.15 s. Beyond, labels that a look reads tell
pods apart whatever they are: that is more than needed."""

Look = tuple[str, PodAffinityTerm]
"""the namespace of a pod that looks, and which pods it means"""

Read = tuple[str, frozenset[tuple[str, str]]]
"""namespace of a pod, and those of its labels that are read"""


@dataclass(frozen=True, slots=True, eq=False)
class Required:
    """`meant`: id of a pod -> by which required terms and spreads of these pods it is meant. `kept_away`: ids of pods that another one of
    these doesn't want near itself; of all, if these are too many to compare."""

    meant: Mapping[int, Hashable]
    kept_away: frozenset[int]


def required(view: ClusterView, pods: Sequence[Pod]) -> Required:
    """What has to hold between these pods."""
    away = dict.fromkeys(_look(pod, term) for pod in pods for term in pod.affinity.anti.required)
    looks = dict.fromkeys((*away, *(look for pod in pods for look in _required_by(pod))))  # those that keep away have the first bits
    read, compared = _compared(view, pods, looks)
    if compared is None:
        return Required(read, frozenset(map(id, pods)) if away else frozenset())
    meant = {each: compared[what] for each, what in read.items()}
    mask = (1 << len(away)) - 1
    return Required(meant, frozenset(each for each, by in meant.items() if by & mask))


def wished(view: ClusterView, pods: Sequence[Pod]) -> Mapping[int, Hashable]:
    """id of a pod -> by which preferred terms and soft spreads of these pods it is meant."""
    return _meant(view, pods, [look for pod in pods for look in _wished_by(view, pod)])


def looks_around(pod: Pod) -> bool:
    """Whether the pod's own rules let other pods decide where it may run: what it only wishes gives nodes scores."""
    return bool(pod_topology_spread.required(pod) or pod.affinity.pod.required or pod.affinity.anti.required)


def _look(pod: Pod, term: PodAffinityTerm) -> Look:
    """Where the pods that a term means are to be doesn't count, nor which of the pod's own labels it was made of."""
    return pod.namespace, replace(merged(term, pod), topology_key="", match_label_keys=(), mismatch_label_keys=())


def _required_by(pod: Pod) -> Iterable[Look]:
    for term in (*pod.affinity.pod.required, *pod.affinity.anti.required):
        yield _look(pod, term)
    for constraint in pod_topology_spread.required(pod):
        yield _spread(pod, pod_topology_spread.merged(constraint, pod))


def _wished_by(view: ClusterView, pod: Pod) -> Iterable[Look]:
    for entry in (*pod.affinity.pod.preferred, *pod.affinity.anti.preferred):
        yield _look(pod, entry.term)
    spread = soft_spread.prepare(view, pod)
    if not isinstance(spread, Skip):
        for _, selector in spread.constraints:
            yield _spread(pod, selector)


def _spread(pod: Pod, selector: LabelSelector | None) -> Look:
    """A spread means pods of its own namespace, as does a term without namespaces."""
    return pod.namespace, PodAffinityTerm("", selector)


def _meant(view: ClusterView, pods: Sequence[Pod], looks: Iterable[Look]) -> Mapping[int, Hashable]:
    read, compared = _compared(view, pods, looks)
    return read if compared is None else {each: compared[what] for each, what in read.items()}


def _compared(view: ClusterView, pods: Sequence[Pod], looks: Iterable[Look]) -> tuple[Mapping[int, Read], Mapping[Read, int] | None]:
    """What is read of each pod, by its id, and which looks mean that, a bit each; None if that would be too much to compare."""
    distinct = tuple(dict.fromkeys(looks))
    keys = frozenset(key for _, term in distinct for key in _keys(term.selector))

    def read(pod: Pod) -> Read:
        return pod.namespace, frozenset([entry for entry in pod.metadata.labels.items() if entry[0] in keys])

    by_pod = {id(pod): read(pod) for pod in pods} if distinct else dict.fromkeys(map(id, pods), ("", frozenset[tuple[str, str]]()))
    several = set(by_pod.values())
    if len(several) * len(distinct) > MOST_COMPARED:
        return by_pod, None
    selections = [Selection(view, term, namespace) for namespace, term in distinct]
    found: dict[Read, int] = {}
    for each in several:
        namespace, labels = each[0], dict(each[1])
        found[each] = sum(1 << number for number, one in enumerate(selections) if one.means(namespace, labels))
    return by_pod, found


def _keys(selector: LabelSelector | None) -> Iterable[str]:
    return () if selector is None else (*selector.match_labels, *(entry.key for entry in selector.expressions))
