"""YAML, document by document, with the meaning that kubectl gives it (sigs.k8s.io/yaml).

Built from the parser's events on a stack of our own: depth and the growth through aliases are bounded, times stay text, keys are text,
only plain values exist, and every item knows its line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

import yaml

from .errors import SnapshotError, excerpt
from .items import MAX_DEPTH, Item
from .text import TextStream

MAX_YAML = 256 << 20
"""Characters of one YAML file, which is parsed as a whole."""
MAX_VALUES = 20_000_000
"""Values in one document with every alias written out."""

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_NULL = frozenset(("", "~", "null", "Null", "NULL"))
_BOOL = {
    text: value
    for words, value in ((("true", "yes", "on"), True), (("false", "no", "off"), False))
    for word in words
    for text in (word, word.capitalize(), word.upper())
}
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9_]*|0x[0-9a-fA-F_]+|0o[0-7_]+|0b[01_]+|0[0-7_]+)\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_TAG = "tag:yaml.org,2002:"


def read_yaml(stream: TextStream) -> Iterator[Item]:
    """Every document in the text that isn't empty. Raises SnapshotError, with line and column, for what isn't YAML."""
    text = stream.rest(MAX_YAML, "YAML")
    loader = _LOADER(text)
    builder = _Builder(stream.name)
    try:
        while loader.check_event():
            event = loader.get_event()
            if isinstance(event, yaml.DocumentStartEvent):
                builder.start()
            elif isinstance(event, yaml.DocumentEndEvent):
                value, line = builder.root, builder.line
                if value is not None:
                    yield from _split(value, line)
            else:
                builder.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{stream.name} (line {mark.line + 1}, column {mark.column + 1})" if mark is not None else stream.name
        raise SnapshotError(where, f"is not YAML: {error.problem or error.context}") from None
    except yaml.reader.ReaderError as error:
        raise SnapshotError(
            stream.name, f"is not YAML: character {error.position + 1} ({excerpt(error.character)}) isn't allowed"
        ) from None
    except yaml.YAMLError as error:
        raise SnapshotError(stream.name, f"is not YAML: {str(error)[:80]}") from None
    finally:
        loader.dispose()


def _split(value: Any, line: int) -> Iterator[Item]:
    document = f"document at line {line}"
    if not isinstance(value, dict):
        if isinstance(value, list):
            for index, entry in enumerate(cast(list[Any], value)):
                yield Item(entry, lambda index=index: f"{document}, [{index}]")
            return
        yield Item(value, lambda: document)
        return
    head = cast(dict[str, Any], value)
    items = head.get("items")
    if not isinstance(items, list):
        yield Item(head, lambda: document)
        return
    kind, version = head.get("kind"), head.get("apiVersion")
    for index, entry in enumerate(cast(list[Any], items)):
        yield Item(
            entry,
            lambda index=index: f"{document}, items[{index}]",
            kind if isinstance(kind, str) else "",
            version if isinstance(version, str) else "",
        )
    yield Item({**head, "items": []}, lambda: document)


class _Builder:
    """Turns parser events into plain values."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.root: Any = None
        self.line = 1
        self.start()

    def start(self) -> None:
        """Begin a document."""
        self.root = None
        self.line = 0
        self._stack: list[_Open] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._open_anchors: set[str] = set()

    def _fail(self, event: Any, problem: str) -> SnapshotError:
        mark = event.start_mark
        return SnapshotError(f"{self._name} (line {mark.line + 1}, column {mark.column + 1})", problem)

    def take(self, event: Any) -> None:
        """One event inside of a document."""
        if isinstance(event, yaml.ScalarEvent):
            value = self._scalar(event)
            self._add(event, value, 1)
            if event.anchor:
                self._anchors[event.anchor] = (value, 1)
        elif isinstance(event, yaml.AliasEvent):
            anchor = str(event.anchor)
            if anchor in self._open_anchors:
                raise self._fail(event, f"alias *{anchor[:40]} contains itself")
            if anchor not in self._anchors:
                raise self._fail(event, f"alias *{anchor[:40]} has no anchor before it")
            value, size = self._anchors[anchor]
            self._add(event, value, size)
        elif isinstance(event, yaml.SequenceStartEvent | yaml.MappingStartEvent):
            if event.tag not in (None, "!", _TAG + "seq", _TAG + "map"):
                raise self._fail(event, f"tag {excerpt(event.tag)} isn't one of Kubernetes")
            if len(self._stack) >= MAX_DEPTH:
                raise self._fail(event, f"is nested too deep (the limit is {MAX_DEPTH} levels)")
            container: list[Any] | dict[str, Any] = [] if isinstance(event, yaml.SequenceStartEvent) else {}
            if event.anchor:
                self._open_anchors.add(event.anchor)
            if not self._stack:
                self.line = _line(event)
            self._stack.append(_Open(container, event.anchor))
        elif isinstance(event, yaml.SequenceEndEvent | yaml.MappingEndEvent):
            closed = self._stack.pop()
            value = closed.finished()
            if closed.anchor:
                self._open_anchors.discard(closed.anchor)
                self._anchors[closed.anchor] = (value, closed.size)
            self._add(event, value, closed.size)

    def _add(self, event: Any, value: Any, size: int) -> None:
        if not self._stack:
            self.root = value
            self.line = self.line or _line(event)
            return
        top = self._stack[-1]
        top.size += size
        if top.size > MAX_VALUES:
            raise self._fail(event, f"has more than {MAX_VALUES:,} values with its aliases written out")
        if not top.add(value, plain_merge=isinstance(event, yaml.ScalarEvent) and event.value == "<<" and not event.style):
            raise self._fail(event, "has a list or an object as a key; keys are text in Kubernetes")

    def _scalar(self, event: Any) -> Any:
        text = cast(str, event.value)
        tag = event.tag
        if tag is None and event.implicit[0]:
            return _resolve(text)
        if tag in (None, "!", _TAG + "str"):
            return text
        if tag in (_TAG + "int", _TAG + "float", _TAG + "bool", _TAG + "null"):
            return _resolve(text)
        raise self._fail(event, f"tag {excerpt(tag)} isn't one of Kubernetes")


def _line(event: Any) -> int:
    return event.start_mark.line + 1


class _Open:
    """A list or object whose end has not been met. In an object, a value follows its key."""

    __slots__ = ("_has_key", "_key", "_merge", "_merged", "_value", "anchor", "size")

    def __init__(self, value: list[Any] | dict[str, Any], anchor: str | None) -> None:
        self._value = value
        self._key = ""
        self._has_key = False
        self._merge = False
        self._merged: list[dict[str, Any]] = []
        self.anchor = anchor
        self.size = 1

    def add(self, value: Any, plain_merge: bool) -> bool:
        """Take a value (or a key); False for a key that can't be one."""
        if isinstance(self._value, list):
            self._value.append(value)
            return True
        if not self._has_key:
            if isinstance(value, list | dict):
                return False
            self._merge = plain_merge
            self._key = _key_text(value)
            self._has_key = True
            return True
        self._has_key = False
        if self._merge:
            self._merged.extend(
                cast(dict[str, Any], entry)
                for entry in (cast(list[Any], value) if isinstance(value, list) else [value])
                if isinstance(entry, dict)
            )
        else:
            self._value[self._key] = value
        return True

    def finished(self) -> Any:
        if self._merged and isinstance(self._value, dict):
            for merged in self._merged:  # what is written here wins, then the earlier of the merged
                for key, value in merged.items():
                    self._value.setdefault(key, value)
        return self._value


def _key_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)


def _resolve(text: str) -> Any:
    """The value of a plain scalar."""
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    first = text[0]
    if (first.isdigit() or first in "+-.") and len(text) <= 400:
        if _INT.match(text):
            return _integer(text.replace("_", ""))
        if _FLOAT.match(text):
            number = float(text)
            return number if number - number == 0 else text
    return text


def _integer(text: str) -> int | str:
    sign = -1 if text.startswith("-") else 1
    digits = text.lstrip("+-")
    base = {"0x": 16, "0o": 8, "0b": 2}.get(digits[:2], 8 if len(digits) > 1 and digits[0] == "0" else 10)
    try:
        return sign * int(digits[2:] if digits[1:2] in ("x", "o", "b") else digits, base)
    except ValueError:
        return text
