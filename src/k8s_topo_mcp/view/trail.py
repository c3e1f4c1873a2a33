"""What was touched at each of the last steps by which something came to be, so that who keeps a result of an earlier state need look at
nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sized
from dataclasses import dataclass
from itertools import accumulate
from typing import Generic, TypeVar

S = TypeVar("S", bound=Sized)

KEPT_STEPS, KEPT_TOUCHED = 64, 4_000
"""So many steps back, and so many things touched, are remembered."""


class Mark:
    """One state, known by its identity."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, eq=False)
class Trail(Generic[S]):
    """The last states, the newest last, each with what was touched to reach it from the one before.

    States that branch off (what-ifs) each have a trail of their own: a mark of one branch isn't known on another.
    """

    states: tuple[tuple[Mark, S], ...]

    @classmethod
    def begun(cls, make: Callable[[], S]) -> Trail[S]:
        """A first state: of what was before it nothing is known. `make` gives an empty step."""
        return cls(((Mark(), make()),))

    @property
    def mark(self) -> Mark:
        """This state, to ask `since` by in a later one."""
        return self.states[-1][0]

    def after(self, touched: S) -> Trail[S]:
        """The next state."""
        states = (*self.states, (Mark(), touched))[-KEPT_STEPS:]
        many = sum(total > KEPT_TOUCHED for total in accumulate(len(own) for _, own in reversed(states)))
        return Trail(states[min(many, len(states) - 1) :])

    def since(self, then: Mark) -> tuple[S, ...] | None:
        """What was touched at each step since a mark; None where that isn't known: it is too old, or not of a state that led here."""
        states = self.states
        for place in range(len(states) - 1, -1, -1):
            if states[place][0] is then:
                return tuple([touched for _, touched in states[place + 1 :]])
        return None
