"""Exit statuses, and how an error ends a command: one line on stderr."""

from __future__ import annotations

import sys

ANSWERED = 0
BAD_INPUT = 2
BLOCKED = 3
SOURCE_UNREADABLE = 4
ANSWERED_IN_PART = 5
INTERRUPTED = 130


def refuse(message: str, status: int = BAD_INPUT) -> int:
    """Print the error and hand back the status."""
    if sys.stdout is not None:  # pyright: ignore[reportUnnecessaryComparison] - None where the process was started without one
        sys.stdout.flush()
    print(f"error: {message}", file=sys.stderr)
    return status
