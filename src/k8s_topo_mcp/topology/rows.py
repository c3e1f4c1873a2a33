"""A picture as a tree of rows: what every view (text, Mermaid, node-link JSON) is drawn from. Rows hold raw text of the cluster; whoever
draws them cleans it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import TypeAlias

from .hardware import State

Children: TypeAlias = "tuple[Row, ...] | Callable[[], Iterable[Row]]"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a picture.

    Attributes
    ----------
    type : str
        What it stands for: place, shape, nodes, node, numa, root, device, claim, pod, pool, resource, fact.
    text : str
        What is to say about it, names left out.
    names : tuple of str
        The things that it stands for; several when equal ones are folded. Empty when the text says it all.
    count : int
        How many things it stands for.
    path : str
        The scope that opens it; "" when nothing more is to be seen.
    state : str
        For colouring; "" when it is mixed or has none.
    children : tuple of Row, or a function that makes them
        What stands below it.
    """

    type: str
    text: str
    names: tuple[str, ...] = ()
    count: int = 1
    path: str = ""
    state: State | str = ""
    children: Children = ()

    @property
    def title(self) -> str:
        """The name of a single thing; else the count."""
        if self.count == 1 and self.names:
            return self.names[0]
        return f"{self.count:,} ×" if self.count > 1 or self.type in ("shape", "nodes") else ""


@dataclass(frozen=True, slots=True)
class Line:
    """A row on its way into a text: its number, how deep it stands, and the number of the line that it stands under (-1 at the top)."""

    row: Row
    number: int
    depth: int
    parent: int


def lines(rows: Iterable[Row]) -> Iterator[Line]:
    """All rows in reading order, made one by one."""
    return _lines(rows, 0, -1, count())


def _lines(rows: Iterable[Row], depth: int, parent: int, numbers: Iterator[int]) -> Iterator[Line]:
    for row in rows:
        number = next(numbers)
        yield Line(row, number, depth, parent)
        below = row.children() if callable(row.children) else row.children
        yield from _lines(below, depth + 1, number, numbers)


def fold(rows: Iterable[tuple[Hashable, Row]]) -> tuple[Row, ...]:
    """Rows with an equal key become one that stands for all of them, where the first one stood."""
    groups: dict[Hashable, list[Row]] = {}
    for key, row in rows:
        groups.setdefault(key, []).append(row)
    folded: list[Row] = []
    for members in groups.values():
        first = members[0]
        if len(members) > 1:
            names = tuple(name for row in members for name in row.names)
            first = replace(first, names=names, count=sum(row.count for row in members), path="")
        folded.append(first)
    return tuple(folded)
