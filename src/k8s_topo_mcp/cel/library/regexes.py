"""Regular expressions: RE2, as Go has it, so that no pattern takes more than linear time.

`matches` is the standard function; `find` and `findAll` are Kubernetes' (apiserver/pkg/cel/library/regex.go).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import re2  # pyright: ignore[reportMissingTypeStubs]

from k8s_topo_mcp.cel import cost
from k8s_topo_mcp.cel.errors import CelError, no_such_overload
from k8s_topo_mcp.cel.library.declaration import Function, function, member, overload
from k8s_topo_mcp.cel.types import BOOL, INT, STRING, list_of
from k8s_topo_mcp.cel.values import Value, mismatch

_TRANSLATED: Final = (
    ("missing ]: ", "missing closing ]"),
    ("missing ): ", "missing closing )"),
    ("unexpected ): ", "unexpected )"),
    ("no argument for repetition operator: ", "missing argument to repetition operator"),
    ("bad repetition operator: ", "invalid nested repetition operator"),
    ("invalid repetition size: ", "invalid repeat count"),
    ("invalid perl operator: ", "invalid or unsupported Perl syntax"),
    ("invalid character class range: ", "invalid character class range"),
    ("invalid escape sequence: ", "invalid escape sequence"),
    ("trailing \\", "trailing backslash at end of expression"),
    ("invalid named capture group: ", "invalid named capture"),
    ("pattern too large", "expression too large"),
)


class Pattern:
    """A compiled pattern."""

    __slots__ = ("_compiled", "text")

    def __init__(self, text: str) -> None:
        options: Any = re2.Options()  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        options.log_errors = False
        self.text = text
        self._compiled: Any = re2.compile(text, options)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]

    def matches(self, subject: str) -> bool:
        return self._compiled.search(subject) is not None

    def find(self, subject: str) -> str:
        match = self._compiled.search(subject)
        return match.group() if match else ""

    def find_all(self, subject: str, limit: int) -> list[str]:
        """All matches that don't overlap; an empty match right after another isn't one."""
        found: list[str] = []
        position, last_end = 0, -1
        while position <= len(subject) and (limit < 0 or len(found) < limit):
            match = self._compiled.search(subject, position)
            if match is None:
                break
            start, end = match.span()
            if end > start or start != last_end:
                found.append(match.group())
                last_end = end
            position = end if end > position else position + 1
        return found


@lru_cache(maxsize=1024)
def _compiled(text: str) -> Pattern | str:
    try:
        return Pattern(text)
    except UnicodeError:
        return f"error parsing regexp: invalid UTF-8: `{text}`"
    except Exception as error:  # re2.error, whose type the package doesn't declare
        return _message(str(error), text)


def _message(message: str, text: str) -> str:
    message = message[2:-1] if message.startswith(("b'", 'b"')) else message
    message = message.replace("\\\\", "\\")
    for theirs, ours in _TRANSLATED:
        if message.startswith(theirs):
            rest = message[len(theirs) :]
            if theirs.startswith("missing )"):
                rest = text
            return f"error parsing regexp: {ours}: `{rest}`"
    return f"error parsing regexp: {message}"


def compiled(text: str) -> Pattern:
    """The pattern; raises CelError with Go's message."""
    pattern = _compiled(text)
    if isinstance(pattern, str):
        raise CelError(pattern, "regex")
    return pattern


@lru_cache(maxsize=8192)
def _matched(text: str, pattern: str) -> bool:
    return compiled(pattern).matches(text)


def matches(text: Value, pattern: Value) -> Value:
    if type(text) is not str:
        raise mismatch("matches", text)
    if type(pattern) is not str:
        raise no_such_overload()
    return _matched(text, pattern)


def _illegal(pattern: str) -> Pattern:
    try:
        return compiled(pattern)
    except CelError as error:
        raise CelError(f"Illegal regex: {error.message}", "regex") from None


def find(text: str, pattern: str) -> Value:
    return _illegal(pattern).find(text)


def find_all(text: str, pattern: str, limit: int = -1) -> Value:
    return _illegal(pattern).find_all(text, limit)


def standard_functions(recent: bool) -> tuple[Function, ...]:
    """cel-go before 0.29 forgot the cost of the global form."""
    return (
        function(
            "matches",
            overload("matches", (STRING, STRING), BOOL, cost=cost.regex if recent else None),
            member("matches_string", (STRING, STRING), BOOL, cost=cost.regex),
            implement=matches,
        ),
    )


FUNCTIONS: Final = (
    function("find", member("string_find_string", (STRING, STRING), STRING, find), cost=cost.regex),
    function(
        "findAll",
        member("string_find_all_string", (STRING, STRING), list_of(STRING), find_all),
        member("string_find_all_string_int", (STRING, STRING, INT), list_of(STRING), find_all),
        cost=cost.regex,
    ),
)
