"""Progress for a person who waits: on stderr, only when that is a terminal, and gone when the answer comes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

_WORTH_SAYING = 4_000_000
"""Bytes. What is smaller is read before anybody could look."""

ProgressTo = Callable[[str, int, int], None]


@contextmanager
def on_terminal() -> Generator[ProgressTo | None]:
    """A function that shows (what is read, bytes done, bytes in all or 0), or None where nobody watches."""
    if not sys.stderr.isatty():
        yield None
        return

    def show(what: str, done: int, total: int) -> None:
        if max(done, total) < _WORTH_SAYING:
            return
        share = f" of {total / 1e6:.0f}" if total else ""
        sys.stderr.write(f"\r\x1b[Kreading {what[:60]}: {done / 1e6:.0f}{share} MB")
        sys.stderr.flush()

    try:
        yield show
    finally:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()
