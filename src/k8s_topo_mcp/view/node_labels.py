"""Which values the labels of nodes have: kept over views, and counted anew only for nodes that are others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from ..objects import ApiObject, Node
from . import ClusterView
from .kinds import Changes, Kind

Values: TypeAlias = Mapping[str, Mapping[str, int]]


def label_values(view: ClusterView, key: str) -> Iterable[str]:
    """The values that a label has on nodes, each once."""
    return view.shared(Node, _counted, _revised).get(key, {})


def _labels(node: ApiObject | None) -> Mapping[str, str]:
    return {} if node is None else node.metadata.labels


def _counted(nodes: tuple[Node, ...]) -> Values:
    """How many nodes have each value of each label."""
    found: dict[str, Counter[str]] = {}
    for node in nodes:
        for key, value in node.metadata.labels.items():
            found.setdefault(key, Counter())[value] += 1
    return found


def _revised(known: Values, _: Kind, changes: Changes) -> Values:
    different: Counter[tuple[str, str]] = Counter()
    for before, after in changes.values():
        gone, come = _labels(before), _labels(after)
        if gone != come:
            different.subtract(gone.items())
            different.update(come.items())
    touched = {key: dict(known.get(key, {})) for (key, _), more in different.items() if more}
    for (key, value), more in different.items():
        if more:
            left = touched[key].get(value, 0) + more
            if left:
                touched[key][value] = left
            else:
                del touched[key][value]
    return {key: own for key, own in {**known, **touched}.items() if own} if touched else known
