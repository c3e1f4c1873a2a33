"""Commands that stay until they are told to end."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable

LOOK = 0.2
"""Seconds between two looks. Without looks, a signal that comes to another thread, or a moment before the wait, would wake nobody."""


def told_to_end(*also: signal.Signals) -> threading.Event:
    """An event that is set by SIGTERM, SIGINT and `also` from here on, instead of what they did. To be called in the main thread."""
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT, *also):
        signal.signal(number, lambda *_: stopping.set())
    return stopping


def until_told(stopping: threading.Event, still: Callable[[], bool] = lambda: True) -> None:
    """Wait for `stopping`, as long as `still` holds."""
    while not stopping.wait(LOOK) and still():
        pass
