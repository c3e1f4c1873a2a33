"""How current a live cluster's kinds are and what can't be read of it, in the words that answers carry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...view import Unreadable
from .kinds import ELSEWHERE
from .pace import Pace
from .reflector import Reflector
from .targets import Served

_EXAMPLES = 3
_SKEW = 5.0
"""Seconds that two clocks may be apart before an answer says it."""


@dataclass(frozen=True, slots=True)
class Standing:
    """`as_of` is the oldest moment at which a readable kind was known to be current, None if none is readable."""

    as_of: float | None
    unreadable: tuple[Unreadable, ...]
    notes: tuple[str, ...]


def standing(
    reflectors: Sequence[Reflector],
    served: Served,
    namespaces: Sequence[str],
    now: float,
    alive: float,
    sick: str,
    skew: float,
    pace: Pace,
) -> Standing:
    """
    Put together what the reflectors know of themselves.

    Parameters
    ----------
    served
        What discovery found, and what it couldn't tell.
    alive
        The last moment at which the server was known to be well.
    sick
        Why it isn't now, "" if it is.
    """
    readable = [entry for entry in reflectors if entry.synced and not entry.refusal and not entry.absent]
    ages = {entry: max(0.0, now - entry.as_of(alive)) for entry in readable}
    missing: dict[str, Unreadable] = {kind: Unreadable(kind, reason) for (_, kind), reason in served.failed.items()}
    within: dict[str, set[str]] = {}
    for entry in readable:
        within.setdefault(entry.target.read.kind, set()).add(entry.target.namespace)
    told = {kind: tuple(name for name in namespaces if name in found) for kind, found in within.items()}
    for entry in reflectors:
        kind = entry.target.read.kind
        if entry.absent:
            continue
        if entry.refusal:
            kept = f"; shown as of {spoken(now - entry.as_of(alive))} ago" if entry.synced and entry.count else ""
            missing.setdefault(kind, Unreadable(kind, entry.refusal + kept, told.get(kind, ()), bool(kept), entry.said, entry.account))
        elif not entry.synced:
            reason = entry.trouble or f"not listed yet after {pace.first:.0f} s"
            missing.setdefault(kind, Unreadable(kind, reason, told.get(kind, ())))
    if namespaces:
        for kind in dict.fromkeys(entry.target.read.kind for entry in reflectors if entry.target.read.type in ELSEWHERE):
            reason = f"in {namespaces[0] if len(namespaces) == 1 else f'{len(namespaces)} namespaces'} only"
            missing.setdefault(
                kind, Unreadable(kind, reason, told.get(kind, ()), said=f"only {_some(namespaces, 'namespaces')} can be seen.")
            )
    notes = [*_age(ages, sick, pace)]
    if namespaces:
        notes.append(
            f"only {_some(namespaces, 'namespaces')} can be seen: pods and claims of others hold room and devices too, "
            "so a node may have less free than said here"
        )
    if served.note:
        notes.append(served.note)
    if abs(skew) > _SKEW:
        notes.append(
            f"this machine's clock is {spoken(abs(skew))} {'behind' if skew > 0 else 'ahead of'} the API server's; ages are by the server's"
        )
    notes.extend(_broken(reflectors))
    return Standing(
        now - max(ages.values()) if ages else None,
        tuple(entry for _, entry in sorted(missing.items())),
        tuple(notes),
    )


def _age(ages: Mapping[Reflector, float], sick: str, pace: Pace) -> Iterable[str]:
    """Why what is shown is old: the kinds that share a reason together."""
    old: dict[str, list[Reflector]] = {}
    for entry, age in ages.items():
        if age > pace.stale:
            old.setdefault(entry.trouble or sick or "it was read then", []).append(entry)
    for reason, entries in sorted(old.items(), key=lambda pair: -len(pair[1])):
        oldest = spoken(max(ages[entry] for entry in entries))
        names = sorted({entry.target.read.kind for entry in entries})
        if len(entries) == len(ages):
            yield f"the cluster is shown as of {oldest} ago: {reason}"
        else:
            yield f"{_some(names, 'kinds')} {'is' if len(names) == 1 else 'are'} {oldest} old: {reason}"


def _broken(reflectors: Iterable[Reflector]) -> Iterable[str]:
    by_kind: dict[str, dict[str, str]] = {}
    for entry in reflectors:
        if entry.broken:
            by_kind.setdefault(entry.target.read.kind, {}).update(entry.broken)
    for kind, broken in sorted(by_kind.items()):
        name, why = min(broken.items())
        many = f"1 {kind}" if len(broken) == 1 else f"{len(broken)} {kind} objects"
        yield f"{many} could not be read: {name[:120]}: {why}" + (", …" if len(broken) > 1 else "")


def _some(names: Sequence[str], what: str) -> str:
    shown = ", ".join(names[:_EXAMPLES])
    return shown if len(names) <= _EXAMPLES else f"{shown} and {len(names) - _EXAMPLES} more {what}"


def spoken(seconds: float) -> str:
    """A time span in its largest unit: 45s, 4m, 3h, 2d."""
    seconds = max(0.0, seconds)
    for unit, size in (("d", 86_400), ("h", 3600), ("m", 60)):
        if seconds >= 2 * size or (unit != "d" and seconds >= size):
            return f"{int(seconds // size)}{unit}"
    return f"{int(seconds)}s"
