"""The slices that some nodes see, each once, with its pool.

What was told last is passed on with the slices: only nodes that are other objects, or see other pools, are looked at again, and where there
are none the same tuple is told, so that what is worked out of it can be known by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, compress
from operator import is_not, itemgetter
from typing import TypeAlias

from ..objects import ResourceSlice
from ..view.trail import Mark
from .divisions import replaced_places
from .inventory import kept_for
from .pools import Pool, counters_everywhere
from .prepared import Prepared, pools_of
from .problem import TargetNode

Visible: TypeAlias = tuple[Pool, ResourceSlice]

KEPT = 8
"""Sets of nodes for which it is kept: four parts of the cluster, and those of each that a pod leaves. A set that is asked about in turn
with more of them than are kept is told anew each time."""

FEW = 64
"""For so few nodes nothing is kept: to compare what is kept takes longer than to tell it anew."""


@dataclass(frozen=True, slots=True, eq=False)
class _Told:
    """`nodes`, `names`, the entry of each in `Prepared.pools` (`seen`) and `own`, what each sees, have one place for each node; `at` says
    which. `apart`: no slice is seen by two of them. `slices`: when that was, on the trail of the slices."""

    nodes: Sequence[TargetNode]
    names: Sequence[str]
    at: Mapping[str, int]
    seen: Sequence[object]
    own: Sequence[Sequence[Visible]]
    found: tuple[Visible, ...]
    apart: bool
    slices: Mark


def slices_of(prepared: Prepared, nodes: Iterable[TargetNode]) -> tuple[Visible, ...]:
    """Every slice of a usable pool that some of these nodes sees, once."""
    targets = tuple(nodes)
    if len(targets) <= FEW:
        return _once([_visible(prepared, node) for node in targets])
    problem = prepared.problem
    question = (problem.minor, problem.features, problem.variant)
    kept: list[_Told] = kept_for(problem.inventory.passed_on.setdefault("visible slices", {}), question, list)
    known = tuple(kept)
    for before in known:
        replaced = replaced_places(before.names, before.nodes, targets)
        if replaced is not None:
            found = _follow(prepared, targets, before, replaced)
            kept[:] = [found, *(entry for entry in known if entry is not before)]
            return found.found
    found = _first(prepared, targets)
    kept[:] = [found, *known][:KEPT]
    return found.found


def _first(prepared: Prepared, nodes: Sequence[TargetNode]) -> _Told:
    own = [_visible(prepared, node) for node in nodes]
    names = [node.name for node in nodes]
    found = _once(own)
    seen = list(map(prepared.pools.get, names))
    at = dict(zip(names, range(len(names)), strict=True))
    return _Told(nodes, names, at, seen, own, found, len(found) == sum(map(len, own)), prepared.problem.inventory.trail.mark)


def _follow(prepared: Prepared, nodes: Sequence[TargetNode], before: _Told, replaced: Iterable[int]) -> _Told:
    """The same of the nodes of these names at a later moment."""
    problem = prepared.problem
    again = set(replaced)
    touched = problem.inventory.touched_since(before.slices, counters_everywhere(problem.minor, problem.variant))
    if touched is None:
        again.update(compress(range(len(nodes)), map(is_not, map(prepared.pools.get, before.names), before.seen)))
    else:
        again.update([before.at[name] for name in touched if name in before.at])
    own, seen = list(before.own), list(before.seen)
    others: list[int] = []
    for place in sorted(again):
        now = _visible(prepared, nodes[place])
        seen[place] = prepared.pools.get(nodes[place].name)
        if not _alike(now, own[place]):
            own[place] = now
            others.append(place)
    apart, found = before.apart, before.found
    if others and apart and all(entry.node_selection.node_name == nodes[place].name for place in others for _, entry in own[place]):
        found = _patched(before, own, others)
    elif others:
        found = _once(own)
        apart = len(found) == sum(map(len, own))
    return _Told(nodes, before.names, before.at, seen, own, found, apart, problem.inventory.trail.mark)


def _patched(before: _Told, own: Sequence[Sequence[Visible]], others: Iterable[int]) -> tuple[Visible, ...]:
    """What was told, with what these places see now: no other place sees it, as it names its node."""
    starts = list(accumulate(map(len, before.own), initial=0))
    parts: list[Sequence[Visible]] = []
    done = 0
    for place in others:
        parts += before.found[done : starts[place]], own[place]
        done = starts[place + 1]
    return tuple(chain(*parts, before.found[done:]))


def _alike(one: Sequence[Visible], other: Sequence[Visible]) -> bool:
    pairs = zip(one, other, strict=False)
    return len(one) == len(other) and all(pool is then_pool and entry is then for (pool, entry), (then_pool, then) in pairs)


def _visible(prepared: Prepared, node: TargetNode) -> tuple[Visible, ...]:
    return tuple([(pool, entry) for pool in pools_of(prepared, node) if pool.usable for entry in pool.slices])


def _once(own: Iterable[Sequence[Visible]]) -> tuple[Visible, ...]:
    """Each slice where it is first seen, with the pool there."""
    found = tuple(chain.from_iterable(own))
    ids = list(map(id, map(itemgetter(1), found)))
    places = dict.fromkeys(ids)
    if len(places) == len(found):
        return found
    first = dict(zip(reversed(ids), reversed(found), strict=True))
    return tuple(map(first.__getitem__, places))
