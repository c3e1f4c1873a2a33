"""The slices that some nodes see, each once, with its pool.

What was told last is passed on with the slices: only nodes that are other objects, or see other pools, are looked at again, and where there
are none the same tuple is told, so that what is worked out of it can be known by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, compress
from operator import is_not
from typing import TypeAlias

from ..objects import ResourceSlice
from .inventory import kept_for
from .pools import Pool
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
    """`nodes`, `names`, the entry of each in `Prepared.pools` (`seen`) and `own`, what each sees, have one place for each node."""

    nodes: Sequence[TargetNode]
    names: Sequence[str]
    seen: Sequence[object]
    own: Sequence[tuple[Visible, ...]]
    found: tuple[Visible, ...]


def slices_of(prepared: Prepared, nodes: Iterable[TargetNode]) -> tuple[Visible, ...]:
    """Every slice of a usable pool that some of these nodes sees, once."""
    targets = tuple(nodes)
    if len(targets) <= FEW:
        return _once([_visible(prepared, node) for node in targets])
    problem = prepared.problem
    question = (problem.minor, problem.features, problem.variant)
    kept: list[_Told] = kept_for(problem.inventory.passed_on.setdefault("visible slices", {}), question, list)
    known, names = tuple(kept), [node.name for node in targets]
    before = next((entry for entry in known if entry.names == names), None)
    found = _first(prepared, targets, names) if before is None else _follow(prepared, targets, before)
    kept[:] = [found, *(entry for entry in known if entry is not before)][:KEPT]
    return found.found


def _first(prepared: Prepared, nodes: Sequence[TargetNode], names: Sequence[str]) -> _Told:
    own = [_visible(prepared, node) for node in nodes]
    return _Told(nodes, names, list(map(prepared.pools.get, names)), own, _once(own))


def _follow(prepared: Prepared, nodes: Sequence[TargetNode], before: _Told) -> _Told:
    """The same of the nodes of these names at a later moment."""
    seen: list[object] = list(map(prepared.pools.get, before.names))
    others = list(compress(range(len(nodes)), map(bool.__or__, map(is_not, nodes, before.nodes), map(is_not, seen, before.seen))))
    if not others:
        return before
    own, same = list(before.own), True
    for place in others:
        now = _visible(prepared, nodes[place])
        seen[place] = prepared.pools.get(nodes[place].name)
        if not _alike(now, own[place]):
            own[place], same = now, False
    return _Told(nodes, before.names, seen, own, before.found if same else _once(own))


def _alike(one: Sequence[Visible], other: Sequence[Visible]) -> bool:
    pairs = zip(one, other, strict=False)
    return len(one) == len(other) and all(pool is then_pool and entry is then for (pool, entry), (then_pool, then) in pairs)


def _visible(prepared: Prepared, node: TargetNode) -> tuple[Visible, ...]:
    return tuple([(pool, entry) for pool in pools_of(prepared, node) if pool.usable for entry in pool.slices])


def _once(own: Iterable[Sequence[Visible]]) -> tuple[Visible, ...]:
    found = tuple(chain.from_iterable(own))
    seen: dict[int, Visible] = {}
    for pair in found:
        seen.setdefault(id(pair[1]), pair)
    return found if len(seen) == len(found) else tuple(seen.values())
