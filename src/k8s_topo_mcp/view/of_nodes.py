"""What follows from a node and its slices, by node: kept over views, and looked at anew where the node or its slices are others."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from ..objects import Node, ResourceSlice
from ..releases import Release
from . import ClusterView
from .indices import slices_by_node
from .lately import Mark, mark, others_since

V = TypeVar("V", bound=Hashable)
Make = Callable[[ClusterView, Node, tuple[ResourceSlice, ...]], V]

MANY = 4_096
"""After so many values those of nodes that are gone are forgotten."""
KEPT = 4
"""Views of which it is kept for later ones: what-if views branch off."""


_NO_SLICES = Mark()
"""Of all views without slices: a class without objects isn't followed."""


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """The values of a view's nodes, and as of when. `one`: each value by itself."""

    release: Release
    marks: tuple[Mark, Mark]
    of: Mapping[Node, Any]
    one: dict[Any, Any]


def of_nodes(view: ClusterView, make: Make[V]) -> Mapping[Node, V]:
    """What `make` gives for each node with the slices that name it, in the order of the cluster: equal values are one object.

    Give a function that lives as long as the program and reads nothing but these two and the view's release.
    """

    def look() -> Mapping[Node, V]:
        kept = view.carried(Node, _none_kept).setdefault(make, [])
        pairs = ((known, later) for known in tuple(kept) for later in _followed(view, make, known))
        before, found = next(pairs, None) or (None, _anew(view, make))
        # That which was followed stays near: what-ifs of one view come one after another, and don't follow each other.
        first = [found] if before is None or before is found else [found, before]
        kept[:] = [*first, *(known for known in kept if known is not found and known is not before)][:KEPT]
        return cast("Mapping[Node, V]", found.of)

    return view.memo(("of nodes", make), look)


def _other_slices(view: ClusterView, then: Mark) -> Iterable[ResourceSlice] | None:
    if then is _NO_SLICES:
        return None if view.count(ResourceSlice) else ()
    return others_since(view, ResourceSlice, then)


def _none_kept(_: tuple[Node, ...]) -> dict[Make[Any], list[_Known]]:
    return {}


def _marks(view: ClusterView) -> tuple[Mark, Mark]:
    return mark(view, Node), mark(view, ResourceSlice) if view.count(ResourceSlice) else _NO_SLICES


def _anew(view: ClusterView, make: Make[Any]) -> _Known:
    by_node, one = slices_by_node(view), dict[Any, Any]()
    values = ((node, make(view, node, by_node.get(node.name, ()))) for node in view.all(Node))
    return _Known(view.release, _marks(view), {node: one.setdefault(value, value) for node, value in values}, one)


def _followed(view: ClusterView, make: Make[Any], known: _Known) -> Iterator[_Known]:
    """The values by those of an earlier view, if it is known what changed since."""
    nodes, slices = others_since(view, Node, known.marks[0]), _other_slices(view, known.marks[1])
    if nodes is None or slices is None or known.release is not view.release or len(known.one) > MANY:
        return
    changed = {node.name for node in nodes} | {entry.node_selection.node_name or "" for entry in slices}
    if not changed:
        yield known
        return
    by_node, now = slices_by_node(view), view.all(Node)
    of = dict(zip(now, map(known.of.get, now), strict=True))
    for name in changed:
        node = view.get(Node, name)
        if node is not None:
            value = make(view, node, by_node.get(name, ()))
            of[node] = known.one.setdefault(value, value)
    yield _Known(known.release, _marks(view), of, known.one)
