"""Nodes divided into those that a problem can't tell apart, and how much of a division holds at the next moment.

The last divisions of a question are passed on with the slices. A node is looked at again where it is another object, where it sees other
pools, where other devices of its pools are held, and always if it sees pools that other nodes see too; groups that none of these nodes
leaves or joins are taken over as they are.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, filterfalse
from operator import is_not

from .inventory import PoolKey
from .node_classes import NodeClasses
from .prepared import Prepared, pools_of
from .problem import TargetNode
from .selectors import SelectorChain

Group = tuple[TargetNode, ...]

KEPT_DIVISIONS = 4
"""Divisions that are kept for a question: of all nodes, and of those that a pod leaves, as they are and with nothing in use."""


@dataclass(frozen=True, slots=True, eq=False)
class Division:
    """`nodes`, `names`, what each of them saw (`seen`: the entry in `Prepared.pools`) and `keys` have one place for each node. `places`
    and `groups`: by key, in the order of the nodes. `loose`: places of nodes that see pools that others see too. `held`: what was in use
    then, by pool."""

    nodes: Sequence[TargetNode]
    names: Sequence[str]
    seen: Sequence[object]
    keys: Sequence[Hashable]
    places: Mapping[Hashable, Sequence[int]]
    groups: Mapping[Hashable, Group]
    loose: frozenset[int]
    held: Mapping[PoolKey, frozenset[str]]

    @property
    def ordered(self) -> tuple[Group, ...]:
        """The groups, each where its first node stands."""
        return tuple([self.groups[key] for key in self._keys])

    @property
    def told(self) -> Iterator[tuple[Group, bool]]:
        """The same, each with whether its nodes see nothing but pools of their own: what is counted of one then holds for each."""
        for key in self._keys:
            yield self.groups[key], self.places[key][0] not in self.loose

    @property
    def _keys(self) -> list[Hashable]:
        return sorted(self.groups, key=lambda key: self.places[key][0])


_NOTHING = Division((), (), (), (), {}, {}, frozenset(), {})


def divided(prepared: Prepared, chains: Sequence[SelectorChain], nodes: Sequence[TargetNode]) -> Division:
    """The nodes by what the problem reads of them, with these selectors."""
    problem = prepared.problem
    classes = NodeClasses(problem, chains, prepared.environment)
    if problem.in_use.shared:
        return _follow(classes, prepared, nodes, [node.name for node in nodes], _NOTHING)
    kept: list[Division] = classes.divisions.setdefault(not problem.in_use.by_pool, [])
    known = tuple(kept)
    names = next((entry.names for entry in known if entry.nodes is nodes), None) or [node.name for node in nodes]
    before = next((entry for entry in known if entry.names == names), known[0] if known else _NOTHING)
    found = _follow(classes, prepared, nodes, names, before)
    kept[:] = [found, *(entry for entry in known if entry is not before or entry.names != names)][: KEPT_DIVISIONS // 2]
    return found


def _follow(classes: NodeClasses, prepared: Prepared, nodes: Sequence[TargetNode], names: Sequence[str], before: Division) -> Division:
    aligned = names == before.names
    then_nodes, then_seen, then_keys, loose = _aligned(before, names)
    in_use = prepared.problem.in_use
    seen: list[object] = list(map(prepared.pools.get, names))
    again = set(_of_pools(prepared, _differing(before.held, in_use.by_pool)))
    places = range(len(names))
    others = sorted(
        {
            *compress(places, map(is_not, nodes, then_nodes)),
            *compress(places, map(is_not, seen, then_seen)),
            *(compress(places, map(again.__contains__, names)) if again else ()),
            *loose,
        }
    )
    keys = list(then_keys)
    operations = "OptionalNodeOperations" in prepared.problem.features  # then what the node declares decides too
    for place in others:
        node = nodes[place]
        key, local = classes.class_of(pools_of(prepared, node), node)
        seen[place] = prepared.pools.get(node.name)
        keys[place] = (key, node.declared_features) if operations else key
        (loose.discard if local else loose.add)(place)
    if not aligned:
        by_key: Mapping[Hashable, Sequence[int]] = _gathered(keys, places)
        groups: Mapping[Hashable, Group] = {key: tuple([nodes[place] for place in own]) for key, own in by_key.items()}
    else:
        by_key, groups = _patched(before, nodes, keys, others)
    return Division(nodes, names, seen, keys, by_key, groups, frozenset(loose), in_use.by_pool)


def _aligned(before: Division, names: Sequence[str]) -> tuple[Sequence[TargetNode | None], Sequence[object], Sequence[Hashable], set[int]]:
    """What was known of the nodes of these names, in their order."""
    if names == before.names:
        return before.nodes, before.seen, before.keys, set(before.loose)
    known = {name: place for place, name in enumerate(before.names)}
    at = [known.get(name, -1) for name in names]
    return (
        [before.nodes[place] if place >= 0 else None for place in at],
        [before.seen[place] if place >= 0 else None for place in at],
        [before.keys[place] if place >= 0 else None for place in at],
        {place for place, then in enumerate(at) if then in before.loose},
    )


def _patched(
    before: Division, nodes: Sequence[TargetNode], keys: Sequence[Hashable], others: Sequence[int]
) -> tuple[Mapping[Hashable, Sequence[int]], Mapping[Hashable, Group]]:
    """The groups of the division before with these places moved."""
    if not others:
        return before.places, before.groups
    gone = _gathered(before.keys, others)
    come = _gathered(keys, others)
    places, groups = dict(before.places), dict(before.groups)
    for key in {**gone, **come}:
        if gone.get(key) == come.get(key):  # the same places, other nodes
            own, members = places[key], list(groups[key])
            for place in come[key]:
                members[bisect_left(own, place)] = nodes[place]
            groups[key] = tuple(members)
            continue
        left = set(gone.get(key, ()))
        own = [place for place in places.get(key, ()) if place not in left]
        if key in come:
            own = sorted([*own, *come[key]])
        if own:
            places[key], groups[key] = own, tuple([nodes[place] for place in own])
        else:
            places.pop(key, None)
            groups.pop(key, None)
    return places, groups


def _gathered(keys: Sequence[Hashable], places: Iterable[int]) -> dict[Hashable, list[int]]:
    found: dict[Hashable, list[int]] = {}
    for place in places:
        found.setdefault(keys[place], []).append(place)
    return found


def _differing(then: Mapping[PoolKey, frozenset[str]], now: Mapping[PoolKey, frozenset[str]]) -> list[PoolKey]:
    """Pools of which other devices are held."""
    if now is then:
        return []
    others = compress(now, map(is_not, map(then.get, now), now.values()))
    return [*(pool for pool in others if then.get(pool) != now[pool]), *filterfalse(now.__contains__, then)]


def _of_pools(prepared: Prepared, pools: Iterable[PoolKey]) -> Iterator[str]:
    """The nodes that slices of these pools name."""
    by_pool = prepared.problem.inventory.by_pool
    for pool in pools:
        for entry in by_pool.get(pool, ()):
            if entry.node_selection.node_name:
                yield entry.node_selection.node_name
