"""A view with new nodes in it, and which of them are of which template."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..objects import Node
from ..view import Add, ClusterView
from .template import NodeTemplate, added

_NOT_IN_NAMES = re.compile(r"[^a-z0-9.-]+")


@dataclass(frozen=True, slots=True, eq=False)
class NewNodes:
    """`origins`: the place of its template, by name of a new node, in the order in which they were added."""

    view: ClusterView
    templates: tuple[NodeTemplate, ...]
    origins: Mapping[str, int]

    def of(self, template: int) -> tuple[Node, ...]:
        """The new nodes of one template."""
        found = (self.view.get(Node, name) for name, origin in self.origins.items() if origin == template)
        return tuple(node for node in found if node is not None)


def with_nodes(view: ClusterView, additions: Sequence[tuple[NodeTemplate, int]]) -> NewNodes:
    """So many new nodes of each template, under names that nothing in the view has."""
    edits: list[Add] = []
    origins: dict[str, int] = {}
    for number, (template, count) in enumerate(additions):
        names = _names(view, template, count, origins)
        origins |= dict.fromkeys(names, number)
        edits += added(template, names)
    return NewNodes(view.with_edits(*edits) if edits else view, tuple(template for template, _ in additions), origins)


def _names(view: ClusterView, template: NodeTemplate, count: int, taken: Mapping[str, int]) -> list[str]:
    start = _NOT_IN_NAMES.sub("-", template.name.lower())[:40].strip(".-") or "node"
    found: list[str] = []
    number = 0
    while len(found) < count:
        number += 1
        name = f"new-{start}-{number:04}"
        if name not in taken and view.get(Node, name) is None:
            found.append(name)
    return found
