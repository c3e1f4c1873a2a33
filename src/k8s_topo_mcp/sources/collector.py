"""Python's garbage collector beside a large cluster that stays in memory."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager
from threading import Lock

THRESHOLDS = (50_000, 20, 50)
"""An answer makes hundreds of thousands of short-lived objects, nearly none of them in cycles: with the defaults (700, 10, 10) looking for
cycles takes a fifth to a third of its time (`python -m benchmarks.triage --default-collector`)."""


def settle() -> None:
    """Keep the collector off what is there now, which lives as long as the process, and let it look less often at what comes."""
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)


_lock = Lock()
_resting: list[bool] = []
"""Who rests it now, each with whether it was on before."""


@contextmanager
def resting() -> Generator[None]:
    """The collector is off until the last of those who want it so has left; as it was before, afterwards.

    For a time that is bounded, in which nearly all that is made stays: a cluster being read, and what the first answers keep of it.
    """
    with _lock:
        _resting.append(gc.isenabled())
        gc.disable()
    try:
        yield
    finally:
        with _lock:
            was_on = _resting.pop(0)
            if _resting:
                _resting[0] = _resting[0] or was_on
            elif was_on:
                gc.enable()
