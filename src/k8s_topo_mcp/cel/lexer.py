"""Tokens of CEL (cel-go's parser/gen/CEL.g4, lexer rules)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from k8s_topo_mcp.cel.errors import Problem

WORDS: Final = frozenset(("in", "true", "false", "null"))

_ESCAPE = r"""\\(?:[abfnrtv"'\\?`]|[0-3][0-7][0-7]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"""
_STRING = rf"""
    \"\"\"(?:{_ESCAPE}|[^\\])*?\"\"\" | '''(?:{_ESCAPE}|[^\\])*?'''
    | [rR]\"\"\".*?\"\"\" | [rR]'''.*?'''
    | "(?:{_ESCAPE}|[^\\"\n\r])*" | '(?:{_ESCAPE}|[^\\'\n\r])*'
    | [rR]"[^"\n\r]*" | [rR]'[^'\n\r]*'
"""
_TOKEN = re.compile(
    rf"""
    (?P<HIDDEN>[\t \r\n\f]+|//[^\n]*)
    |(?P<BYTES>[bB](?:{_STRING}))
    |(?P<STRING>{_STRING})
    |(?P<NUM_FLOAT>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)
    |(?P<NUM_UINT>0x[0-9a-fA-F]+[uU]|[0-9]+[uU])
    |(?P<NUM_INT>0x[0-9a-fA-F]+|[0-9]+)
    |(?P<IDENTIFIER>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<ESC_IDENTIFIER>`[A-Za-z0-9_.\-/\ ]+`)
    |(?P<OPERATOR>==|!=|<=|>=|&&|\|\||[-\[\]{{}}().,!?:+*/%<>])
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Token:
    """A token; `kind` is the text itself for operators and words."""

    kind: str
    text: str
    offset: int

    @property
    def end(self) -> int:
        return self.offset + len(self.text) if self.kind != "EOF" else self.offset


def tokens(text: str) -> tuple[list[Token], list[Problem]]:
    """All tokens, ended by EOF, and what could not be read."""
    found: list[Token] = []
    problems: list[Problem] = []
    position, end = 0, len(text)
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            stop = _unreadable(text, position)
            problems.append(Problem(f"Syntax error: token recognition error at: '{text[position:stop]}'", position))
            position = stop
            continue
        kind = match.lastgroup or ""
        content = match.group()
        if kind == "OPERATOR" or (kind == "IDENTIFIER" and content in WORDS):
            kind = content
        if kind != "HIDDEN":
            found.append(Token(kind, content, position))
        position = match.end()
    found.append(Token("EOF", "<EOF>", end))
    return found, problems


_PARTIAL = {
    '"': re.compile(rf'"(?:{_ESCAPE}|[^\\"\n\r])*', re.DOTALL),
    "'": re.compile(rf"'(?:{_ESCAPE}|[^\\'\n\r])*", re.DOTALL),
    "`": re.compile(r"`[A-Za-z0-9_.\-/ ]*"),
    "&": re.compile("&"),
    "|": re.compile(r"\|"),
    "=": re.compile("="),
}
_PARTIAL_ESCAPE = re.compile(r"\\(?:[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|[0-3][0-7]?)?")


def _unreadable(text: str, position: int) -> int:
    """Where a lexer that reads as far as some token could go gives up: it drops that and one rune more."""
    pattern = _PARTIAL.get(text[position])
    if pattern is None:
        return position + 1
    match = pattern.match(text, position)
    stop = match.end() if match else position
    if text[position] in "\"'":
        escape = _PARTIAL_ESCAPE.match(text, stop)
        stop = escape.end() if escape else stop
    return min(stop + 1, len(text))
