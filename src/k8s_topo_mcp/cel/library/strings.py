"""Functions on strings: the standard ones and cel-go's extension in version 2 (ext/strings.go)."""

from __future__ import annotations

from typing import Final

from k8s_topo_mcp.cel import cost
from k8s_topo_mcp.cel.errors import CelError, no_such_overload
from k8s_topo_mcp.cel.library.declaration import Function, function, member, overload
from k8s_topo_mcp.cel.library.formatting import format_string
from k8s_topo_mcp.cel.types import BOOL, DYN, INT, STRING, list_of
from k8s_topo_mcp.cel.values import Value, shown

_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_UPPER: Final = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}
_SPACE: Final = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
_QUOTED: Final = str.maketrans(
    {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", "\\": "\\\\", '"': '\\"'}
)


def _both_strings(left: Value, right: Value) -> None:
    if type(left) is not str or type(right) is not str:
        raise no_such_overload()


def contains(text: Value, part: Value) -> Value:
    _both_strings(text, part)
    return part in text


def starts_with(text: Value, part: Value) -> Value:
    _both_strings(text, part)
    return text.startswith(part)


def ends_with(text: Value, part: Value) -> Value:
    _both_strings(text, part)
    return text.endswith(part)


def _out_of_range(index: int) -> CelError:
    return CelError(f"index out of range: {index}", "index")


def _char_at(text: str, index: int) -> Value:
    if not 0 <= index <= len(text):
        raise _out_of_range(index)
    return text[index : index + 1]


def _index_of(text: str, part: str, offset: int = 0) -> Value:
    if offset < 0:
        raise _out_of_range(offset)
    if not part:
        return min(offset, len(text))
    return text.find(part, offset) if offset < len(text) else -1


def _last_index_of(text: str, part: str) -> Value:
    if not part:
        return len(text)
    return text.rfind(part)


def _last_index_of_offset(text: str, part: str, offset: int) -> Value:
    if offset < 0:
        raise _out_of_range(offset)
    if not part:
        return min(offset, len(text))
    if offset >= len(text):
        return -1
    return text.rfind(part, 0, offset + len(part))


def _old_index_of(text: str, part: str, offset: int) -> Value:
    return _index_of(text, part, offset) if part else offset


def _old_last_index_of(text: str, part: str, offset: int) -> Value:
    return _last_index_of_offset(text, part, offset) if part else offset


def _lower(text: str) -> Value:
    return text.translate(_LOWER)


def _upper(text: str) -> Value:
    return text.translate(_UPPER)


def _replace(text: str, old: str, new: str, count: int = -1) -> Value:
    return text.replace(old, new, max(count, -1))


def _split(text: str, separator: str, count: int = -1) -> Value:
    if count == 0:
        return []
    if not separator:
        if count < 0 or count > len(text):
            return list(text)
        return [*text[: count - 1], text[count - 1 :]]
    return text.split(separator) if count < 0 else text.split(separator, count - 1)


def _substring(text: str, start: int, end: int | None = None) -> Value:
    if end is not None and start > end:
        raise CelError(f"invalid substring range. start: {start}, end: {end}", "index")
    if not 0 <= start <= len(text):
        raise _out_of_range(start)
    if end is not None and not 0 <= end <= len(text):
        raise _out_of_range(end)
    return text[start:end]


def _trim(text: str) -> Value:
    return text.strip(_SPACE)


def _quote(text: str) -> Value:
    return '"' + text.translate(_QUOTED) + '"'


def _join(parts: list[Value], separator: str = "") -> Value:
    for part in parts:
        if type(part) is not str:
            raise CelError(f"join: invalid input: {shown(part)}")
    return separator.join(parts)


_TRAVERSAL: Final = cost.argument_traversal(0)
_TWICE: Final = cost.argument_traversal(0, 2 * cost.TRAVERSAL)


def standard_functions(recent: bool) -> tuple[Function, ...]:
    """The three of the standard library. cel-go before 0.29 charged for the text instead of the part."""
    affix = cost.argument_traversal(1 if recent else 0)
    return (
        function("contains", member("contains_string", (STRING, STRING), BOOL, contains, guarded=False, cost=cost.substring_search)),
        function("endsWith", member("ends_with_string", (STRING, STRING), BOOL, ends_with, guarded=False, cost=affix)),
        function("startsWith", member("starts_with_string", (STRING, STRING), BOOL, starts_with, guarded=False, cost=affix)),
    )


def searching_functions(recent: bool) -> tuple[Function, ...]:
    """indexOf and lastIndexOf. cel-go before 0.29 found the empty string at any offset, even outside."""
    first, last = (_index_of, _last_index_of_offset) if recent else (_old_index_of, _old_last_index_of)
    return (
        function(
            "indexOf",
            member("string_index_of_string", (STRING, STRING), INT, _index_of),
            member("string_index_of_string_int", (STRING, STRING, INT), INT, first),
            cost=cost.deep_traversal,
        ),
        function(
            "lastIndexOf",
            member("string_last_index_of_string", (STRING, STRING), INT, _last_index_of),
            member("string_last_index_of_string_int", (STRING, STRING, INT), INT, last),
            cost=cost.deep_traversal,
        ),
    )


FUNCTIONS: Final = (
    function("charAt", member("string_char_at_int", (STRING, INT), STRING, _char_at)),
    function("lowerAscii", member("string_lower_ascii", (STRING,), STRING, _lower), cost=_TRAVERSAL),
    function(
        "replace",
        member("string_replace_string_string", (STRING, STRING, STRING), STRING, _replace),
        member("string_replace_string_string_int", (STRING, STRING, STRING, INT), STRING, _replace),
        cost=_TWICE,
    ),
    function(
        "split",
        member("string_split_string", (STRING, STRING), list_of(STRING), _split),
        member("string_split_string_int", (STRING, STRING, INT), list_of(STRING), _split),
        cost=_TWICE,
    ),
    function(
        "substring",
        member("string_substring_int", (STRING, INT), STRING, _substring),
        member("string_substring_int_int", (STRING, INT, INT), STRING, _substring),
        cost=_TRAVERSAL,
    ),
    function("trim", member("string_trim", (STRING,), STRING, _trim), cost=_TRAVERSAL),
    function("upperAscii", member("string_upper_ascii", (STRING,), STRING, _upper), cost=_TRAVERSAL),
    function("format", member("string_format", (STRING, list_of(DYN)), STRING, format_string, cost=_TRAVERSAL)),
    function("strings.quote", overload("strings_quote", (STRING,), STRING, _quote, cost=_TRAVERSAL)),
    function(
        "join",
        member("list_join", (list_of(STRING),), STRING, _join),
        member("list_join_string", (list_of(STRING), STRING), STRING, _join),
        cost=cost.result_traversal,
    ),
)
