"""Required anti-affinity among pods that wait: which of them can't share a value of a label, whoever comes first.

Source: k8s.io/kubernetes pkg/scheduler/framework/plugins/interpodaffinity/filtering.go, which asks the terms of both, so that the order
doesn't matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..objects import Node, Pod
from ..scheduling.inter_pod_affinity import Selection, merged
from ..view import ClusterView


@dataclass(frozen=True, slots=True, eq=False)
class Conflicts:
    """`keys`: by the numbers of two kinds of pods, the labels of which they can't share a value."""

    view: ClusterView
    keys: Mapping[tuple[int, int], frozenset[str]]

    @classmethod
    def of(cls, view: ClusterView, kinds: Sequence[Pod]) -> Conflicts:
        """`kinds`: one pod of each."""
        found: dict[tuple[int, int], set[str]] = {}
        for number, pod in enumerate(kinds):
            for term in pod.affinity.anti.required:
                selection = Selection(view, merged(term, pod), pod.namespace)
                for other, there in enumerate(kinds):
                    if selection.means(there.namespace, there.metadata.labels):
                        for pair in ((number, other), (other, number)):
                            found.setdefault(pair, set()).add(term.topology_key)
        return cls(view, {pair: frozenset(keys) for pair, keys in found.items()})

    def between(self, number: int, name: str, held: Mapping[str, Counter[int]]) -> bool:
        """Whether a pod of this kind on the node would be where one of those `held` may not be with it."""
        if not self.keys:
            return False
        labels = self._labels(name)
        for node, kinds in held.items():
            for other in kinds:
                for key in self.keys.get((number, other), ()):
                    if key in labels and self._labels(node).get(key) == labels[key]:
                        return True
        return False

    def _labels(self, name: str) -> Mapping[str, str]:
        node = self.view.get(Node, name)
        return node.metadata.labels if node is not None else {}
