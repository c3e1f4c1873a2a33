"""A program that is started for an attempt and read line by line; it is ended, with what it started, when the time is over."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import threading
import time  # noqa: TID251 - attempts are timed
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from evals.tasks import STOPPING

GRACE = 3.0
"""Seconds from the polite signal to the other one."""
LAST = 1.0
"""Seconds in which the last lines of a program that has ended must come; what it left running may hold the pipe open for ever."""
MOST = 50_000_000
"""Characters that a program may write before it is ended."""


class TooMuch(Exception):
    """A program wrote without end."""


def run(
    command: Sequence[str],
    given: str,
    home: Path,
    environment: Mapping[str, str],
    seconds: float,
    clock: Callable[[], float],
    heard: Callable[[str], None],
) -> tuple[int | None, str, float]:
    """Give it `given` on stdin and hear its lines of stdout. Gives the exit status (None: the time was over), the end of stderr, and when
    it ended by `clock`: the attempt's, which may be set back to its start once the question is asked. The program is a group of its own,
    so that nothing of the group outlives it. Raises OSError if it can't be started, TooMuch.
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
    lines: queue.Queue[str | None] = queue.Queue()
    for work in (_give, _take):
        threading.Thread(target=work, args=(child, given, lines), daemon=True).start()
    ended: tuple[float, float] | None = None  # by the monotonic clock, and by the attempt's
    over = False
    written = 0
    try:
        while True:
            now = time.monotonic()
            if ended is None and child.poll() is not None:
                ended = now, clock()
            over = ended is None and (clock() >= seconds or STOPPING.is_set())
            if over or (ended is not None and now - ended[0] >= LAST):
                break
            try:
                line = lines.get(timeout=0.05)
            except queue.Empty:
                continue
            if line is None:  # the pipe is closed
                if ended is None:
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        child.wait(max(0.0, seconds - clock()))
                    ended = (time.monotonic(), clock()) if child.poll() is not None else None
                    over = ended is None
                break
            written += len(line)
            if written > MOST:
                raise TooMuch(f"more than {MOST} characters on stdout")
            heard(line)
    finally:
        _end(child)
    told = errors.read_bytes()[-2000:].decode("utf-8", "replace").strip()
    return (None if over else child.returncode), told, ended[1] if ended is not None else clock()


def _give(child: subprocess.Popen[str], given: str, lines: queue.Queue[str | None]) -> None:
    with contextlib.suppress(OSError, ValueError):
        if child.stdin is not None:
            child.stdin.write(given)
            child.stdin.close()


def _take(child: subprocess.Popen[str], given: str, lines: queue.Queue[str | None]) -> None:
    with contextlib.suppress(OSError, ValueError):
        if child.stdout is not None:
            for line in child.stdout:
                lines.put(line)
    lines.put(None)


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
