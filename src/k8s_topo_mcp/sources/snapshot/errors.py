"""The one error of snapshot reading."""

from __future__ import annotations

from ..source import SourceError


class SnapshotError(SourceError):
    """A snapshot that can't be read."""


class NotWritten(SnapshotError):
    """The place that was named for a file can't take it."""


class NoTable(SnapshotError):
    """The file that was named as a table of aliases isn't one, or can't be kept."""


def excerpt(value: object, limit: int = 60) -> str:
    """A value from a file, quoted and short enough for an error."""
    shown = repr(value)
    return shown if len(shown) <= limit else shown[: limit - 2] + "…" + shown[0]
