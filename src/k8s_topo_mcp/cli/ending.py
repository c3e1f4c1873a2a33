"""Signals that end the process at once, whatever its threads are doing."""

from __future__ import annotations

import os
import signal
import socket
import threading

ENDING = (signal.SIGINT, signal.SIGTERM)


def end_at_signals() -> None:
    """From here on SIGINT and SIGTERM end the process with 128 plus the signal's number, and nothing is cleaned up.

    Python runs a handler in the main thread, when that gets to it: one that waits in a system call may never, if the signal came to
    another thread or a moment before the wait. And the thread that waits for a line of stdin can't be woken, so an orderly end would
    hang until the next line. So a thread waits for the byte that is written the moment the signal arrives, by whichever thread
    (https://docs.python.org/3/library/signal.html#signal.set_wakeup_fd). A handler at all, because a container's first process gets no
    default ones. To be called in the main thread.
    """
    told, tells = socket.socketpair()
    tells.setblocking(False)
    signal.set_wakeup_fd(tells.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=_wait, args=(told, tells), name="signals", daemon=True).start()
    for number in ENDING:
        signal.signal(number, lambda received, _frame: _end(received))


def _wait(told: socket.socket, _tells: socket.socket) -> None:
    """Also keeps the other socket open."""
    while True:
        for number in told.recv(1):
            if number in ENDING:
                _end(number)


def _end(number: int) -> None:
    os._exit(128 + number)
