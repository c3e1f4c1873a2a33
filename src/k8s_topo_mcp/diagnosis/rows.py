"""Claims that hold something, with the pods behind them and whether any of those lives, as rows in order: most devices first, then by name.

There may be tens of thousands of them. What is asked of all at once is kept beside them, and rows of a later moment are made from those
before: a few that went or came are taken out or put in, and the others stay as they are.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from ..objects import Consumer, Pod, ResourceClaim
from ..view import ClusterView
from ..view.indices import consumers_of
from .report import Holder

T = TypeVar("T")
Pair: TypeAlias = tuple[Holder, ResourceClaim]
ClaimKey: TypeAlias = tuple[str, str]

FEW_CHANGES = 4
"""Rows are made from those before where at most one in so many is another: most are told anew where they stand."""


class Row(NamedTuple):
    """A claim among those that hold something. `place`: most devices first, then by name. `users`: the pods that name it. `consumers`:
    those that it is reserved for; None where each of these names it, so that none is another while `users` is the same."""

    place: tuple[int, str]
    pair: Pair
    key: ClaimKey
    users: tuple[Pod, ...] | None
    consumers: tuple[Pod, ...] | None

    @property
    def devices(self) -> int:
        """How many devices it holds."""
        return -self.place[0]

    @property
    def alive(self) -> bool:
        """Whether a pod of it lives, or something else may."""
        return self.pair[0].alive


def place_of(row: Row) -> tuple[int, str]:
    """By what rows are put in order. No two have the same, so that rows compare by it alone."""
    return row.place


def claim_of(row: Row) -> ResourceClaim:
    """The claim alone."""
    return row.pair[1]


def holder_of(row: Row) -> Holder:
    """What is told of it."""
    return row.pair[0]


def _holder(claim: ResourceClaim, consumers: tuple[Pod, ...], users: tuple[Pod, ...], devices: int) -> Holder:
    """A claim as a holder. It lives if a pod that it is reserved for, or that names it, exists and hasn't ended."""
    pods = {pod.full_name: pod for pod in (*consumers, *users)}
    ended = [name for name, pod in pods.items() if pod.is_terminal]
    named = (*(name for name in pods if name not in ended), *ended) if ended else tuple(pods)
    living = len(ended) < len(pods)
    alive = living or any(entry.resource != "pods" for entry in claim.reserved_for)
    since = claim.allocation.allocated_at if claim.allocation is not None else None
    others = tuple(_consumer(entry) for entry in claim.reserved_for if entry.resource not in ("pods", "podgroups"))
    return Holder(claim.ref, named, devices, since if since is not None else claim.metadata.created, alive, others, living)


def row_of(view: ClusterView, claim: ResourceClaim, users: tuple[Pod, ...] | None, devices: int) -> Row:
    """A claim that these pods name and that holds so many devices."""
    consumers, named = consumers_of(view, claim), users or ()
    pods_alone = all(entry.resource == "pods" for entry in claim.reserved_for)  # whom a group consists of changes
    all_named = pods_alone and len(consumers) == len(claim.reserved_for) and set(consumers) <= set(named)
    holder = _holder(claim, consumers, named, devices)
    return Row((-devices, claim.full_name), (holder, claim), claim.key, users, None if all_named else consumers)


def of_the_same_pods(known: Row, users: tuple[Pod, ...] | None) -> bool:
    """Whether the claim is for these pods alone, and they are those that it was for, as other objects of which the same is told."""
    then = known.users
    if then is None or users is None or len(then) != len(users) or known.consumers is not None:
        return False
    if any(entry.resource != "pods" for entry in known.pair[1].reserved_for):
        return False
    pairs = zip(then, users, strict=True)
    return all(was.key == now.key and was.metadata.uid == now.metadata.uid and was.is_terminal == now.is_terminal for was, now in pairs)


def _consumer(entry: Consumer) -> str:
    """What a claim is reserved for, where it is no pod."""
    return f"{entry.resource}{f'.{entry.api_group}' if entry.api_group else ''} {entry.name}"


@dataclass(frozen=True, slots=True, eq=False)
class Rows(Generic[T]):
    """Rows in order, and what `tell` tells of each of them, in their order; neither is ever changed."""

    tell: Callable[[Row], T]
    rows: Sequence[Row] = ()
    told: Sequence[T] = ()

    def __len__(self) -> int:
        return len(self.rows)

    @classmethod
    def of(cls, rows: Iterable[Row], tell: Callable[[Row], T]) -> Rows[T]:
        """These, put in order."""
        own = sorted(rows, key=place_of)
        return cls(tell, own, list(map(tell, own)))

    def changed(self, gone: Collection[Row], come: Collection[Row]) -> Rows[T]:
        """Without those of `gone`, which are all here, and with those of `come`."""
        if not gone and not come:
            return self
        if (len(gone) + len(come)) * FEW_CHANGES > len(self.rows):
            out = set(map(id, gone))
            return Rows[T].of([*(row for row in self.rows if id(row) not in out), *come], self.tell)
        rows, told = list(self.rows), list(self.told)
        left = {row.place: row for row in come}
        for row in gone:
            at = bisect_left(rows, row)
            now = left.pop(row.place, None)
            if now is None:
                del rows[at], told[at]
            else:  # most claims of which something else is told hold as much as before
                rows[at], told[at] = now, self.tell(now)
        for row in left.values():
            at = bisect_left(rows, row)
            rows.insert(at, row)
            told.insert(at, self.tell(row))
        return Rows(self.tell, rows, told)
