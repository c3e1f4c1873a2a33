"""A networkx graph over tables that are there already. This module alone imports networkx, on first use: that costs 0.4 s."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, cast

import networkx as nx

from .composition import Tables

if TYPE_CHECKING:
    Base: TypeAlias = nx.DiGraph[str]
else:
    Base = nx.DiGraph


class HardwareGraph(Base):
    """A DiGraph whose parts other graphs use, too: read it, and `copy()` it before you change anything."""


def graph_of(tables: Tables) -> HardwareGraph:
    """A graph over tables. networkx keeps a dict of vertices, and one of neighbours for each direction, which subclasses may set."""
    graph = HardwareGraph()
    inner = cast(Any, graph)
    inner._node, inner._adj, inner._pred = tables.vertices, tables.out, tables.into
    nx.freeze(graph)  # pyright: ignore[reportUnknownMemberType]
    return graph
