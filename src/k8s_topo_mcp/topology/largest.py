"""The largest group of free devices of one kind that one place has: what a claim with a constraint could still get there.

Counts whole devices that a plain request can get (state free) on nodes that are open. It is an upper bound for a claim: selectors,
tolerations and other constraints are not looked at (claim_feasibility does that).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from k8s_topo_mcp.view import derived

from .domains import Whereabouts, level_names
from .joins import Kind
from .nodes import NodeHardware
from .placed import Tally

COARSE = frozenset({"region", "zone"})


@dataclass(frozen=True, slots=True)
class Largest:
    """For one kind: the total, what is free on open nodes, and the most that is free in one place. `numa` and `root` are None where no
    device of the kind publishes the place. `domains` lists (level, most) for each level finer than a zone that nodes are labelled with."""

    kind: Kind
    total: int
    free: int
    node: int
    numa: int | None
    root: int | None
    domains: tuple[tuple[str, int], ...]


def largest(nodes: Iterable[NodeHardware]) -> tuple[Largest, ...]:
    """One entry for each kind of accelerator, most devices first."""
    listed = tuple(nodes)
    kinds: dict[Kind, list[tuple[NodeHardware, Tally]]] = {}
    for node in listed:
        for kind, tally in node.tallies.items():
            if kind.is_accelerator:
                kinds.setdefault(kind, []).append((node, tally))
    levels = level_names(node.places for node in listed)
    found = [_one(kind, members, levels) for kind, members in kinds.items()]
    return tuple(sorted(found, key=lambda entry: (-entry.total, entry.kind.order)))


def _one(kind: Kind, members: Sequence[tuple[NodeHardware, Tally]], levels: tuple[str, ...]) -> Largest:
    total = free = most = 0
    numa: int | None = None
    root: int | None = None
    domains: dict[tuple[str, ...], int] = {}
    for node, tally in members:
        total += tally.total
        published_numa, published_root = node.layout.placed.get(kind, (False, False))
        if published_numa:
            numa = numa or 0
        if published_root:
            root = root or 0
        if node.closed:
            continue
        here = tally.free
        for level, chain in _chains(node.where):
            domains[level, *chain] = domains.get((level, *chain), 0) + here
        if not here:
            continue
        free += here
        most = max(most, here)
        if numa is not None and tally.free_by_numa:
            numa = max(numa, *tally.free_by_numa.values())
        if root is not None and tally.free_by_root:
            root = max(root, *tally.free_by_root.values())
    best: dict[str, int] = {}
    for (level, *_), count in domains.items():
        best[level] = max(best.get(level, 0), count)
    return Largest(kind, total, free, most, numa, root, tuple((level, best[level]) for level in levels if level in best))


def _chains(where: Whereabouts) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Each level finer than a zone, with the values down to it: two zones may both have a rack "r1"."""
    return derived(where, "topology.chains of levels", lambda: _read(where.places))


def _read(places: Mapping[str, str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    levels, values = tuple(places), tuple(places.values())
    return tuple((level, values[: number + 1]) for number, level in enumerate(levels) if level not in COARSE)
