"""A journal that can't be used as asked."""

from __future__ import annotations

from ..source import SourceError


class JournalError(SourceError):
    """The file is not what was meant. One line: which, what is wrong, what would be right."""
