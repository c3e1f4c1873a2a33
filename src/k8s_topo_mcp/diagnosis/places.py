"""Where each slice stands among those that some nodes see, by the slice and by its pool; made from those of the moment before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from operator import is_not

from ..dra.inventory import PoolKey
from ..dra.visible import Visible

FEW_CHANGES = 16
"""Places are made from those before where at most one slice in so many is another."""


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """`at`: by the id of a slice; `slices` keep them, so that no other has it. `of_pool`: by driver and pool."""

    slices: Sequence[Visible] = ()
    at: Mapping[int, int] = field(default_factory=dict[int, int])
    of_pool: Mapping[PoolKey, Sequence[int]] = field(default_factory=dict[PoolKey, "Sequence[int]"])

    @classmethod
    def of(cls, slices: Sequence[Visible]) -> Places:
        of_pool: dict[PoolKey, list[int]] = {}
        for place, (pool, _) in enumerate(slices):
            of_pool.setdefault((pool.driver, pool.name), []).append(place)
        return cls(slices, {id(entry): place for place, (_, entry) in enumerate(slices)}, of_pool)

    def differing(self, slices: Sequence[Visible]) -> list[int]:
        """Where another slice, or another pool, stands now. As many slices as these."""
        # A slice with its pool may be told in a pair that is made anew each time.
        pairs = compress(range(len(slices)), map(is_not, slices, self.slices))
        return [place for place in pairs if _other(slices[place], self.slices[place])]

    def followed(self, slices: Sequence[Visible], differing: Sequence[int]) -> Places:
        """The places of as many slices, which differ there."""
        if not differing:
            return self if slices is self.slices else Places(slices, self.at, self.of_pool)
        if len(differing) * FEW_CHANGES > len(slices):
            return Places.of(slices)
        for place in differing:
            now, then = slices[place][0], self.slices[place][0]
            if now.name != then.name or now.driver != then.driver:
                return Places.of(slices)
        at = dict(self.at)
        for place in differing:
            del at[id(self.slices[place][1])]
        for place in differing:
            at[id(slices[place][1])] = place
        return Places(slices, at, self.of_pool)

    def in_pools(self, pools: Iterable[PoolKey]) -> set[int]:
        """Where the slices of these pools stand."""
        return {place for pool in pools for place in self.of_pool.get(pool, ())}


def _other(now: Visible, then: Visible) -> bool:
    return now[1] is not then[1] or now[0] is not then[0]
