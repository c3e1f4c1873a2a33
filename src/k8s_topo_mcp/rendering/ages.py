"""Durations as people say them: 12 s, 14 min, 3 h, 6 d. Whole units, rounded down: an age never looks older than it is."""

from __future__ import annotations

from datetime import UTC, datetime


def age(seconds: float) -> str:
    """Compact, for columns: `12s`, `41m`, `3h`, `6d`. A negative age (clocks differ) reads as `0s`."""
    whole = max(0, int(seconds))
    if whole < 120:
        return f"{whole}s"
    if whole < 2 * 3600:
        return f"{whole // 60}m"
    if whole < 2 * 86400:
        return f"{whole // 3600}h"
    return f"{whole // 86400:,}d"


def ago(seconds: float) -> str:
    """For sentences: `12 s ago`, `14 min ago`, `3 h ago`, `6 days ago`."""
    compact = age(seconds)
    unit = {"s": "s", "m": "min", "h": "h", "d": "days"}[compact[-1]]
    return f"{compact[:-1]} {unit} ago"


def moment(timestamp: float) -> str:
    """Seconds since the epoch to the minute, in UTC: `2026-11-29T17:53Z`."""
    return datetime.fromtimestamp(timestamp, UTC).strftime("%Y-%m-%dT%H:%MZ")
