"""From the text of a literal to its value (cel-go's parser/unescape.go and the literal visitors)."""

from __future__ import annotations

import re

from k8s_topo_mcp.cel.values import INT64_MAX, INT64_MIN, UINT64_MAX, UInt

_SIMPLE = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "`": "`", "?": "?",
}  # fmt: skip
_ESCAPE = re.compile(r"\\(?:[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|(.))", re.DOTALL)


def integer(text: str) -> int:
    """Raises ValueError with cel-go's message."""
    value = int(text, 16) if "0x" in text else int(text) if len(text) < 40 else INT64_MAX + 1
    if not INT64_MIN <= value <= INT64_MAX:
        raise ValueError("invalid int literal")
    return value


def unsigned(text: str) -> UInt:
    """Raises ValueError with cel-go's message."""
    digits = text[:-1]
    value = int(digits, 16) if digits.startswith("0x") else int(digits) if len(digits) < 40 else UINT64_MAX + 1
    if value > UINT64_MAX:
        raise ValueError("invalid uint literal")
    return UInt(value)


def double(text: str) -> float:
    """Raises ValueError with cel-go's message."""
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError("invalid double literal")
    return value


def string(text: str) -> str:
    """The value of a string literal; raises ValueError for what isn't a code point."""
    body, raw = _body(text)
    if raw:
        return body

    def replaced(match: re.Match[str]) -> str:
        short, unicode, long, octal, simple = match.groups()
        if simple is not None:
            return _SIMPLE[simple]
        code = int(octal, 8) if octal is not None else int(short or unicode or long, 16)
        if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            raise ValueError("invalid unicode code point")
        return chr(code)

    return _ESCAPE.sub(replaced, body)


def byte_string(text: str) -> bytes:
    """The value of a bytes literal: \\x and octal escapes are bytes, the rest is UTF-8; raises ValueError for \\u and \\U."""
    body, raw = _body(text[1:])
    if raw:
        return body.encode("utf-8", "surrogateescape")
    parts: list[bytes] = []
    last = 0
    for match in _ESCAPE.finditer(body):
        parts.append(body[last : match.start()].encode("utf-8", "surrogateescape"))
        short, unicode, long, octal, simple = match.groups()
        if unicode is not None or long is not None:
            raise ValueError("unable to unescape string")
        if simple is not None:
            parts.append(_SIMPLE[simple].encode())
        else:
            parts.append(bytes((int(octal, 8) if octal is not None else int(short, 16),)))
        last = match.end()
    parts.append(body[last:].encode("utf-8", "surrogateescape"))
    return b"".join(parts)


def _body(text: str) -> tuple[str, bool]:
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    raw = text[0] in "rR"
    if raw:
        text = text[1:]
    quotes = 3 if len(text) >= 6 and text[:3] in ("'''", '"""') else 1
    return text[quotes:-quotes], raw
