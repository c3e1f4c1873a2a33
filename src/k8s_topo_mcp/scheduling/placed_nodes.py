"""The nodes of a placement, together where they have something in common: whatever concerns all of them is worked out once for each kind.

Where most nodes are placed as in an earlier view, the kinds are those of then, with the nodes that aren't put where they belong now.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any, TypeAlias, TypeVar, cast

from ..objects import Node
from .node_placement import NodePlacement

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

Entries: TypeAlias = tuple[NodePlacement, ...]
Changes: TypeAlias = Mapping[str, tuple[NodePlacement | None, NodePlacement | None]]
"""name -> how the node was placed, and is; None where there is none."""


class PlacedNodes:
    """Nodes by name, in the order of the cluster. Never changes; `followed` makes the next one, which knows what this one knows."""

    __slots__ = ("_each", "_grouped", "by_name")

    def __init__(self, by_name: Mapping[str, NodePlacement]) -> None:
        self.by_name = by_name
        self._grouped: dict[Callable[[NodePlacement], Any], Mapping[Any, Entries]] = {}
        self._each: dict[Callable[[NodePlacement], Any], Mapping[str, Any]] = {}

    def grouped(self, key: Callable[[NodePlacement], K]) -> Mapping[K, Entries]:
        """The nodes by what `key` gives for each: in their order, and so are the groups, by the first of each.

        Give a function that lives as long as the program and reads nothing but the entry.
        """
        found = self._grouped.get(key)
        if found is None:
            groups: dict[Any, list[NodePlacement]] = {}
            for entry in self.by_name.values():
                groups.setdefault(key(entry), []).append(entry)
            found = self._grouped[key] = {value: tuple(members) for value, members in groups.items()}
        return cast("Mapping[K, Entries]", found)

    def each(self, make: Callable[[NodePlacement], V]) -> Mapping[str, V]:
        """What `make` gives for each node, by name. Give such a function as for `grouped`."""
        found = self._each.get(make)
        if found is None:
            found = self._each[make] = dict(zip(self.by_name, map(make, self.by_name.values()), strict=True))
        return cast("Mapping[str, V]", found)

    def merged(self, groups: Sequence[Entries]) -> Entries:
        """The nodes of several groups in their order; the group itself where there is one."""
        if len(groups) < 2:
            return groups[0] if groups else ()
        if sum(map(len, groups)) == len(self.by_name):
            return tuple(self.by_name.values())
        return tuple(filter(set(chain.from_iterable(groups)).__contains__, self.by_name.values()))

    def followed(self, by_name: Mapping[str, NodePlacement], changes: Changes) -> PlacedNodes:
        """The nodes with `changes` made, of which `by_name` is the outcome; nodes are ordered by name there and here."""
        later = PlacedNodes(by_name)
        for key, groups in tuple(self._grouped.items()):
            later._grouped[key] = _regrouped(groups, key, changes)
        for make, known in tuple(self._each.items()):
            values = dict(known)
            for name, (_, now) in changes.items():
                if now is None:
                    values.pop(name, None)
                else:
                    values[name] = make(now)
            later._each[make] = values
        return later


_name, _node = attrgetter("target.name"), attrgetter("node")


def _regrouped(groups: Mapping[Any, Entries], key: Callable[[NodePlacement], Any], changes: Changes) -> Mapping[Any, Entries]:
    """The groups with the changes made: those that none of them touches stay the same objects."""
    touched: dict[Any, list[NodePlacement]] = {}

    def members(value: Any) -> list[NodePlacement]:
        found = touched.get(value)
        if found is None:
            found = touched[value] = list(groups.get(value, ()))
        return found

    for name, (then, now) in changes.items():
        before = key(then) if then is not None else None
        after = key(now) if now is not None else None
        if then is not None:
            own = members(before)
            at = bisect_left(own, name, key=_name)
            if now is not None and before == after:
                own[at] = now
                continue
            del own[at]
        if now is not None:
            own = members(after)
            own.insert(bisect_left(own, name, key=_name), now)
    if not touched:
        return groups
    found = {**groups, **{value: tuple(own) for value, own in touched.items()}}
    return dict(sorted(((value, own) for value, own in found.items() if own), key=_first))


def _first(group: tuple[Any, Entries]) -> str:
    return group[1][0].target.name


def names_of(entries: Iterable[NodePlacement]) -> Iterator[str]:
    """The names of nodes."""
    return map(_name, entries)


def nodes_of(entries: Iterable[NodePlacement]) -> tuple[Node, ...]:
    """The nodes as the cluster has them."""
    return tuple(map(_node, entries))
