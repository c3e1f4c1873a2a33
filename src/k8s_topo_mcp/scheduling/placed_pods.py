"""Pods on nodes by namespace and labels, which is all that rules between pods read. Replicas share both, so a selector is tried once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from ..objects import Pod
from ..view import ClusterView
from ..view.kinds import Changes, Kind

Labels = Mapping[str, str]

Group = tuple[str, frozenset[tuple[str, str]]]
"""namespace, labels"""


def _group(pod: Pod) -> Iterable[Group]:
    return ((pod.namespace, frozenset(pod.metadata.labels.items())),) if pod.node_name and not pod.is_terminal else ()


def placed_pods(view: ClusterView) -> Mapping[Group, tuple[Pod, ...]]:
    """Pods that are bound and haven't ended."""
    return view.index(Pod, _group)


def placed_priorities(view: ClusterView) -> Counter[int]:
    """How many bound pods that haven't ended there are of each priority."""
    return view.shared(Pod, _priorities, _revised)


def _priorities(pods: Iterable[Pod]) -> Counter[int]:
    return Counter(pod.priority for pod in pods if pod.node_name and not pod.is_terminal)


def _revised(before: Counter[int], _: Kind, changes: Changes) -> Counter[int]:
    gone = _priorities(old for old, _ in changes.values() if isinstance(old, Pod))
    come = _priorities(new for _, new in changes.values() if isinstance(new, Pod))
    return before if gone == come else before - gone + come
