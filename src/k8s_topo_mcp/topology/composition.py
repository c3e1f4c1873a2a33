"""Portions put together, and put together again when a few of them are others: by the chunk, and from what was there before.

A graph of 100,000 vertices takes a tenth of a second to fill even when all of its parts are at hand; to copy its tables and change one
chunk takes a tenth of that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from .portions import NO_EDGES, Edges, Facts, Portion

CHUNK = 64
"""How many nodes are joined at a time."""
FEW = 4
"""Tables are filled anew when more than one chunk in so many is another."""


def join(portions: Iterable[Portion], whole: Portion) -> Portion:
    """
    Put several portions into one.

    Notes
    -----
    What a vertex of its own has goes in as it is; only where several portions have edges at one shared vertex a dict is made anew.
    """
    made: set[int] = set()
    for portion in portions:
        if portion.own:
            whole.own.update(portion.own)
            whole.out.update(portion.out)
            whole.into.update(portion.into)
        whole.shared.update(portion.shared)
        for table, more in ((whole.shared_out, portion.shared_out), (whole.shared_into, portion.shared_into)):
            both = table.keys() & more.keys()
            before = {vertex: table[vertex] for vertex in both}
            table.update(more)
            for vertex, there in before.items():
                edges = more[vertex]
                if not edges:
                    table[vertex] = there
                elif there:
                    if id(there) not in made:
                        there = dict(there)
                        made.add(id(there))
                    there.update(edges)
                    table[vertex] = there
    return whole


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """All vertices, and their edges out and in, as networkx keeps them."""

    vertices: dict[str, Facts]
    out: Edges
    into: Edges


@dataclass(frozen=True, slots=True, eq=False)
class _Chunk:
    members: tuple[Portion, ...]
    whole: Portion


class Composition:
    """The chunks and tables of the last graph, to make the next one from. Made for one series of portions in a steady order."""

    def __init__(self) -> None:
        self._last: tuple[list[_Chunk], Tables] | None = None

    def of(self, portions: Sequence[Sequence[Portion]], apart: Iterable[Portion]) -> Tables:
        """The tables of all portions; `portions` that are given together stay together, those `apart` make a chunk of their own."""
        members = [tuple(chain.from_iterable(portions[start : start + CHUNK])) for start in range(0, len(portions), CHUNK)]
        members.append(tuple(apart))
        known, tables = self._last if self._last is not None else ([], None)
        same = len(known) == len(members)
        chunks = [
            known[number] if number < len(known) and known[number].members == own else _Chunk(own, join(own, Portion()))
            for number, own in enumerate(members)
        ]
        changed = [number for number, chunk in enumerate(chunks) if not same or chunk is not known[number]]
        if tables is None or len(changed) * FEW > len(chunks):
            tables = filled(chunk.whole for chunk in chunks)
        elif changed:
            tables = _revised(tables, [known[number].whole for number in changed], [chunks[number].whole for number in changed], chunks)
        self._last = (chunks, tables)
        return tables


def filled(portions: Iterable[Portion]) -> Tables:
    """Tables made from nothing."""
    tables = Tables({}, {}, {})
    # In the tables vertices of either sort stand together.
    join(portions, Portion(tables.vertices, tables.out, tables.into, tables.vertices, tables.out, tables.into))
    return tables


def _revised(tables: Tables, before: Sequence[Portion], after: Sequence[Portion], chunks: Sequence[_Chunk]) -> Tables:
    """The tables with some chunks gone and others in their place."""
    vertices, out, into = dict(tables.vertices), dict(tables.out), dict(tables.into)
    touched: dict[str, None] = {}
    for old, new in zip(before, after, strict=True):
        vertices.update(new.own)
        out.update(new.out)
        into.update(new.into)
        for vertex in old.own.keys() - new.own.keys():
            # Unless another chunk has taken it over.
            if vertices[vertex] is old.own[vertex]:
                del vertices[vertex], out[vertex], into[vertex]
        touched |= dict.fromkeys(old.shared) | dict.fromkeys(new.shared)
    for vertex in touched:
        having = [chunk.whole for chunk in chunks if vertex in chunk.whole.shared]
        if having:
            vertices[vertex] = having[-1].shared[vertex]
            out[vertex] = _merged([portion.shared_out[vertex] for portion in having])
            into[vertex] = _merged([portion.shared_into[vertex] for portion in having])
        elif not any(vertex in portion.own for portion in after):
            del vertices[vertex], out[vertex], into[vertex]
    return Tables(vertices, out, into)


def _merged(edges: Sequence[dict[str, Facts]]) -> dict[str, Facts]:
    some = [entry for entry in edges if entry]
    if not some:
        return NO_EDGES
    return some[0] if len(some) == 1 else {other: facts for entry in some for other, facts in entry.items()}
