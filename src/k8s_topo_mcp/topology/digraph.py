"""A networkx graph over tables that are there already. This module alone imports networkx, on first use: that costs 0.4 s."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, cast

import networkx as nx

from .composition import NO_EDGES, Tables
from .portions import Edges, Facts

if TYPE_CHECKING:
    Base: TypeAlias = nx.DiGraph[str]
else:
    Base = nx.DiGraph


class HardwareGraph(Base):
    """A DiGraph whose parts other graphs use, too: read it, and `copy()` it before you change anything.

    networkx keeps edges in both directions. Here those that lead into a vertex are worked out when somebody first asks for them: to draw,
    list or export a graph takes none of them.
    """

    _into: Edges | None = None

    @property
    def _pred(self) -> Edges:
        if self._into is None:
            self._into = _mirrored(cast(Any, self)._adj)
        return self._into

    @_pred.setter
    def _pred(self, value: Edges | None) -> None:
        self._into = value


def _mirrored(out: Edges) -> Edges:
    """The edges by where they lead."""
    into: Edges = dict.fromkeys(out, NO_EDGES)
    for one, edges in out.items():
        for other, facts in edges.items():
            there: dict[str, Facts] = into[other]
            if there:
                there[one] = facts
            else:
                into[other] = {one: facts}
    return into


def graph_of(tables: Tables) -> HardwareGraph:
    """A graph over tables. networkx keeps a dict of vertices and one of neighbours, which subclasses may set."""
    graph = HardwareGraph()
    inner = cast(Any, graph)
    inner._node, inner._adj, inner._pred = tables.vertices, tables.out, None
    nx.freeze(graph)  # pyright: ignore[reportUnknownMemberType]
    return graph
