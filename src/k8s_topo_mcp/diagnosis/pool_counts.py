"""How many slices the slices of a pool say it has: a driver that hasn't published all of them yet, or slices that contradict each other.

Every slice of a pool's generation carries the pool's number of slices (k8s.io/api resource/v1 ResourcePool.resourceSliceCount). Where they
differ, or where there are more than they say, no further slice makes the pool complete.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from ..dra.pools import Pool
from ..view import Replace
from .report import Change


def slice_counts(pool: Pool) -> str:
    """What the slices of an incomplete pool say, if they contradict each other or what is there; else ""."""
    if pool.state != "incomplete":
        return ""
    said = Counter(entry.slice_count for entry in (*pool.slices, *pool.elsewhere))
    if len(said) < 2 and pool.seen <= pool.announced:
        return ""
    each = ", ".join(f"{number} of them say{'s' if number == 1 else ''} {count}" for count, number in sorted(said.items()))
    return f"there are {pool.seen} slices of generation {pool.generation}; {each}"


def published_whole(pool: Pool) -> Iterator[Change]:
    """The pool with the slices that are there, as if they were all of it: only where they contradict each other. What is in slices that are
    still to come isn't known, and their driver publishes them by itself."""
    slices = (*pool.slices, *pool.elsewhere)
    if not slice_counts(pool) or len(slices) != pool.seen:
        return
    counts = ", ".join(str(count) for count in sorted({entry.slice_count for entry in slices}))
    edits = tuple(Replace(replace(entry, slice_count=pool.seen)) for entry in slices)
    how = f"its driver has to publish pool {pool} anew: look at the driver's pod there, or restart it"
    whole = f"resourceSliceCount {counts} → {pool.seen}"
    text = f"pool {pool} complete with its present devices ({whole})"
    about = slices[0].ref if len(slices) == 1 else None
    objects = () if about is not None else tuple(entry.ref for entry in slices)
    yield Change(text, about, "spec.pool.resourceSliceCount", counts, str(pool.seen), edits, True, how, objects=objects)
