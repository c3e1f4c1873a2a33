"""A program that is started for an attempt and read line by line; it is ended, with what it started, when the time is over."""

from __future__ import annotations

import codecs
import contextlib
import fcntl
import io
import os
import queue
import select
import signal
import struct
import subprocess
import termios
import threading
import time  # noqa: TID251 - attempts are timed
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from evals.tasks import STOPPING

GRACE = 3.0
"""Seconds from the polite signal to the other one."""
LAST = 1.0
"""Seconds for which lines are still awaited once a program has ended; what it left running may hold the pipe open for ever. What is in the
pipe by then is heard, however late it is read."""
LOOK = 0.05
"""Seconds between two looks at whether the program has ended, or its time."""
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
            start_new_session=True,
        )
    lines: queue.Queue[str | None] = queue.Queue()
    enough = threading.Event()
    threading.Thread(target=_give, args=(child, given), daemon=True).start()
    threading.Thread(target=_take, args=(child, enough, lines), daemon=True).start()
    ended: tuple[float, float] | None = None  # by the monotonic clock, and by the attempt's
    over = False
    written = 0
    try:
        while True:
            now = time.monotonic()
            if ended is None and child.poll() is not None:
                ended = now, clock()
            over = ended is None and (clock() >= seconds or STOPPING.is_set())
            if over:
                break
            if ended is not None and now - ended[0] >= LAST:
                enough.set()
            try:
                line = lines.get(timeout=LOOK)
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
        enough.set()
        _end(child)
    told = errors.read_bytes()[-2000:].decode("utf-8", "replace").strip()
    return (None if over else child.returncode), told, ended[1] if ended is not None else clock()


def _give(child: subprocess.Popen[bytes], given: str) -> None:
    with contextlib.suppress(OSError, ValueError):
        if child.stdin is not None:
            child.stdin.write(given.encode("utf-8", "replace"))
            child.stdin.close()


def _take(child: subprocess.Popen[bytes], enough: threading.Event, lines: queue.Queue[str | None]) -> None:
    """Put each line of stdout into `lines`, and None at the end: that of the pipe, or when it is `enough` that of what is in it."""
    with contextlib.suppress(OSError, ValueError):
        if child.stdout is not None:
            text = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder("utf-8")("replace"), translate=True)
            line: list[str] = []
            for piece in _pieces(child.stdout.fileno(), enough):
                first, *more = text.decode(piece).split("\n")
                line.append(first)
                for part in more:
                    lines.put("".join(line) + "\n")
                    line = [part]
            line.append(text.decode(b"", final=True))
            if any(line):
                lines.put("".join(line))
    lines.put(None)


def _pieces(pipe: int, enough: threading.Event) -> Iterator[bytes]:
    """What comes out of a pipe until its end; once it is `enough`, what is in it at that moment and no more: a writer may have no end."""
    ready = select.poll()
    ready.register(pipe, select.POLLIN)
    while not enough.is_set():
        if ready.poll(LOOK * 1000):
            piece = os.read(pipe, 1 << 16)
            if not piece:
                return
            yield piece
    left = struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]
    while left > 0 and (piece := os.read(pipe, left)):
        left -= len(piece)
        yield piece


def _end(child: subprocess.Popen[bytes]) -> None:
    """End the program's whole group by its own id; what has ended already is passed over."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(GRACE)
            if number is signal.SIGTERM:
                continue
            return
