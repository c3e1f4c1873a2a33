"""Python's garbage collector beside a large cluster that stays in memory."""

from __future__ import annotations

import gc

THRESHOLDS = (50_000, 20, 50)
"""An answer makes hundreds of thousands of short-lived objects, nearly none of them in cycles: with the defaults (700, 10, 10) looking for
cycles takes a fifth to a third of its time (`python -m benchmarks.triage --default-collector`)."""


def settle() -> None:
    """Keep the collector off what is there now, which lives as long as the process, and let it look less often at what comes."""
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
