"""JSON, one object at a time: the file is never in memory as a whole, and an error has a position.

A document is an object, a `List` whose `items` are given out one by one, a bare array of objects, or several of these after one another
(as `kubectl get --watch` and `jq` write them).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn, cast

from .errors import SnapshotError
from .items import MAX_DEPTH, Item
from .text import TextStream

MAX_ITEM = 64 << 20
"""Characters of one object. etcd takes 1.5 MiB."""

_SPACE = re.compile(r"[ \t\r\n]*")
_SURROGATE = re.compile("[\ud800-\udfff]")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


_decoder = json.JSONDecoder(parse_constant=_no_constant)


def read_json(stream: TextStream) -> Iterator[Item]:
    """Every object in the text. Raises SnapshotError, with line and column, for what isn't JSON."""
    scanner = _Scanner(stream)
    while scanner.peek():
        yield from _document(scanner)


def _document(scanner: _Scanner) -> Iterator[Item]:
    start = scanner.mark()
    opener = scanner.peek()
    if opener == "[":
        for index in scanner.array():
            place = scanner.mark()
            yield Item(scanner.value(), lambda index=index, place=place: f"[{index}], {place}")
        return
    if opener != "{":
        scanner.value()
        raise SnapshotError(f"{scanner.name} ({start})", "is JSON, but no object; right would be the output of kubectl get -o json")
    head: dict[str, Any] = {}
    waiting: list[Item] = []
    is_list = False
    for key in scanner.object():
        if key != "items" or scanner.peek() != "[":
            head[key] = scanner.value()
            continue
        is_list = True
        for index in scanner.array():
            place = scanner.mark()
            item = scanner.value()
            where = _place(index, place)
            if isinstance(item, dict) and "kind" not in item and "kind" not in head:
                waiting.append(Item(item, where))  # the list says its kind at the end
            else:
                yield Item(item, where, _word(head, "kind"), _word(head, "apiVersion"))
    for item in waiting:
        yield Item(item.value, item.place, _word(head, "kind"), _word(head, "apiVersion"))
    if not is_list:
        yield Item(head, lambda: str(start))
    elif not waiting:
        yield Item({**head, "items": []}, lambda: str(start))


def _place(index: int, place: _Mark) -> Any:
    return lambda: f"items[{index}], {place}"


def _word(head: dict[str, Any], key: str) -> str:
    value = head.get(key)
    return value if isinstance(value, str) else ""


class _Mark:
    """A position, worked out only when somebody asks."""

    __slots__ = ("column", "line")

    def __init__(self, line: int, column: int) -> None:
        self.line = line
        self.column = column

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"


class _Scanner:
    """Reads JSON values out of a stream of text, keeping no more than the current one."""

    def __init__(self, stream: TextStream) -> None:
        self.name = stream.name
        self._stream = stream
        self._text = ""
        self._at = 0
        self._ended = False
        self._line = 1  # of the character at _counted
        self._column = 1
        self._counted = 0

    def _more(self) -> bool:
        """Append another piece of text; False at the end."""
        if self._ended:
            return False
        piece = self._stream.read()
        if not piece:
            self._ended = True
            return False
        self._count_to(self._at)
        self._text = self._text[self._at :] + piece
        self._at = self._counted = 0
        return True

    def _count_to(self, position: int) -> None:
        """Move the line counter on to `position`."""
        lines = self._text.count("\n", self._counted, position)
        if lines:
            self._line += lines
            self._column = position - self._text.rfind("\n", self._counted, position)
        else:
            self._column += position - self._counted
        self._counted = position

    def mark(self) -> _Mark:
        self._count_to(self._at)
        return _Mark(self._line, self._column)

    def _fail(self, position: int, problem: str) -> NoReturn:
        self._count_to(max(position, self._counted))
        raise SnapshotError(f"{self.name} ({_Mark(self._line, self._column)})", problem)

    def peek(self) -> str:
        """The next character that isn't white space, "" at the end."""
        while True:
            found = _SPACE.match(self._text, self._at)
            assert found is not None
            self._at = found.end()
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def _expect(self, wanted: str) -> str:
        found = self.peek()
        if not found:
            self._truncated(self._at)
        if found not in wanted:
            self._fail(self._at, f"is not JSON: expected {' or '.join(wanted)}, found {found!r}")
        self._at += 1
        return found

    def _truncated(self, position: int) -> NoReturn:
        self._fail(position, "JSON ends in the middle: the file is truncated; dump or copy it again")

    def array(self) -> Iterator[int]:
        """The indices of an array's elements; the caller takes each with `value`."""
        self._expect("[")
        if self.peek() == "]":
            self._at += 1
            return
        index = 0
        while True:
            self.peek()
            yield index
            index += 1
            if self._expect(",]") == "]":
                return

    def object(self) -> Iterator[str]:
        """The keys of an object; the caller takes each value."""
        self._expect("{")
        if self.peek() == "}":
            self._at += 1
            return
        while True:
            if self.peek() != '"':
                self._expect('"')
            key = cast(str, self.value())
            self._expect(":")
            yield key
            if self._expect(",}") == "}":
                return

    def value(self) -> Any:
        """The next value, decoded."""
        if not self.peek():
            self._truncated(self._at)
        while True:
            try:
                value, end = _decoder.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if len(self._text) - self._at <= MAX_ITEM and self._more_of_it():
                    continue
                if self._ended and (_cut_short(self._text[error.pos :].rstrip()) or error.msg.startswith("Unterminated string")):
                    self._truncated(len(self._text))
                if not self._ended:
                    self._too_large()
                self._fail(error.pos, f"is not JSON: {error.msg[0].lower()}{error.msg[1:]}")
            except RecursionError:
                self._fail(self._at, f"is nested too deep (the limit is {MAX_DEPTH} levels)")
            except ValueError as error:
                self._fail(self._at, f"has a value that isn't one: {str(error)[:80]}")
            if end == len(self._text) and self._more():  # a number may go on
                continue
            start, self._at = self._at, end
            if end - start > MAX_ITEM:
                self._too_large()
            if self._text.find("\\ud", start, end) < 0 and self._text.find("\\uD", start, end) < 0:
                return value
            try:
                return _without_surrogates(value)
            except RecursionError:
                self._fail(start, f"is nested too deep (the limit is {MAX_DEPTH} levels)")

    def _more_of_it(self) -> bool:
        """Read on until there is twice as much of the current value."""
        wanted = 2 * (len(self._text) - self._at)
        grown = False
        while self._more():
            grown = True
            if len(self._text) >= wanted:
                break
        return grown

    def _too_large(self) -> NoReturn:
        self._fail(self._at, f"has a value of more than {MAX_ITEM >> 20} MiB, or isn't JSON from there on")


def _without_surrogates(value: Any) -> Any:
    """Lone halves of surrogate pairs, which no text can carry, become U+FFFD (as in Go)."""
    if isinstance(value, str):
        return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, list):
        return [_without_surrogates(entry) for entry in cast(list[Any], value)]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(entry) for key, entry in cast(dict[str, Any], value).items()}
    return value


def _cut_short(rest: str) -> bool:
    """Whether what is left is nothing, or the beginning of a value that goes on."""
    return any(word.startswith(rest) for word in ("true", "false", "null", "-"))
