"""What a caller can get wrong: each error is one line that says what, where, and the right form.

The message is all that most clients show to a model, so it stands alone.
"""

from __future__ import annotations


class ToolInputError(ValueError):
    """The caller's question can't be answered as asked. Exit status 2 on the command line."""


class UnknownTool(ToolInputError):
    """There is no tool of that name."""


class NotFound(ToolInputError):
    """The named object isn't in what was read."""


class NotReadable(NotFound):
    """The named object, or all of its kind, isn't known because it may not be read. Says which rule is missing."""


class Ambiguous(ToolInputError):
    """The name fits several objects."""


class StaleCursor(ToolInputError):
    """The cursor belongs to another question, or to a cluster state that is no longer held."""
