"""The orders in which an allocator may come upon the pools, where it doesn't define one (`variants`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations, product
from math import factorial
from random import Random

from .pools import Pool
from .prepared import Prepared, chains_of
from .selectors import SelectorChain, chain_verdicts


def orders(prepared: Prepared, pools: Sequence[Pool], most: int) -> Iterator[tuple[Pool, ...]]:
    """The orders of pools that can make a difference: all of them, or if there are more than `most` that many, each pool first and last
    in some of them and the rest drawn. Pools that this copy of the allocator leaves for the end stay there.

    A usable pool none of whose devices any request may look at changes nothing wherever it stands, so it stands last.
    """
    selectors = chains_of(prepared)
    variant = prepared.problem.variant
    sorts = variant is not None and variant.binding_pools_last

    def left(pool: Pool) -> bool:
        return sorts and pool.has_binding_conditions

    empty = tuple(pool for pool in pools if pool.usable and not _of_interest(pool, selectors))
    others = [pool for pool in pools if pool not in empty]
    first, last = [pool for pool in others if not left(pool)], [pool for pool in others if left(pool)]
    if factorial(len(first)) * factorial(len(last)) <= most:
        yield from ((*before, *after, *empty) for before, after in product(permutations(first), permutations(last)))
        return
    turned = [(*order[place:], *order[:place]) for order in (others, others[::-1]) for place in range(len(others))]
    draw = Random(0)
    drawn = (draw.sample(others, len(others)) for _ in range(most - len(turned)))
    for order in (*turned[:most], *drawn):
        yield (*sorted(order, key=left), *empty)


def _of_interest(pool: Pool, selectors: Sequence[SelectorChain]) -> bool:
    """Whether some device passes some request's selectors, or makes one fail."""
    return any(verdict is not False for entry in pool.slices for each in selectors for verdict in chain_verdicts(entry, each))
