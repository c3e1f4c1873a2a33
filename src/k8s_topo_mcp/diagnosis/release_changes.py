"""Changes that take devices from those who hold them: from one claim, from the fewest of one pool that are enough, or from all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..objects import ObjectRef, ResourceClaim
from .holders import IN_THE_WAY, Held, Pair
from .report import Change, Holder
from .room import Room

ENDED = "end or move the pods that use it"
MAX_HOLDER_SETS = 8
"""Claims whose release is tried one by one."""

NAMED = 3
"""Claims that a release of many names."""

TOLD = 64
"""Claims of a change that are listed with it."""


def holder_changes(code: str, held: Held, room: Room, short_by: int) -> Iterator[Change]:
    """Take the allocation from holders: each alone where they are in the way, the fewest of one node that hold the `short_by` devices that
    lack at least, and all together."""
    if not held.pairs:
        return
    alone = code in IN_THE_WAY
    largest = held.pairs[0][0]
    if alone:
        for holder, claim in held.in_order(room)[:MAX_HOLDER_SETS]:
            yield _release(holder, (claim,), f"releasing {_who(holder)}")
        if 1 < len(held.dead) < len(held.pairs):
            yield replace(_release(largest, held.dead, f"releasing the {len(held.dead)} claims whose pods are gone"), abandoned=True)
        for chosen in held.sets(short_by):
            names = ", ".join(f"{holder.about.namespace}/{holder.about.name}" for holder, _ in chosen)
            yield _release(chosen[0][0], tuple(claim for _, claim in chosen), f"releasing claims {names}")
    if len(held.pairs) == 1 and not alone:
        yield _release(largest, held.claims, f"releasing {_who(largest)}")
    elif len(held.pairs) > 1:
        text = f"releasing all {len(held.pairs)} claims that hold such devices ({_some(held.pairs)})"
        yield _release(largest, held.claims, text)


def _who(holder: Holder) -> str:
    claim = f"{holder.about.namespace}/{holder.about.name}"
    if not holder.alive:
        return f"claim {claim} (its pods are gone)"
    if holder.others and not holder.living:
        return f"claim {claim} (reserved for {holder.others[0]}, no pod of it lives)"
    if holder.pods == (claim,):
        return claim
    return f"claim {claim}" + (f" (pod {holder.pods[0]})" if holder.pods else "")


def _some(held: Sequence[Pair]) -> str:
    """The claims by name, the first few of them."""
    names = [f"{holder.about.namespace}/{holder.about.name}" for holder, _ in held[:NAMED]]
    rest = f" and {len(held) - NAMED} more" if len(held) > NAMED else ""
    return f"{', '.join(names)}{rest}"


def _release(holder: Holder, claims: tuple[ResourceClaim, ...], text: str) -> Change:
    alone = len(claims) == 1
    dead = alone and not holder.alive
    how = f"delete ResourceClaim {holder.about.namespace}/{holder.about.name}: no pod uses it" if dead else ENDED
    if alone and holder.others and not holder.living:
        # The claim controller frees a claim when it takes out the last entry itself, not when it finds none (its syncClaim).
        name = f"{holder.about.namespace}/{holder.about.name}"
        how = f"status.reservedFor still has {holder.others[0]}: who put it there has to take it out; then delete ResourceClaim {name}"
    about = holder.about if alone else None
    return Change(
        text,
        about,
        "status.allocation",
        "allocated",
        "",
        (),
        True,
        how,
        releases=claims,
        objects=() if alone else _refs(claims),
        abandoned=dead,
    )


def _refs(claims: Sequence[ResourceClaim]) -> tuple[ObjectRef, ...]:
    """The first of them by name: a change of thousands isn't told one by one."""
    return tuple(claim.ref for claim in claims[:TOLD])


def all_released(claims: tuple[ResourceClaim, ...]) -> Change:
    """Without any allocation in the cluster."""
    text = f"releasing every allocated claim ({len(claims):,})"
    return Change(text, None, "status.allocation", "allocated", "", (), True, ENDED, releases=claims, objects=_refs(claims))
