"""metav1.LabelSelector: which objects a spread constraint, an affinity term, an owner or a budget means.

Rule (k8s.io/apimachinery pkg/apis/meta/v1 LabelSelectorAsSelector): an absent selector matches nothing, an empty one everything, and
all of its requirements hold together. `NotIn` also holds where the key is absent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import lru_cache

from .decoding import Json, each, string_map
from .node_selector import Requirement, decode_requirement
from .record import value_record

OPERATORS = frozenset({"In", "NotIn", "Exists", "DoesNotExist"})


@value_record()
class LabelSelector:
    """Labels and requirements that all hold."""

    match_labels: Mapping[str, str] = field(default_factory=dict[str, str])
    expressions: tuple[Requirement, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether it selects everything."""
        return not self.match_labels and not self.expressions

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether an object with `labels` is selected."""
        for key, value in self.match_labels.items():
            if labels.get(key) != value:
                return False
        return all(entry.holds(labels) for entry in self.expressions)

    @property
    def unknown_operator(self) -> str | None:
        """An operator that this model doesn't know (a newer API); then a match can't be decided."""
        return next((entry.operator for entry in self.expressions if entry.operator not in OPERATORS), None)

    def __str__(self) -> str:
        return ", ".join([*(f"{key}={value}" for key, value in self.match_labels.items()), *map(str, self.expressions)])

    def __hash__(self) -> int:
        return hash((frozenset(self.match_labels.items()), self.expressions))


@lru_cache(maxsize=4096)
def _plain(labels: tuple[tuple[str, str], ...]) -> LabelSelector:
    return LabelSelector(dict(labels))


def decode_label_selector(source: Json) -> LabelSelector:
    """A LabelSelector out of its JSON."""
    labels = string_map(source, "matchLabels")
    if not source.get("matchExpressions"):
        return _plain(tuple(labels.items()))
    return LabelSelector(labels, each(source, "matchExpressions", decode_requirement))
