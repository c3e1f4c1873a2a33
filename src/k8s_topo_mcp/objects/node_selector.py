"""v1.NodeSelector: which nodes a slice, a device, an allocation, a volume or a pod's affinity means.

Rule: terms are alternatives, the requirements of a term all hold, a term without requirements selects nothing
(k8s.io/component-helpers scheduling/corev1/nodeaffinity).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from .decoding import Json, each, string, strings
from .record import value_record

OPERATORS = frozenset({"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"})


@value_record()
class Requirement:
    """One label (or field) requirement: key, operator as in the API, values."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.operator in ("Exists", "DoesNotExist"):
            return f"{self.key} {self.operator}"
        return f"{self.key} {self.operator} {', '.join(self.values)}"

    def holds(self, labels: Mapping[str, str]) -> bool:
        """Whether `labels` meet it. NotIn and DoesNotExist hold for an absent key; Gt and Lt compare integers."""
        present = self.key in labels
        match self.operator:
            case "In":
                return present and labels[self.key] in self.values
            case "NotIn":
                return not present or labels[self.key] not in self.values
            case "Exists":
                return present
            case "DoesNotExist":
                return not present
            case "Gt" | "Lt":
                if not present or len(self.values) != 1:
                    return False
                own, bound = _int64(labels[self.key]), _int64(self.values[0])
                if own is None or bound is None:
                    return False
                return own > bound if self.operator == "Gt" else own < bound
            case _:
                return False


def _int64(text: str) -> int | None:
    """As strconv.ParseInt(text, 10, 64) reads it."""
    if not re.fullmatch(r"[+-]?[0-9]+", text, re.ASCII):
        return None
    value = int(text) if len(text) <= 64 else 2**63
    return value if -(2**63) <= value < 2**63 else None


@value_record()
class NodeSelectorTerm:
    """Label requirements (`expressions`) and field requirements (`fields`, only metadata.name exists) that hold together."""

    expressions: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        """Whether a node with this name and these labels is selected."""
        if not self.expressions and not self.fields:
            return False
        return all(entry.holds(labels) for entry in self.expressions) and all(entry.holds({"metadata.name": name}) for entry in self.fields)


@value_record()
class NodeSelector:
    """Alternatives; a node is selected when one term matches."""

    terms: tuple[NodeSelectorTerm, ...] = ()

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        """Whether a node with this name and these labels is selected."""
        return any(term.matches(name, labels) for term in self.terms)

    @property
    def unknown_operator(self) -> str | None:
        """An operator that this model doesn't know (a newer API); then a match can't be decided."""
        for term in self.terms:
            for entry in (*term.expressions, *term.fields):
                if entry.operator not in OPERATORS:
                    return entry.operator
        return None


def decode_requirement(source: Json) -> Requirement:
    """A Requirement out of its JSON."""
    return Requirement(string(source, "key"), string(source, "operator"), strings(source, "values"))


def decode_term(source: Json) -> NodeSelectorTerm:
    """A NodeSelectorTerm out of its JSON."""
    return NodeSelectorTerm(each(source, "matchExpressions", decode_requirement), each(source, "matchFields", decode_requirement))


def decode_node_selector(source: Json) -> NodeSelector:
    """A NodeSelector out of its JSON."""
    return NodeSelector(each(source, "nodeSelectorTerms", decode_term))
