"""Where answers are printed: stdout that may be closed, full, or read by somebody who has left."""

from __future__ import annotations

import io
import os
import sys


def prepare() -> None:
    """Make both streams take any text. A process that was started without stdout gets one that refuses what is written."""
    # Opened in this order, so that no other file takes the numbers of the two.
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison] - None where the process was started without one
        sys.stdout = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison]
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # Names and messages of a cluster can hold any character; a terminal of another encoding must not stop the answer.
            stream.reconfigure(errors="backslashreplace")  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]


def is_lost() -> bool:
    """Whether stdout is what failed: the end of a line can't be written either. (What failed is no longer held by the stream.)"""
    try:
        sys.stdout.write("\n")
        sys.stdout.flush()
    except OSError:
        return True
    return False


def give_up() -> None:
    """Let stdout lead nowhere: Python would complain once more while closing it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def why(error: OSError) -> str:
    """In words."""
    return "stdout is closed" if isinstance(error, io.UnsupportedOperation) else (error.strerror or str(error))
