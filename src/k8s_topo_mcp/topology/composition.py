"""Portions put together, and put together again when a few of them are others, from what was there before.

To fill the tables of a large graph takes several times as long as to copy them and to change what a few portions say.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from k8s_topo_mcp.objects.record import record

from .portions import Edges, Facts, Portion

FEW = 4
"""Tables are filled anew when more than one portion in so many is another."""

NO_EDGES: dict[str, Facts] = {}
"""Stands at every vertex without edges, to save tens of thousands of empty dicts; never filled."""


@record()
class Tables:
    """All vertices, and the edges that start at them, as networkx keeps them."""

    vertices: dict[str, Facts]
    out: Edges


class Composition:
    """The portions and tables of the last graph, to make the next one from."""

    def __init__(self) -> None:
        self._last: tuple[dict[Portion, None], Tables, bool] | None = None

    def of(self, portions: Iterable[Portion]) -> Tables:
        """The tables of all portions; one that is given twice counts once."""
        now = dict.fromkeys(portions)
        tables, sound = self._revised(now), True
        if tables is None:
            tables, sound = _filled(now)
            if not sound:
                tables, _ = _filled([_all_shared(portion) for portion in now])
        self._last = (now, tables, sound)
        return tables

    def _revised(self, now: dict[Portion, None]) -> Tables | None:
        """The tables made from those before; None where they have to be filled anew."""
        if self._last is None:
            return None
        known, tables, sound = self._last
        come = [portion for portion in now if portion not in known]
        gone = [portion for portion in known if portion not in now]
        if not come and not gone:
            return tables
        if not sound or (len(come) + len(gone)) * FEW > len(now):
            return None
        return _patched(tables, gone, come, now)


def filled(portions: Iterable[Portion]) -> Tables:
    """Tables made from nothing."""
    return Composition().of(portions)


def _filled(portions: Collection[Portion]) -> tuple[Tables, bool]:
    """Tables made from nothing, and whether they are sound: no vertex that should be one portion's own is in another, too."""
    vertices: dict[str, Facts] = {}
    shared: dict[str, Facts] = {}
    count = 0
    for portion in portions:
        vertices.update(portion.own)
        shared.update(portion.shared)
        count += len(portion.own)
    vertices.update(shared)
    out: Edges = dict.fromkeys(vertices, NO_EDGES)
    made: set[int] = set()
    for portion in portions:
        out.update(portion.out)
        _merge(out, portion.shared_out, made)
    return Tables(vertices, out), len(vertices) == count + len(shared)


def _all_shared(portion: Portion) -> Portion:
    """A portion with nothing of its own: what is a device's may be another node's, too (two nodes publish one pool)."""
    found = Portion()
    found.shared = {**portion.own, **portion.shared}
    found.shared_out = {**portion.out, **portion.shared_out}
    return found


def _patched(tables: Tables, gone: Sequence[Portion], come: Sequence[Portion], now: Iterable[Portion]) -> Tables | None:
    """The tables without some portions and with others; None where they wouldn't be sound."""
    own_before = {vertex for portion in gone for vertex in portion.own}
    own_after = {vertex for portion in come for vertex in portion.own}
    shared_before = {vertex for portion in gone for vertex in portion.shared}
    shared_after = {vertex for portion in come for vertex in portion.shared}
    touched = shared_before | shared_after
    sharers: dict[str, list[Portion]] = {vertex: [] for vertex in sorted(touched)}
    for portion in now:
        if not touched.isdisjoint(portion.shared):
            for vertex in touched.intersection(portion.shared):
                sharers[vertex].append(portion)
    new = set(come)
    taken = any(
        vertex in tables.vertices and vertex not in own_before and vertex not in shared_before and new.issuperset(sharers.get(vertex, ()))
        for vertex in own_after | shared_after
    )
    if taken or sum(len(portion.own) for portion in come) != len(own_after) or any(sharers.get(vertex) for vertex in own_after):
        return None
    vertices, out = tables.vertices.copy(), tables.out.copy()
    for vertex in (own_before | touched) - own_after:
        if not sharers.get(vertex):
            del vertices[vertex], out[vertex]
    for portion in come:
        vertices.update(portion.own)
        out.update(dict.fromkeys(portion.own, NO_EDGES))
        out.update(portion.out)
    for vertex, having in sharers.items():
        if having:
            vertices[vertex] = having[-1].shared[vertex]
            out[vertex] = _merged([portion.shared_out.get(vertex, NO_EDGES) for portion in having])
    return Tables(vertices, out)


def _merged(edges: Sequence[dict[str, Facts]]) -> dict[str, Facts]:
    some = [entry for entry in edges if entry]
    if not some:
        return NO_EDGES
    return some[0] if len(some) == 1 else {other: facts for entry in some for other, facts in entry.items()}


def _merge(table: Edges, more: Edges, made: set[int]) -> None:
    """Put the edges at shared vertices in. A portion's own dict goes in as it is; where two meet, a new one is `made`."""
    for vertex, edges in more.items():
        there = table[vertex]
        if not there:
            table[vertex] = edges
        elif id(there) in made:
            there.update(edges)
        else:
            table[vertex] = both = {**there, **edges}
            made.add(id(both))
