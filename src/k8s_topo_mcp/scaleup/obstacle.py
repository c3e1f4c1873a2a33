"""One thing that keeps an autoscaler from adding a node, as it meets it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from ..findings import Finding
from .settings import Basis

Certainty = Literal["certain", "likely", "unknown"]
"""certain: objects of the cluster say so, or the program does by its version. likely: it rests on a default that couldn't be read, or on
what the autoscaler said some time ago. unknown: it can't be told, and would decide."""

WouldAct = Literal["yes", "no", "unknown"]


@dataclass(frozen=True, slots=True)
class Obstacle:
    """`pods` is how many of the pods it concerns, of `of`. `removed_by` is what would take it away, in words for a
    reader; names and texts of the cluster are in both as they stand, and have to be cleaned where they are shown."""

    finding: Finding
    certainty: Certainty
    removed_by: str
    pods: int
    of: int

    @property
    def whole(self) -> bool:
        """Whether it concerns all the pods."""
        return self.pods >= self.of


def certainty_of(basis: Basis) -> Certainty:
    """How sure a conclusion is that rests on one setting."""
    return "likely" if basis == "assumed" else "certain"


def would_act(obstacles: Iterable[Obstacle]) -> WouldAct:
    """Whether the autoscaler would add a node for any of the pods: not if something stands against all of them."""
    whole = [entry for entry in obstacles if entry.whole]
    if any(entry.certainty != "unknown" for entry in whole):
        return "no"
    return "unknown" if whole else "yes"
