"""How old something is at the moment of a view."""

from __future__ import annotations

from ..view import ClusterView


def seconds_since(moment: float | None, now: float) -> float | None:
    """Seconds from a moment to now, never less than 0; None where one of the two isn't known."""
    return None if moment is None or not now else max(0.0, now - moment)


def age_text(view: ClusterView, moment: float | None) -> str:
    """The age in whole seconds, as findings carry it; "" where it isn't known."""
    age = seconds_since(moment, view.now)
    return "" if age is None else str(int(age))
