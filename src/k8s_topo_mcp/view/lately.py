"""Which objects of a class became others in the last views, so that who keeps something of an earlier view need not look at all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar, cast

from ..objects import ApiObject
from . import ClusterView
from .kinds import Changes, Kind
from .trail import Mark, Trail

T = TypeVar("T", bound=ApiObject)


def mark(view: ClusterView, kind: type[ApiObject]) -> Mark:
    """What to ask `others_since` by in a later view."""
    return view.shared(kind, _begun, _noted).mark


def others_since(view: ClusterView, kind: type[T], then: Mark) -> Iterator[T] | None:
    """The objects of the class that came, went or became others since a mark, as they were and as they are (and what they were in
    between); None where that isn't known: the mark is too old, or of views that this one doesn't follow."""
    steps = view.shared(kind, _begun, _noted).since(then)
    if steps is None:
        return None
    return (cast(T, item) for changes in steps for pair in changes.values() for item in pair if item is not None)


def _begun(_: tuple[ApiObject, ...]) -> Trail[Changes]:
    return Trail[Changes].begun(dict)


def _noted(known: Trail[Changes], _: Kind, changes: Changes) -> Trail[Changes]:
    return known.after(changes)


__all__ = ["Mark", "mark", "others_since"]
