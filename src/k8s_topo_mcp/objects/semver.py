"""Semantic versions as Kubernetes reads them in device attributes and in CEL.

Strict parsing follows github.com/blang/semver/v4 Parse, message by message; the tolerant form follows the
`normalizeAndParse` of k8s.io/apiserver/pkg/cel/library/semverlib.go, which is what `semver(text, true)` means in a
selector. Order is the precedence of SemVer 2.0: build metadata doesn't count.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

from .record import record

DIGITS = frozenset("0123456789")
ALPHANUMERIC = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-0123456789")
UINT64_MAX = 2**64 - 1

Identifier: TypeAlias = "tuple[int, int, str]"
"""A pre-release identifier in order of precedence: numbers (0, number, "") before words (1, 0, word)."""

_ESCAPES = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", '"': '\\"', "\\": "\\\\"}


def go_quoted(text: str) -> str:
    """Quote text as Go's `%q` does, which is how the real messages carry it."""
    return '"' + "".join(_quoted_rune(rune) for rune in text) + '"'


def _quoted_rune(rune: str) -> str:
    if rune in _ESCAPES:
        return _ESCAPES[rune]
    code = ord(rune)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that isn't UTF-8, as Python's surrogateescape keeps it
        return f"\\x{code - 0xDC00:02x}"
    if rune.isprintable():
        return rune
    if code < 0x20 or code == 0x7F:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


@record()
class SemVer:
    """A version. Equality, hash and order ignore build metadata; `str` keeps it."""

    major: int
    minor: int
    patch: int
    prerelease: tuple[Identifier, ...] = ()
    build: tuple[str, ...] = ()

    @staticmethod
    def parse(text: str) -> SemVer:
        """Parse strictly.

        Raises
        ------
        ValueError
            With the message of blang/semver's Parse.
        """
        return _parse(text)

    @staticmethod
    def parse_tolerant(text: str) -> SemVer:
        """Parse as `semver(text, true)`: a leading "v", missing minor or patch and leading zeros are allowed."""
        parts = text.removeprefix("v").split(".", 2)
        parts = [_without_leading_zeros(part) for part in parts]
        if len(parts) < 3:
            if "+" in parts[-1] or "-" in parts[-1]:
                raise ValueError("short version cannot contain PreRelease/Build meta data")
            parts += ["0"] * (3 - len(parts))
        return _parse(".".join(parts))

    @property
    def precedence(self) -> tuple[int, int, int, int, tuple[Identifier, ...]]:
        """The key that orders versions."""
        return (self.major, self.minor, self.patch, 0 if self.prerelease else 1, self.prerelease)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SemVer) and self.precedence == other.precedence

    def __hash__(self) -> int:
        return hash(self.precedence)

    def __lt__(self, other: SemVer) -> bool:
        return self.precedence < other.precedence

    def __le__(self, other: SemVer) -> bool:
        return self.precedence <= other.precedence

    def __gt__(self, other: SemVer) -> bool:
        return self.precedence > other.precedence

    def __ge__(self, other: SemVer) -> bool:
        return self.precedence >= other.precedence

    def __str__(self) -> str:
        text = f"{self.major}.{self.minor}.{self.patch}"
        if self.prerelease:
            text += "-" + ".".join(word if kind else str(number) for kind, number, word in self.prerelease)
        if self.build:
            text += "+" + ".".join(self.build)
        return text


def _without_leading_zeros(part: str) -> str:
    if len(part) <= 1 and part.isascii():  # Go counts bytes
        return part
    stripped = part.lstrip("0")
    return stripped if stripped and stripped[0] in DIGITS else "0" + stripped


@lru_cache(maxsize=8192)
def _parse(text: str) -> SemVer:
    if not text:
        raise ValueError("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise ValueError("No Major.Minor.Patch elements found")
    major = _number("major", parts[0])
    minor = _number("minor", parts[1])
    rest, has_build, build_text = parts[2].partition("+")
    patch_text, has_prerelease, prerelease_text = rest.partition("-")
    patch = _number("patch", patch_text)
    prerelease = tuple(_identifier(word) for word in prerelease_text.split(".")) if has_prerelease else ()
    build = tuple(build_text.split(".")) if has_build else ()
    for word in build:
        if not word:
            raise ValueError("Build meta data is empty")
        if not ALPHANUMERIC.issuperset(word):
            raise ValueError(f"Invalid character(s) found in build meta data {go_quoted(word)}")
    return SemVer(major, minor, patch, prerelease, build)


def _number(what: str, text: str) -> int:
    if not DIGITS.issuperset(text):
        raise ValueError(f"Invalid character(s) found in {what} number {go_quoted(text)}")
    if len(text) > 1 and text[0] == "0":
        raise ValueError(f"{what.capitalize()} number must not contain leading zeroes {go_quoted(text)}")
    return _uint64(text)


def _identifier(text: str) -> Identifier:
    if not text:
        raise ValueError("Prerelease is empty")
    if DIGITS.issuperset(text):
        if len(text) > 1 and text[0] == "0":
            raise ValueError(f"Numeric PreRelease version must not contain leading zeroes {go_quoted(text)}")
        return (0, _uint64(text), "")
    if ALPHANUMERIC.issuperset(text):
        return (1, 0, text)
    raise ValueError(f"Invalid character(s) found in prerelease {go_quoted(text)}")


def _uint64(text: str) -> int:
    if not text:
        raise ValueError(f"strconv.ParseUint: parsing {go_quoted(text)}: invalid syntax")
    if len(text) > 20 or int(text) > UINT64_MAX:
        raise ValueError(f"strconv.ParseUint: parsing {go_quoted(text)}: value out of range")
    return int(text)
