"""Whether the holder of a Lease was alive when Leases were read.

A Lease is judged against the youngest renewal of any Lease of the same list, as a large snapshot may be older than its own clock.
"""

from __future__ import annotations

from ..objects import Lease
from . import ClusterView

SLACK = 60.0
"""Seconds that a renewal may lie back beyond the Lease's own duration: lists take time, clocks differ."""


def is_live(view: ClusterView, held: Lease) -> bool:
    """Whether somebody held the Lease when it was read."""
    if not held.holder or held.renewed is None:
        return False
    return read_at(view) <= held.renewed + (held.duration_seconds or 15) + SLACK


def _newest(leases: tuple[Lease, ...]) -> float:
    return max((entry.renewed for entry in leases if entry.renewed is not None), default=0.0)


def read_at(view: ClusterView) -> float:
    """When Leases were read: the youngest renewal; the view's own moment where there is but one Lease, or none."""
    return view.shared(Lease, _newest) if view.count(Lease) > 1 else view.now
