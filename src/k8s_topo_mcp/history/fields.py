"""Differences of single fields, and their values as short text: one line, bounded, with nothing hidden in it.

Changes are kept for days and read by models, so a value is cut and stripped here, before anything stores or shows it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from ..objects import Condition, Quantity
from ..view.past import Effect

VALUE = 200
"""Characters of a value."""
FIELD = 160
"""Characters of a field path."""
NAMES = 8
"""Names in a list before the rest is counted."""

_ESCAPE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?")


class Difference(NamedTuple):
    """One field that isn't the same; `about` as in FieldChange."""

    field: str
    old: str | None
    new: str | None
    effect: Effect
    about: str = ""


def text(value: object, limit: int = VALUE) -> str:
    """Any value as one bounded line without characters that show nothing."""
    raw = value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)
    if len(raw) <= limit and raw.isprintable() and "  " not in raw and raw == raw.strip():
        return raw
    raw = _ESCAPE.sub("", raw[: 4 * limit + 64])
    line = " ".join("".join(char if char.isprintable() else " " if char.isspace() else "" for char in raw).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def names(items: Collection[str], most: int = NAMES) -> str:
    """`a, b and 6 more`, in the order given."""
    shown = [text(item, 63) for item in list(items)[:most]]
    rest = len(items) - len(shown)
    return text(", ".join(shown) + (f" and {rest} more" if rest else ""), 4 * VALUE)


def at_key(path: str, key: str) -> str:
    """`path[key]`."""
    return f"{path}[{text(key, FIELD - len(path) - 2)}]"


def value(path: str, old: object, new: object, effect: Effect = Effect.OTHER) -> Iterator[Difference]:
    """One plain value. None and "" are both "nothing there"."""
    if old != new:
        yield Difference(path, _shown(old), _shown(new), effect)


def _shown(given: object) -> str | None:
    return None if given is None or given == "" or given == () else text(given)


def entries(path: str, old: Mapping[str, object], new: Mapping[str, object], effect: Effect = Effect.OTHER) -> Iterator[Difference]:
    """Each key of two objects of plain values (labels)."""
    if old is new:
        return
    for key in sorted({*old, *new}):
        yield from value(at_key(path, key), old.get(key), new.get(key), effect)


def amounts(path: str, old: Mapping[str, Quantity], new: Mapping[str, Quantity], *, more: Effect = Effect.MORE) -> Iterator[Difference]:
    """Each key of two objects of quantities; less of one is LESS, more of it `more`."""
    if old is new:
        return
    for key in sorted({*old, *new}):
        before, after = old.get(key), new.get(key)
        if before != after:
            less = after is None or (before is not None and after < before)
            yield Difference(at_key(path, key), _shown(before), _shown(after), Effect.LESS if less else more)


def came_and_went(path: str, old: Iterable[str], new: Iterable[str], came: Effect, went: Effect) -> Iterator[Difference]:
    """Members of a set: one difference for all that went, one for all that came."""
    before, after = dict.fromkeys(old), dict.fromkeys(new)
    if gone := [item for item in before if item not in after]:
        yield Difference(path, names(gone), None, went)
    if added := [item for item in after if item not in before]:
        yield Difference(path, None, names(added), came)


def conditions(
    path: str,
    old: tuple[Condition, ...],
    new: tuple[Condition, ...],
    good: Collection[str] = (),
    bad: Collection[str] = (),
    only: Collection[str] | None = None,
) -> Iterator[Difference]:
    """
    Conditions by type, with their reasons; messages and heartbeats don't count.

    Parameters
    ----------
    good, bad
        Types that are well, or wrong, when True: they tell MORE from LESS. Others are notes.
    only
        The types that are looked at; None: all.
    """
    if old is new:
        return
    before = {entry.type: entry for entry in old if only is None or entry.type in only}
    after = {entry.type: entry for entry in new if only is None or entry.type in only}
    for kind in sorted({*before, *after}):
        was, now = before.get(kind), after.get(kind)
        if (was and (was.status, was.reason)) == (now and (now.status, now.reason)):
            continue
        yield Difference(at_key(path, kind), condition_text(was), condition_text(now), condition_effect(kind, was, now, good, bad))


def condition_text(entry: Condition | None) -> str | None:
    """`False (KubeletNotReady)`."""
    if entry is None:
        return None
    return text(f"{entry.status} ({entry.reason})" if entry.reason else entry.status)


def condition_effect(kind: str, was: Condition | None, now: Condition | None, good: Collection[str], bad: Collection[str]) -> Effect:
    """Whether a condition's change takes or gives."""
    if kind in good:
        holds, held = now is not None and now.holds, was is not None and was.holds
    elif kind in bad:
        holds, held = now is None or now.status == "False", was is None or was.status == "False"
    else:
        return Effect.NOTE
    if was is None and holds:
        return Effect.NOTE  # well from the start
    return Effect.NOTE if holds == held and was is not None else Effect.MORE if holds else Effect.LESS
