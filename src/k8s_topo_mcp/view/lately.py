"""Which objects of a class became others in the last views, so that who keeps something of an earlier view need not look at all of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeVar, cast

from ..objects import ApiObject
from . import ClusterView
from .kinds import Changes, Kind

T = TypeVar("T", bound=ApiObject)

KEPT_VIEWS, KEPT_CHANGES = 64, 4_000
"""So many views back, and so many changes, are remembered."""


class Mark:
    """The objects of a class in one view."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, eq=False)
class _Lately:
    """The changes by which each of the last states came to be, the newest last."""

    states: tuple[tuple[Mark, Changes], ...]


def mark(view: ClusterView, kind: type[ApiObject]) -> Mark:
    """What to ask `others_since` by in a later view."""
    return view.shared(kind, _begun, _noted).states[-1][0]


def others_since(view: ClusterView, kind: type[T], then: Mark) -> Iterator[T] | None:
    """The objects of the class that came, went or became others since a mark, as they were and as they are (and what they were in
    between); None where that isn't known: the mark is too old, or of views that this one doesn't follow."""
    states = view.shared(kind, _begun, _noted).states
    known = next((place for place, (own, _) in enumerate(states) if own is then), None)
    if known is None:
        return None
    return (cast(T, item) for _, changes in states[known + 1 :] for pair in changes.values() for item in pair if item is not None)


def _begun(_: tuple[ApiObject, ...]) -> _Lately:
    return _Lately(((Mark(), {}),))


def _noted(known: _Lately, _: Kind, changes: Changes) -> _Lately:
    states = (*known.states, (Mark(), changes))[-KEPT_VIEWS:]
    many = sum(total > KEPT_CHANGES for total in accumulate(len(own) for _, own in reversed(states)))
    return _Lately(states[min(many, len(states) - 1) :])
