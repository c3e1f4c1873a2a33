"""Quantities stay as their author wrote them; a size that is hard to read gets the nearest round form beside it."""

from __future__ import annotations

import re
from fractions import Fraction

_UNITS = (("Ei", 2**60), ("Pi", 2**50), ("Ti", 2**40), ("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10))
_LONG = re.compile(r"^\d{4,}(?:\.\d+)?[A-Za-z]*$")


def binary(amount: int | Fraction) -> str:
    """A number of bytes with one decimal at most, rounded down: `79.6Gi`. Rounded down, so that it never claims more than there is."""
    for unit, size in _UNITS:
        if amount >= size:
            tenths = int(Fraction(amount) * 10 / size)
            return f"{tenths // 10}{unit}" if tenths % 10 == 0 else f"{tenths // 10}.{tenths % 10}{unit}"
    return str(int(amount))


def readable(written: str, amount: int | Fraction) -> str:
    """`81559Mi (79.6Gi)`: the written form first; the second only where the first has four digits or more and they differ."""
    short = binary(amount)
    return f"{written} ({short})" if _LONG.match(written) and short != written else written
