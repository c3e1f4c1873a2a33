"""What can go wrong between us and an API server, and how text from there is made fit to be shown.

Messages of servers, credential plugins and proxies are foreign: one line, printable, bounded, and without anything that looks like a
secret.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import cast

LONGEST = 240
"""Characters of a foreign message that are kept."""

_HIDDEN = "***"
_SECRETS = (
    (re.compile(r"//[^/@\s]+@"), f"//{_HIDDEN}@"),
    (re.compile(r"eyJ[\w-]{6,}(?:\.[\w-]*){0,2}"), _HIDDEN),
    (re.compile(r"(?i)\b(bearer|basic)(\s+)[^\s\"',;}]{6,}"), rf"\1\2{_HIDDEN}"),
    (
        re.compile(r"(?i)\b((?:token|password|passwd|secret|api[_-]?key)\b[\"']?\s*(?:[:=]|\s)\s*[\"']?)[^\s\"',;}]{6,}"),
        rf"\1{_HIDDEN}",
    ),
    (re.compile(r"-----BEGIN[^-]*-----.*?(?:-----END[^-]*-----|\Z)", re.DOTALL), _HIDDEN),
    (re.compile(r"(?<![\w/.-])(?=[\w+=-]*\d)(?=[\w+=-]*[A-Za-z])[\w+=-]{32,}"), _HIDDEN),
)  # fmt: skip


def foreign(text: object, secrets: Iterable[str] = ()) -> str:
    """A message from outside, fit to be shown: without `secrets` and what looks like one, on one line, at most `LONGEST` characters."""
    line = str(text)[: 16 * LONGEST]
    for secret in secrets:
        if len(secret) >= 4:
            line = line.replace(secret, _HIDDEN)
    for pattern, instead in _SECRETS:
        line = pattern.sub(instead, line)
    line = "".join(char if char.isprintable() else " " for char in line)
    line = " ".join(line.split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"


def defect(error: BaseException) -> str:
    """Where one of our own defects showed, for the log: without its message, which may hold what must not be shown."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return type(error).__name__ + where


class WriteRefused(Exception):
    """A request that is no GET: it never leaves this process."""

    def __init__(self, method: str) -> None:
        super().__init__(f"{foreign(method)[:20]} refused: this process only reads, by GET")
        self.method = method


class PathRefused(Exception):
    """A GET for something that isn't read here. Not every GET is harmless: one on pods/exec starts a program, one on secrets shows them."""

    def __init__(self, path: str) -> None:
        super().__init__(f"GET {foreign(path)[:120]} refused: it is none of what is read here")
        self.path = path


class Unanswered(Exception):
    """No answer, or none that can be read: the server is away, slow, cut the connection, or isn't an API server."""


class Silent(Unanswered):
    """Nothing came for so long that the connection is taken for dead."""


class Refused(Exception):
    """The server answered, and said no. `status` is the HTTP status, `message` its own words, `retry_after` seconds or None."""

    def __init__(self, status: int, message: str = "", retry_after: float | None = None) -> None:
        super().__init__(f"{status}: {message}" if message else str(status))
        self.status = status
        self.message = message
        self.retry_after = retry_after


class Gone(Exception):
    """The resourceVersion to go on from is too old (410): everything has to be listed anew."""
