"""Which nodes a slice or device that isn't bound to one node can be used from.

Selectors are answered through an index of labels, because a cluster may have a selector per slice and thousands of nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from k8s_topo_mcp.objects.node import Node
from k8s_topo_mcp.objects.node_selector import NodeSelector, NodeSelectorTerm
from k8s_topo_mcp.objects.resource_slice import NodeSelection


class Reach:
    """Answers selections over a fixed list of nodes."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._labels: dict[str, Mapping[str, str]] = {node.name: node.metadata.labels for node in nodes}
        self._by_label: dict[tuple[str, str], list[str]] = {}
        self._answers: dict[NodeSelector, tuple[str, ...]] = {}

    def of(self, selection: NodeSelection) -> tuple[str, ...]:
        """Names of the nodes, in the order of the list; a node that a selection names needn't exist."""
        if selection.node_name:
            return (selection.node_name,)
        if selection.all_nodes:
            return tuple(self._labels)
        if selection.selector is None:
            return ()
        found = self._answers.get(selection.selector)
        if found is None:
            names = {name for term in selection.selector.terms for name in self._matching(term)}
            found = tuple(name for name in self._labels if name in names) if len(names) > 1 else tuple(names)
            self._answers[selection.selector] = found
        return found

    def _matching(self, term: NodeSelectorTerm) -> Iterable[str]:
        return (name for name in self._candidates(term) if name in self._labels and term.matches(name, self._labels[name]))

    def _candidates(self, term: NodeSelectorTerm) -> Iterable[str]:
        for entry in term.fields:
            if entry.operator == "In":
                return entry.values
        for entry in term.expressions:
            if entry.operator == "In":
                return [name for value in entry.values for name in self._index().get((entry.key, value), ())]
        return self._labels

    def _index(self) -> Mapping[tuple[str, str], list[str]]:
        if not self._by_label:
            for name, labels in self._labels.items():
                for pair in labels.items():
                    self._by_label.setdefault(pair, []).append(name)
        return self._by_label
