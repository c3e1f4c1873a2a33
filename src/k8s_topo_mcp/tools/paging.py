"""More of a long answer: a cursor says where to go on, and for which question on which state of the cluster.

A cursor holds a position and a fingerprint of tool, arguments and view. A list that changed between two pages would leave gaps
or repeat itself in silence, so a cursor of another state is refused.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from k8s_topo_mcp.tools.errors import StaleCursor
from k8s_topo_mcp.tools.models import Arguments

if TYPE_CHECKING:
    from k8s_topo_mcp.view import ClusterView

T = TypeVar("T")


def page(view: ClusterView, tool: str, question: Arguments, items: Sequence[T], size: int) -> tuple[Sequence[T], str | None]:
    """
    The part of `items` that the question's cursor points to, at most `size` long.

    Returns
    -------
    (part, cursor)
        The cursor of the next part, or None at the end.

    Raises
    ------
    StaleCursor
        The cursor wasn't given out for this question and this state of the cluster.
    """
    start = position(view, tool, question)
    end = start + size
    return items[start:end], cursor(view, tool, question, end) if end < len(items) else None


def position(view: ClusterView, tool: str, question: Arguments) -> int:
    """Where the question's cursor points: 0 without one."""
    given: str | None = getattr(question, "cursor", None)
    if not given:
        return 0
    try:
        mark, start = json.loads(base64.urlsafe_b64decode(given + "=" * (-len(given) % 4)))
    except (ValueError, TypeError, binascii.Error):
        raise StaleCursor(f"cursor {given[:24]!r} is not one that {tool} gave out. Call {tool} again without cursor.") from None
    if mark != _fingerprint(view, tool, question) or type(start) is not int or start < 0:
        raise StaleCursor(
            "cursor belongs to other arguments or to an earlier state of the cluster. "
            f"Call {tool} again without cursor, or with the arguments of the call that gave it."
        )
    return start


def cursor(view: ClusterView, tool: str, question: Arguments, start: int) -> str:
    """The cursor of the part that begins at `start`."""
    text = json.dumps([_fingerprint(view, tool, question), start], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where a list that grows at one end goes on: what was known at `until`, from `start`; `mark` tells the item before that."""

    until: float
    start: int
    mark: str

    def written(self, tool: str, question: Arguments) -> str:
        """The cursor."""
        text = json.dumps([_question(tool, question), self.until, self.start, self.mark], separators=(",", ":"))
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def mark(item: object) -> str:
    """A short sign of an item, by its `repr`."""
    return hashlib.blake2s(repr(item).encode(), digest_size=4).hexdigest()


def anchor(tool: str, question: Arguments) -> Anchor | None:
    """Where the question's cursor points, of lists whose past doesn't change while new items come; None without a cursor."""
    given: str | None = getattr(question, "cursor", None)
    if not given:
        return None
    try:
        asked, until, start, sign = json.loads(base64.urlsafe_b64decode(given + "=" * (-len(given) % 4)))
    except (ValueError, TypeError, binascii.Error):
        raise StaleCursor(f"cursor {given[:24]!r} is not one that {tool} gave out. Call {tool} again without cursor.") from None
    if asked != _question(tool, question) or type(until) is not float or type(start) is not int or start < 1 or type(sign) is not str:
        raise StaleCursor(
            f"cursor belongs to other arguments. Call {tool} again without cursor, or with the arguments of the call that gave it."
        )
    return Anchor(until, start, sign)


def _question(tool: str, question: Arguments) -> str:
    asked = question.model_dump_json(exclude={"cursor"}, exclude_defaults=True)
    return hashlib.blake2s(repr((tool, asked)).encode(), digest_size=6).hexdigest()


def _fingerprint(view: ClusterView, tool: str, question: Arguments) -> str:
    asked = question.model_dump_json(exclude={"cursor"}, exclude_defaults=True)
    counts = sorted((kind.__name__, view.count(kind)) for kind in view.kinds)
    state = (view.source, view.now, str(view.release), counts)
    return hashlib.blake2s(repr((state, tool, asked)).encode(), digest_size=6).hexdigest()
