"""A program that is started for an attempt and read line by line; it is ended, with what it started, when the time is over."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

GRACE = 3.0
"""Seconds from the polite signal to the other one."""
MOST = 50_000_000
"""Characters that a program may write before it is ended."""


class TooMuch(Exception):
    """A program wrote without end."""


def run(
    command: Sequence[str], given: str, home: Path, environment: Mapping[str, str], seconds: float, heard: Callable[[str], None]
) -> tuple[int | None, str]:
    """Give it `given` on stdin and hear its lines of stdout. Gives the exit status (None: the time was over) and the end of stderr. The
    program is a group of its own, so that nothing of it outlives it. Raises OSError if it can't be started, TooMuch.
    """
    errors = home / "stderr.log"
    with errors.open("wb") as aside:
        child = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=aside,
            cwd=home,
            env=dict(environment),
            text=True,
            errors="replace",
            start_new_session=True,
        )
        over = threading.Event()

        def stop() -> None:
            over.set()
            _end(child)

        timer = threading.Timer(seconds, stop)
        timer.start()
        written = 0
        try:
            assert child.stdout is not None
            writer = threading.Thread(target=_give, args=(child, given), daemon=True)
            writer.start()
            for line in child.stdout:
                written += len(line)
                if written > MOST:
                    raise TooMuch(f"more than {MOST} characters on stdout")
                heard(line)
            child.wait()
        finally:
            timer.cancel()
            _end(child)
            if child.stdout is not None:
                child.stdout.close()
    told = errors.read_bytes()[-2000:].decode("utf-8", "replace").strip()
    return (None if over.is_set() else child.returncode), told


def _give(child: subprocess.Popen[str], given: str) -> None:
    assert child.stdin is not None
    with contextlib.suppress(OSError, ValueError):
        child.stdin.write(given)
        child.stdin.close()


def _end(child: subprocess.Popen[str]) -> None:
    """End the program's whole group by its own id; what has ended already is passed over."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(GRACE)
            if number is signal.SIGTERM:
                continue
            return
