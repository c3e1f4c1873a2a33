"""Nodes divided into those that a problem can't tell apart, and how much of a division holds at the next moment.

The last divisions of a question are passed on with the slices. A node is looked at again where it is another object, where it sees other
pools, or where other devices of pools that name it are held; groups that none of these nodes leaves or joins are taken over as they are.
Of a pool that other nodes see too a key says by which slices it is known, not what is held of it, which is the same to all of them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, compress, filterfalse, repeat
from operator import is_not

from ..view.trail import Mark
from .inventory import PoolKey
from .node_classes import NodeClasses
from .pools import counters_everywhere
from .prepared import Prepared, pools_of
from .problem import TargetNode
from .selectors import SelectorChain

Group = tuple[TargetNode, ...]

KEPT_DIVISIONS = 6
"""Divisions that are kept for a question: of all nodes, and of those that some kinds of pods leave, as they are and with nothing in use."""


@dataclass(frozen=True, eq=False)
class Division:
    """`nodes`, `names`, what each of them saw (`seen`: the entry in `Prepared.pools`) and `keys` have one place for each node; `at` says
    which. `places` and `groups`: by key, in the order of the nodes. `loose`: places of nodes that see pools that others see too. `held`:
    what was in use then, by pool. `slices` and `use`: when that was, on the trails of the slices and of what is in use."""

    nodes: Sequence[TargetNode]
    names: Sequence[str]
    at: Mapping[str, int]
    seen: Sequence[object]
    keys: Sequence[Hashable]
    places: Mapping[Hashable, Sequence[int]]
    groups: Mapping[Hashable, Group]
    loose: frozenset[int]
    held: Mapping[PoolKey, frozenset[str]]
    slices: Mark
    use: Mark

    @cached_property
    def order(self) -> Sequence[Hashable]:
        """The keys of the groups, each where its first node stands."""
        return sorted(self.groups, key=lambda key: self.places[key][0])

    @cached_property
    def ordered(self) -> tuple[Group, ...]:
        """The groups in that order."""
        return tuple(map(self.groups.__getitem__, self.order))

    @property
    def told(self) -> Iterator[tuple[Group, bool]]:
        """The same, each with whether its nodes see nothing but pools of their own: what is counted of one then holds for each."""
        for key in self.order:
            yield self.groups[key], self.places[key][0] not in self.loose


_NOTHING = Division((), (), {}, (), (), {}, {}, frozenset(), {}, Mark(), Mark())


def divided(prepared: Prepared, chains: Sequence[SelectorChain], nodes: Sequence[TargetNode]) -> Division:
    """The nodes by what the problem reads of them, with these selectors."""
    problem = prepared.problem
    classes = NodeClasses(problem, chains, prepared.environment)
    if problem.in_use.shared:
        return _of_others(classes, prepared, nodes, _NOTHING)
    kept: list[Division] = classes.divisions.setdefault(not problem.in_use.by_pool, [])
    known = tuple(kept)
    for before in known:
        replaced = replaced_places(before.names, before.nodes, nodes)
        if replaced is not None:
            found = _of_the_same(classes, prepared, nodes, before, replaced)
            kept[:] = [found, *(entry for entry in known if entry is not before)][: KEPT_DIVISIONS // 2]
            return found
    found = _of_others(classes, prepared, nodes, max(known, key=lambda entry: len(entry.names), default=_NOTHING))
    kept[:] = [found, *known][: KEPT_DIVISIONS // 2]
    return found


def replaced_places(names: Sequence[str], before: Sequence[TargetNode], nodes: Sequence[TargetNode]) -> list[int] | None:
    """Where the nodes are other objects than before, if they have these same names; None if they don't."""
    if nodes is before or nodes == before:  # most are the same objects, so that this is the least that it can take
        return []
    if len(nodes) != len(before):
        return None
    found: list[int] = []
    for place in compress(range(len(nodes)), map(is_not, nodes, before)):
        if nodes[place].name != names[place]:
            return None
        found.append(place)
    return found


def _of_the_same(
    classes: NodeClasses, prepared: Prepared, nodes: Sequence[TargetNode], before: Division, replaced: Iterable[int]
) -> Division:
    """Of the nodes of the same names at another moment."""
    problem = prepared.problem
    again = set(replaced)
    touched = problem.inventory.touched_since(before.slices, counters_everywhere(problem.minor, problem.variant))
    if touched is None:
        touched = set[str]()
        again.update(compress(range(len(nodes)), map(is_not, map(prepared.pools.get, before.names), before.seen)))
    steps = problem.in_use.trail.since(before.use)
    pools = _differing(before.held, problem.in_use.by_pool) if steps is None else chain.from_iterable(steps)
    touched.update(_of_pools(prepared, pools))
    again.update([before.at[name] for name in touched if name in before.at])
    if not again:
        return _told(prepared, nodes, before.names, before.at, before.seen, before.keys, before.places, before.groups, before.loose)
    others = sorted(again)
    keys, seen, loose = list(before.keys), list(before.seen), set(before.loose)
    _look(classes, prepared, nodes, others, keys, seen, loose)
    places, groups = _patched(before, nodes, keys, others)
    return _told(prepared, nodes, before.names, before.at, seen, keys, places, groups, loose)


def _of_others(classes: NodeClasses, prepared: Prepared, nodes: Sequence[TargetNode], before: Division) -> Division:
    """Of other nodes, some of which may be the same."""
    names = [node.name for node in nodes]
    places = range(len(names))
    then = list(map(before.at.get, names, repeat(-1)))
    then_nodes = map((*before.nodes, None).__getitem__, then)
    then_seen = map((*before.seen, None).__getitem__, then)
    keys: list[Hashable] = list(map((*before.keys, None).__getitem__, then))
    loose = set(compress(places, map(before.loose.__contains__, then))) if before.loose else set[int]()
    seen: list[object] = list(map(prepared.pools.get, names))
    again = {*compress(places, map(is_not, nodes, then_nodes)), *compress(places, map(is_not, seen, then_seen))}
    held = set(_of_pools(prepared, _differing(before.held, prepared.problem.in_use.by_pool)))
    if held:
        again.update(compress(places, map(held.__contains__, names)))
    _look(classes, prepared, nodes, sorted(again), keys, seen, loose)
    by_key = _gathered(keys)
    groups = {key: tuple([nodes[place] for place in own]) for key, own in by_key.items()}
    return _told(prepared, nodes, names, dict(zip(names, places, strict=True)), seen, keys, by_key, groups, loose)


def _look(
    classes: NodeClasses,
    prepared: Prepared,
    nodes: Sequence[TargetNode],
    places: Iterable[int],
    keys: list[Hashable],
    seen: list[object],
    loose: set[int],
) -> None:
    """Put down of the nodes at these places what they are to the problem now."""
    operations = "OptionalNodeOperations" in prepared.problem.features  # then what the node declares decides too
    for place in places:
        node = nodes[place]
        key, local = classes.class_of(pools_of(prepared, node), node)
        seen[place] = prepared.pools.get(node.name)
        keys[place] = (key, node.declared_features) if operations else key
        (loose.discard if local else loose.add)(place)


def _told(
    prepared: Prepared,
    nodes: Sequence[TargetNode],
    names: Sequence[str],
    at: Mapping[str, int],
    seen: Sequence[object],
    keys: Sequence[Hashable],
    places: Mapping[Hashable, Sequence[int]],
    groups: Mapping[Hashable, Group],
    loose: Iterable[int],
) -> Division:
    problem = prepared.problem
    when = problem.inventory.trail.mark, problem.in_use.trail.mark
    return Division(nodes, names, at, seen, keys, places, groups, frozenset(loose), problem.in_use.by_pool, *when)


def _patched(
    before: Division, nodes: Sequence[TargetNode], keys: Sequence[Hashable], others: Iterable[int]
) -> tuple[Mapping[Hashable, Sequence[int]], Mapping[Hashable, Group]]:
    """The groups of the division before with the nodes at these places taken anew."""
    touched: dict[Hashable, tuple[list[int], list[TargetNode]]] = {}

    def of(key: Hashable) -> tuple[list[int], list[TargetNode]]:
        found = touched.get(key)
        if found is None:
            found = touched[key] = (list(before.places.get(key, ())), list(before.groups.get(key, ())))
        return found

    for place in others:
        then, now, node = before.keys[place], keys[place], nodes[place]
        if then == now and node is before.nodes[place]:
            continue
        own, members = of(then)
        at = bisect_left(own, place)
        if then == now:
            members[at] = node
            continue
        del own[at], members[at]
        own, members = of(now)
        at = bisect_left(own, place)
        own.insert(at, place)
        members.insert(at, node)
    if not touched:
        return before.places, before.groups
    places, groups = dict(before.places), dict(before.groups)
    for key, (own, members) in touched.items():
        if own:
            places[key], groups[key] = own, tuple(members)
        else:
            places.pop(key, None)
            groups.pop(key, None)
    return places, groups


def _gathered(keys: Iterable[Hashable]) -> dict[Hashable, list[int]]:
    found: dict[Hashable, list[int]] = {}
    for place, key in enumerate(keys):
        own = found.get(key)
        if own is None:
            found[key] = [place]
        else:
            own.append(place)
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
