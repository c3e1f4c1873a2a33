"""Changes that take devices from those who hold them: from one claim, from the fewest of one pool that are enough, or from all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ..objects import ObjectRef, ResourceClaim
from .held import Held
from .holders import IN_THE_WAY
from .report import Change, Holder
from .room import Room
from .rows import Pair, claim_of

ENDED = "end or move the pods that use it"
MAX_HOLDER_SETS = 8
"""Claims whose release is tried one by one."""

NAMED = 3
"""Claims that a release of many names."""

TOLD = 64
"""Claims of a change that are listed with it."""


def holder_changes(code: str, held: Held, room: Callable[[], Room], short_by: int) -> Iterator[Change]:
    """Take the allocation from holders: each alone where they are in the way, the fewest of one node that hold the `short_by` devices that
    lack at least, and all together. `room`: where what lacks adds up, asked for where it decides who is tried."""
    if not held.all:
        return
    alone = code in IN_THE_WAY
    if alone:
        for holder, claim in held.in_order(room, MAX_HOLDER_SETS):
            yield _released(((holder, claim),), f"releasing {_who(holder)}")
        if 1 < len(held.dead) < len(held.all):
            text = f"releasing the {len(held.dead)} claims whose pods are gone"
            yield _release(tuple(map(claim_of, held.dead.rows)), None, text, dead=True)
        for chosen in held.sets(short_by):
            names = ", ".join(f"{holder.about.namespace}/{holder.about.name}" for holder, _ in chosen)
            yield _released(chosen, f"releasing claims {names}")
    if len(held.all) == 1 and not alone:
        pair = held.all.rows[0].pair
        yield _released((pair,), f"releasing {_who(pair[0])}")
    elif len(held.all) > 1:
        text = f"releasing all {len(held.all)} claims that hold such devices ({_some(held.claims)})"
        yield _release(held.claims, None, text, dead=not held.living)


def _who(holder: Holder) -> str:
    claim = f"{holder.about.namespace}/{holder.about.name}"
    if not holder.alive:
        return f"claim {claim} (its pods are gone)"
    if holder.others and not holder.living:
        return f"claim {claim} (reserved for {holder.others[0]}, no pod of it lives)"
    if holder.pods == (claim,):
        return claim
    return f"claim {claim}" + (f" (pod {holder.pods[0]})" if holder.pods else "")


def _some(held: Sequence[ResourceClaim]) -> str:
    """The claims by name, the first few of them."""
    names = [claim.full_name for claim in held[:NAMED]]
    rest = f" and {len(held) - NAMED} more" if len(held) > NAMED else ""
    return f"{', '.join(names)}{rest}"


def _released(pairs: Sequence[Pair], text: str) -> Change:
    """The release of a few."""
    alone = pairs[0] if len(pairs) == 1 else None
    return _release(tuple([claim for _, claim in pairs]), alone, text, dead=not any(holder.alive for holder, _ in pairs))


def _release(claims: tuple[ResourceClaim, ...], alone: Pair | None, text: str, dead: bool) -> Change:
    """`alone`: the holder, where it is one; `dead`: the pods of all of them are gone."""
    how = _of_one(*alone) if alone is not None else _of_dead(claims, "these ResourceClaims") if dead else ENDED
    about = alone[0].about if alone is not None else None
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
        objects=() if alone is not None else _refs(claims),
        abandoned=dead,
    )


def _of_one(holder: Holder, claim: ResourceClaim) -> str:
    """How one claim is released. From kubernetes pkg/controller/resourceclaim/controller.go, syncClaim: a claim is freed with the last
    entry that the controller takes out itself; one in which it finds none only once it is deleted."""
    named = f"ResourceClaim {holder.about.namespace}/{holder.about.name}"
    deleted = claim.metadata.deleted is not None
    if not holder.alive:
        return _of_dead((claim,), named)
    if holder.others and not holder.living:
        then = "" if deleted else f"; then delete {named}"
        return f"status.reservedFor still has {holder.others[0]}: who put it there has to take it out{then}"
    return ENDED


def _of_dead(claims: Sequence[ResourceClaim], named: str) -> str:
    if all(claim.metadata.deleted is not None for claim in claims):
        return f"{named}: deleted already, and kept by a finalizer that kube-controller-manager has to remove: see that it runs"
    return f"delete {named}: no pod uses {'it' if len(claims) == 1 else 'them'}"


def _refs(claims: Sequence[ResourceClaim]) -> tuple[ObjectRef, ...]:
    """The first of them by name: a change of thousands isn't told one by one."""
    return tuple(claim.ref for claim in claims[:TOLD])


def all_released(claims: tuple[ResourceClaim, ...]) -> Change:
    """Without any allocation in the cluster."""
    text = f"releasing every allocated claim ({len(claims):,})"
    return Change(text, None, "status.allocation", "allocated", "", (), True, ENDED, releases=claims, objects=_refs(claims))
