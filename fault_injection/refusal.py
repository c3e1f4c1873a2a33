"""What a command can't do is one line on stderr."""

from __future__ import annotations

import sys


def refuse(command: str, why: str) -> int:
    """Say why; the exit status for it."""
    sys.stderr.write(f"{command}: {why}\n")
    return 1
