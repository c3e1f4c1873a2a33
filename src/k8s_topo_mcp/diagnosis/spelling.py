"""Whether a name is another one misspelt: word by word at most one slip, and no word or number more, less or another.

gpu-h100 isn't gpu-l4 misspelt, and gpu isn't tpu: such names are of other things, however many letters they share.
"""

from __future__ import annotations

import re

_WORDS = re.compile(r"[-_.]+")
_NUMBERS = re.compile(r"\d+")
LONG = 4
"""From so many letters on another letter in one place is a slip; in shorter words it makes another word of the trade (gpu, tpu, npu)."""


def words_of(name: str) -> tuple[str, ...]:
    """The words of a name, its labels taken apart too."""
    return tuple(_WORDS.split(name))


def misspelt(first: str, second: str) -> bool:
    """Whether each word of one name is the same in the other, or but for one slip."""
    words, others = words_of(first), words_of(second)
    return len(words) == len(others) and all(map(_one_slip, words, others))


def _one_slip(first: str, second: str) -> bool:
    """At most one letter more or less, two neighbours swapped, or in a long word another letter; the same numbers."""
    if first == second:
        return True
    if _NUMBERS.findall(first) != _NUMBERS.findall(second):
        return False
    short, long = sorted((first, second), key=len)
    start = next((place for place, (one, other) in enumerate(zip(short, long, strict=False)) if one != other), len(short))
    if len(short) < len(long):
        return short[start:] == long[start + 1 :]
    if short[start + 2 :] == long[start + 2 :] and short[start : start + 2] == long[start : start + 2][::-1]:
        return True
    return len(short) >= LONG and short[start + 1 :] == long[start + 1 :]
