"""The slices of a cluster, arranged as the allocator looks at them, with what is derived from them alone.

The inventory of a later moment is made from the one before: what was derived of slices that are the same objects is passed on. How long
what is kept there holds, and how much of it, is decided here; who derives it says what it depends on.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress, count
from operator import not_
from typing import Any, TypeVar

from ..objects import ResourceSlice
from ..view.keeping import make_room
from ..view.trail import Mark, Trail

V = TypeVar("V")

PoolKey = tuple[str, str]
"""(driver, pool name)."""

FEW_CHANGES = 16
"""An inventory is made from the one before if at most one in so many slices is another."""

KEPT_QUESTIONS = 24
"""Of each kind of fact so many questions (selectors, attributes read …) are kept, those that were asked last."""

OUTDATED = 3
"""Facts are passed on up to so many times what the slices there are can have, asked in two ways."""


@dataclass(frozen=True, slots=True, eq=False)
class Touched:
    """The nodes that may see other slices than before. `everywhere`: all may, where slices with counter sets that name a node say
    something to others too."""

    nodes: frozenset[str] = frozenset()
    everywhere: bool = False

    def __len__(self) -> int:
        return len(self.nodes)


@dataclass(frozen=True, slots=True, eq=False)
class Inventory:
    """All slices of the cluster, arranged as the allocator looks at them. Order within each list is the order given.

    `places` is the position of a slice by its id(); `named_counters` are slices with counter sets that name a node.

    Others keep here what they derive from these slices alone. `kept`: facts of all slices together, for as long as those are the same.
    `kept_by_node`: by question and node, what the slices say to that node; passed on to a later inventory if they say the same there.
    `kept_by_own_node`: likewise, where slices with counter sets that name a node say nothing to others.
    `passed_on`: facts that whoever reads them checks against the objects that they were made of; always passed on.
    `trail`: what was touched to make the last inventories from one another.
    """

    slices: tuple[ResourceSlice, ...]
    by_node: Mapping[str, tuple[ResourceSlice, ...]]
    shared: tuple[ResourceSlice, ...]
    by_pool: Mapping[PoolKey, tuple[ResourceSlice, ...]]
    places: Mapping[int, int]
    named_counters: Mapping[PoolKey, tuple[ResourceSlice, ...]]
    kept: dict[Hashable, dict[Any, Any]] = field(default_factory=dict[Hashable, dict[Any, Any]])
    kept_by_node: dict[Hashable, dict[str, Any]] = field(default_factory=dict[Hashable, dict[str, Any]])
    kept_by_own_node: dict[Hashable, dict[str, Any]] = field(default_factory=dict[Hashable, dict[str, Any]])
    passed_on: dict[Hashable, dict[Any, Any]] = field(default_factory=dict[Hashable, dict[Any, Any]])
    trail: Trail[Touched] = field(default_factory=lambda: Trail[Touched].begun(Touched))

    @classmethod
    def of(cls, slices: Iterable[ResourceSlice]) -> Inventory:
        everything = tuple(slices)
        by_node: dict[str, list[ResourceSlice]] = {}
        shared: list[ResourceSlice] = []
        by_pool: dict[PoolKey, list[ResourceSlice]] = {}
        for entry in everything:
            node = entry.node_selection.node_name
            if node:
                by_node.setdefault(node, []).append(entry)
            else:
                shared.append(entry)
            by_pool.setdefault(_pool_of(entry), []).append(entry)
        return cls(
            everything,
            {node: tuple(found) for node, found in by_node.items()},
            tuple(shared),
            {pool: tuple(found) for pool, found in by_pool.items()},
            {id(entry): place for place, entry in enumerate(everything)},
            {pool: counters for pool, found in by_pool.items() if (counters := _named_counters(found))},
        )

    def followed(self, slices: Sequence[ResourceSlice]) -> Inventory:
        """The slices of a later moment, most of them the same objects: what is known of the nodes that see no other ones is kept."""
        everything = tuple(slices)
        places = dict(zip(map(id, everything), count()))
        come = list(compress(everything, map(not_, map(self.places.__contains__, places))))
        gone = list(compress(self.slices, map(not_, map(places.__contains__, self.places))))
        if (len(come) + len(gone)) * FEW_CHANGES > len(everything):
            return Inventory.of(everything)
        if not come and not gone:
            return self

        def patched(known: Mapping[Any, tuple[ResourceSlice, ...]], key: Callable[[ResourceSlice], Any]) -> dict[Any, Any]:
            found = dict(known)
            for touched in {key(entry): None for entry in (*come, *gone)}:
                entries = [entry for entry in known.get(touched, ()) if id(entry) in places]
                entries += [entry for entry in come if key(entry) == touched]
                found[touched] = tuple(sorted(entries, key=lambda entry: places[id(entry)]))
                if not entries:
                    del found[touched]
            return found

        by_node = patched(self.by_node, lambda entry: entry.node_selection.node_name or "")
        by_node.pop("", None)
        by_pool = patched(self.by_pool, _pool_of)
        named = dict(self.named_counters)
        touched = {_pool_of(entry) for entry in (*come, *gone)}
        for pool in touched:
            named.pop(pool, None)
            if counters := _named_counters(by_pool.get(pool, ())):
                named[pool] = counters
        shared = self.shared
        if not all(entry.node_selection.node_name for entry in (*come, *gone)):
            shared = tuple([entry for entry in everything if not entry.node_selection.node_name])
        before, after = _named_by(self.by_pool, touched), _named_by(by_pool, touched)
        if before is None or after is None:
            return Inventory(everything, by_node, shared, by_pool, places, named, passed_on=self.passed_on)
        nodes = frozenset(before | after)
        everywhere = any(pool in self.named_counters or pool in named for pool in touched)
        return Inventory(
            everything,
            by_node,
            shared,
            by_pool,
            places,
            named,
            kept_by_node={} if everywhere else _without(self.kept_by_node, nodes),
            kept_by_own_node=_without(self.kept_by_own_node, nodes),
            passed_on=self.passed_on,
            trail=self.trail.after(Touched(nodes, everywhere)),
        )

    def touched_since(self, then: Mark, everywhere: bool) -> set[str] | None:
        """The nodes that may see other slices than at a mark of the trail; None where that may be all. `everywhere`: whether slices with
        counter sets that name a node say something to others too."""
        steps = self.trail.since(then)
        if steps is None or (everywhere and any(step.everywhere for step in steps)):
            return None
        return {node for step in steps for node in step.nodes}

    def outgrown_by(self, facts: int) -> bool:
        """Whether so many facts are passed on that most of them are of slices that are gone."""
        return facts > OUTDATED * (2 * len(self.slices) + 1_000)

    def near(self, node_name: str, as_listed: bool = False) -> tuple[ResourceSlice, ...]:
        """The slices to look at for one node: its own, then those without a node name; or both in the order in which they were given."""
        own = self.by_node.get(node_name, ())
        if not self.shared:
            return own
        if not as_listed:
            return own + self.shared
        return tuple(sorted(own + self.shared, key=lambda entry: self.places[id(entry)]))


def kept_for(questions: dict[Any, V], question: Hashable, make: Callable[[], V], most: int = KEPT_QUESTIONS) -> V:
    """What is kept for a question, which is now the one asked last; the one asked longest ago makes room."""
    found = questions.pop(question, None)
    if found is None:
        found = make()
    questions[question] = found
    make_room(questions, most)
    return found


def _without(kept: Mapping[Hashable, Mapping[str, Any]], nodes: Iterable[str]) -> dict[Hashable, dict[str, Any]]:
    """A copy without what is kept for these nodes."""
    found = {question: dict(known) for question, known in tuple(kept.items())}
    for known in found.values():
        for node in nodes:
            known.pop(node, None)
    return found


def _named_by(by_pool: Mapping[PoolKey, Iterable[ResourceSlice]], pools: Iterable[PoolKey]) -> set[str] | None:
    """The nodes that the slices of these pools name; None if some name none."""
    names = {entry.node_selection.node_name for pool in pools for entry in by_pool.get(pool, ())}
    return None if None in names or "" in names else {name for name in names if name}


def _pool_of(entry: ResourceSlice) -> PoolKey:
    return (entry.driver, entry.pool)


def _named_counters(slices: Iterable[ResourceSlice]) -> tuple[ResourceSlice, ...]:
    return tuple(entry for entry in slices if entry.shared_counters and entry.node_selection.node_name)
