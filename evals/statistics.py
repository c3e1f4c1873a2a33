"""Intervals and comparisons for small numbers of cases."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Z = 1.959964
"""Of a two-sided interval of 95%."""


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many, with Wilson's interval of 95% (E. B. Wilson, J. Am. Stat. Assoc. 22, 1927)."""

    hits: int
    of: int

    @property
    def value(self) -> float | None:
        return self.hits / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float]:
        if not self.of:
            return 0.0, 1.0
        share, square = self.hits / self.of, Z * Z
        middle = share + square / (2 * self.of)
        spread = Z * math.sqrt(share * (1 - share) / self.of + square / (4 * self.of * self.of))
        scale = 1 + square / self.of
        return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)

    def __str__(self) -> str:
        if not self.of:
            return "none"
        low, high = self.interval
        return f"{self.hits}/{self.of} ({self.hits / self.of:.0%}, 95% {low:.0%} to {high:.0%})"


@dataclass(frozen=True, slots=True)
class Paired:
    """Two arms on the same cases: how many only the one got, how many only the other, and how likely so uneven a split is by chance
    (McNemar's test, exact)."""

    only_first: int
    only_second: int
    both: int
    neither: int

    @property
    def chance(self) -> float:
        different = self.only_first + self.only_second
        if not different:
            return 1.0
        tail = sum(math.comb(different, number) for number in range(min(self.only_first, self.only_second) + 1))
        return min(1.0, 2 * tail / 2**different)


def paired(first: Mapping[str, bool], second: Mapping[str, bool]) -> Paired:
    """Two arms' results by case; cases that one of them doesn't have are left out."""
    shared = first.keys() & second.keys()
    return Paired(
        sum(first[case] and not second[case] for case in shared),
        sum(second[case] and not first[case] for case in shared),
        sum(first[case] and second[case] for case in shared),
        sum(not first[case] and not second[case] for case in shared),
    )


def median(values: Sequence[float | None]) -> float | None:
    """The median where None stands for "never": it counts as later than every time, and the median may be never."""
    if not values:
        return None
    ordered = sorted(math.inf if value is None else value for value in values)
    middle = len(ordered) // 2
    found = ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
    return None if math.isinf(found) else found


def every_time(results: Mapping[str, Sequence[bool]], repeats: int) -> Share:
    """pass^k, of the cases that were run at least k times: how many were right in each of their first k."""
    enough = [runs[:repeats] for runs in results.values() if len(runs) >= repeats]
    return Share(sum(all(runs) for runs in enough), len(enough))
