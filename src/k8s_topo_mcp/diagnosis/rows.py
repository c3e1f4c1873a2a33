"""Claims that hold something, as rows in order: most devices first, then by name.

There may be tens of thousands of them. What is asked of all at once stands in columns, and rows of a later moment are made from those
before: a few that went or came are taken out of each column or put into it, and the others stay as they are.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from ..objects import Pod, ResourceClaim
from .report import Holder

Pair: TypeAlias = tuple[Holder, ResourceClaim]
ClaimKey: TypeAlias = tuple[str, str]

FEW_CHANGES = 16
"""Rows are made from those before where at most one in so many is another."""


class Row(NamedTuple):
    """A claim among those that hold something. `place`: most devices first, then by name. `users`: the pods that name it. `consumers`:
    those that it is reserved for; None where each of these names it, so that none is another while `users` is the same."""

    place: tuple[int, str]
    pair: Pair
    key: ClaimKey
    users: tuple[Pod, ...] | None
    consumers: tuple[Pod, ...] | None

    @property
    def alive(self) -> bool:
        """Whether a pod of it lives, or something else may."""
        return self.pair[0].alive


def place_of(row: Row) -> tuple[int, str]:
    """By what rows are put in order. No two have the same."""
    return row.place


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows in order. Each of the columns has one place for each row; none of them is ever changed."""

    rows: Sequence[Row] = ()
    pairs: Sequence[Pair] = ()
    claims: Sequence[ResourceClaim] = ()
    holders: Sequence[Holder] = ()

    def __len__(self) -> int:
        return len(self.rows)

    @classmethod
    def of(cls, rows: Iterable[Row]) -> Rows:
        """These, put in order."""
        own = sorted(rows, key=place_of)
        pairs = [row.pair for row in own]
        return cls(own, pairs, [claim for _, claim in pairs], [holder for holder, _ in pairs])

    def changed(self, gone: Collection[Row], come: Collection[Row]) -> Rows:
        """Without those of `gone`, which are all here, and with those of `come`."""
        if not gone and not come:
            return self
        if (len(gone) + len(come)) * FEW_CHANGES > len(self.rows):
            left = set(map(id, gone))
            return Rows.of([*(row for row in self.rows if id(row) not in left), *come])
        rows, pairs, claims, holders = list(self.rows), list(self.pairs), list(self.claims), list(self.holders)
        left = {row.place: row for row in come}
        for row in gone:
            at = bisect_left(rows, row.place, key=place_of)
            now = left.pop(row.place, None)
            if now is None:
                del rows[at], pairs[at], claims[at], holders[at]
            else:  # most claims of which something else is told hold as much as before
                rows[at], pairs[at], (holders[at], claims[at]) = now, now.pair, now.pair
        for row in left.values():
            at = bisect_left(rows, row.place, key=place_of)
            rows.insert(at, row)
            pairs.insert(at, row.pair)
            holders.insert(at, row.pair[0])
            claims.insert(at, row.pair[1])
        return Rows(rows, pairs, claims, holders)
