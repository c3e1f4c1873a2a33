"""Two arms at equal accuracy: what the cases that both got right took of either. Whoever solves only easy ones is cheap on average; on the
same solved cases nobody is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .results import Figures, Result
from .statistics import Share, median, paired

Measure = Callable[[Figures, Result], float | None]


def _tokens(_: Figures, entry: Result) -> float | None:
    read, written = entry.record.tokens_in, entry.record.tokens_out
    return None if read is None or written is None else read + written


MEASURES: Mapping[str, Measure] = {
    "seconds until right": lambda figures, entry: figures.moment(entry),
    "tokens": _tokens,
    "characters read": lambda _, entry: entry.record.characters,
    "cost": lambda _, entry: entry.record.cost,
}
"""What is compared, as a report calls it."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What one measure says: medians over the cases of which both arms know it, and how many these are."""

    one: float
    other: float
    cases: int

    @property
    def times(self) -> float | None:
        """How many times as much the one took; None where the other took nothing."""
        return self.one / self.other if self.other else None


@dataclass(frozen=True, slots=True)
class Equal:
    """`one`, `other`: how many each got right, of the cases that both were asked. `chance`: how likely so uneven a split is where both are
    as good (McNemar). `taken`: of the cases that both got right, by measure; without those that aren't known of both."""

    one: Share
    other: Share
    both: int
    chance: float
    taken: Mapping[str, Taken]


def equal(first: Figures, second: Figures) -> Equal:
    """Two arms on the same cases, each case by its first attempt."""
    ones, others = ({entry.record.case: entry for entry in figures.known} for figures in (first, second))
    shared = sorted(ones.keys() & others.keys())
    before, after = first.by_case(), second.by_case()
    solved = [case for case in shared if before[case] and after[case]]
    taken: dict[str, Taken] = {}
    for name, measure in MEASURES.items():
        pairs = [(measure(first, ones[case]), measure(second, others[case])) for case in solved]
        known = [(one, other) for one, other in pairs if one is not None and other is not None]
        middles = median([one for one, _ in known]), median([other for _, other in known])
        if middles[0] is not None and middles[1] is not None:
            taken[name] = Taken(middles[0], middles[1], len(known))
    return Equal(
        Share(sum(before[case] for case in shared), len(shared)),
        Share(sum(after[case] for case in shared), len(shared)),
        len(solved),
        paired(before, after).chance,
        taken,
    )
