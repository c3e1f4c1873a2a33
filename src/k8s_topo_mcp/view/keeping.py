"""Stores of a bounded size, which several threads may use at once."""

from __future__ import annotations

from typing import Any


def make_room(kept: dict[Any, Any], most: int) -> None:
    """Take out what was put in longest ago, until at most `most` are left.

    Names are listed in one step: a dict that another thread changes can't be walked, and may be empty when its first name is asked for.
    """
    for oldest in tuple(kept)[: max(0, len(kept) - most)]:
        kept.pop(oldest, None)
