"""Lists that stay short at any size: at most four examples and a count, or a range when that says the same in less."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

EXAMPLES = 4
_NUMBERED = re.compile(r"^(.*?)(\d{1,18})\Z", re.DOTALL)
_RANGE = re.compile(r"^(.*?)(\d{1,18})\.\.(\d{1,18})\Z", re.DOTALL)


def fold(items: Sequence[str], limit: int = EXAMPLES, *, total: int | None = None) -> str:
    """`a, b, c, d and 12 more`; `total` says how many there are when `items` are only the first of them."""
    count = len(items) if total is None else total
    shown = items[:limit]
    rest = count - len(shown)
    return ", ".join(shown) + (f" and {rest:,} more" if rest and shown else f"{rest:,}" if rest else "")


def fold_names(names: Sequence[str], limit: int = EXAMPLES) -> str:
    """Names in full where there are few, else as ranges where they are few, else examples and a count."""
    if len(names) <= limit:
        return ", ".join(names)
    compact = ranges(names)
    if len(compact) <= limit:
        return f"{', '.join(compact)} ({len(names):,})"
    return fold(names, limit)


def ranges(names: Sequence[str]) -> tuple[str, ...]:
    """
    Consecutive names as `gpu-0..127`. Lossless: `expand(ranges(names)) == tuple(names)`, whatever the names are.

    A run needs three names or more that differ by one in their last number, in the order given and with equal digits
    ("007" and "8" aren't neighbours). A name that looks like a range itself is never put beside one: then nothing is folded.
    """
    if any(_RANGE.match(name) for name in names):
        return tuple(names)
    folded: list[str] = []
    start = 0
    while start < len(names):
        end = start + 1
        while end < len(names) and _follows(names[end - 1], names[end]):
            end += 1
        if end - start >= 3:
            last = _NUMBERED.match(names[end - 1])
            folded.append(f"{names[start]}..{last[2] if last else ''}")
        else:
            folded.extend(names[start:end])
        start = end
    return tuple(folded)


def expand(folded: Iterable[str]) -> tuple[str, ...]:
    """The names that `ranges` made these from."""
    names: list[str] = []
    for item in folded:
        found = _RANGE.match(item)
        if not found or int(found[2]) > int(found[3]):
            names.append(item)
            continue
        stem, first, last = found.groups()
        width = len(first) if first.startswith("0") else 0
        names.extend(f"{stem}{number:0{width}d}" for number in range(int(first), int(last) + 1))
    return tuple(names)


def _follows(left: str, right: str) -> bool:
    one, other = _NUMBERED.match(left), _NUMBERED.match(right)
    if not one or not other or one[1] != other[1] or not (one[2] + other[2]).isascii():
        return False
    padded = one[2].startswith("0") and len(one[2]) > 1
    if padded and len(one[2]) != len(other[2]):
        return False
    return str(int(other[2])).rjust(len(one[2]) if padded else 0, "0") == other[2] and int(other[2]) == int(one[2]) + 1


def plural(count: int, noun: str, many: str | None = None) -> str:
    """`1 pod`, `2 pods`, `1,024 nodes`."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"
