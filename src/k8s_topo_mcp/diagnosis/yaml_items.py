"""Objects in YAML that a user gives, with the line of every value; bounded in size, depth and number."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import yaml

MAX_BYTES = 1_000_000
MAX_DOCUMENTS = 200
MAX_DEPTH = 60
MAX_VALUES = 200_000
"""Aliases of YAML make a few hundred bytes say millions of values."""

LONGEST_NUMBER = 310
"""Characters of a number: numbers of the API are doubles at most, the largest of which has 309 digits and a sign written out. Python gives
up on one of more than 4,300 digits, with an error that has no place."""


_TAG = "tag:yaml.org,2002:"
_TEXTS = frozenset({"timestamp", "value", "merge"})
"""What YAML has a type for and JSON has not: a time, a plain = and, where it is no key, a plain <<."""
_KINDS: Mapping[type, frozenset[str]] = {
    yaml.ScalarNode: frozenset({"str", "int", "float", "bool", "null", *_TEXTS}),
    yaml.MappingNode: frozenset({"map"}),
    yaml.SequenceNode: frozenset({"seq"}),
}


class ManifestError(ValueError):
    """One mistake: what, where (path, document, line), and what would be right."""


@dataclass(frozen=True, slots=True, eq=False)
class Item:
    """One object: of document `number`, `tag` tells those of one list apart; `lines` maps a path to its line (both counted from 1)."""

    item: dict[str, Any]
    lines: Mapping[str, int]
    number: int
    tag: str


def yaml_items(text: str, name: str) -> Iterator[Item]:
    """The objects of all documents, those of lists one by one. `name` is what the text is called in messages. Raises ManifestError."""
    if len(text.encode("utf-8", "replace")) > MAX_BYTES:
        raise ManifestError(f"{name}: larger than {MAX_BYTES:,} bytes")
    try:
        for number, node in enumerate(_composed(text), start=1):
            if number > MAX_DOCUMENTS:
                raise ManifestError(f"{name}: more than {MAX_DOCUMENTS} documents")
            if node is None:
                continue
            for index, (item, lines) in enumerate(_items(node, number, name)):
                yield Item(item, lines, number, f"{number}-{index + 1}" if index else str(number))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f" (line {mark.line + 1}, column {mark.column + 1})" if mark is not None else ""
        raise ManifestError(f"{name}: not YAML: {error.problem or error.context}{where}") from None
    except RecursionError:
        raise ManifestError(f"{name}: nested deeper than {MAX_DEPTH} levels") from None
    except (yaml.YAMLError, ValueError) as error:
        if isinstance(error, ManifestError):
            raise
        raise ManifestError(f"{name}: not YAML: {str(error)[:200]}") from None


def place(number: int, lines: Mapping[str, int], path: str) -> str:
    """Where a path stands, as messages say it; of one that isn't there the nearest above it."""
    path = NAMED.sub(r".\1", path)  # decoders write requests[memory], lines know requests.memory
    line = next((lines[part] for part in upwards_of(path) if part in lines), 1)
    return f"(document {number}, line {line})"


NAMED = re.compile(r"\[([^\]\d][^\]]*)\]")


def _composed(text: str) -> Iterator[yaml.Node | None]:
    """The documents as nodes, which know their lines."""
    untyped: Any = yaml
    yield from untyped.compose_all(text, Loader=yaml.SafeLoader)


def _items(node: yaml.Node, number: int, name: str) -> Iterator[tuple[dict[str, Any], dict[str, int]]]:
    lines: dict[str, int] = {}
    loader: Any = yaml.SafeLoader("")
    _mark(node, "", lines, 0, name)
    value: Any = loader.construct_document(node)
    if not isinstance(value, dict):
        raise ManifestError(f"{name}: document {number} is not an object; a Kubernetes object has apiVersion and kind")
    item = cast(dict[str, Any], value)
    if item.get("kind") == "List" or (isinstance(item.get("items"), list) and str(item.get("kind", "")).endswith("List")):
        for index, entry in enumerate(item["items"]):
            if not isinstance(entry, dict):
                raise ManifestError(f"{name}: items[{index}] of document {number} is not an object")
            prefix = f"items[{index}]."
            yield entry, {path.removeprefix(prefix): line for path, line in lines.items() if path.startswith(prefix)}
        return
    yield item, lines


def _mark(node: yaml.Node, path: str, lines: dict[str, int], depth: int, where: str) -> None:
    """Remember the line of every path, and refuse what no value of Kubernetes is."""
    if depth > MAX_DEPTH:
        raise ManifestError(f"{where}: nested deeper than {MAX_DEPTH} levels")
    lines.setdefault(path, node.start_mark.line + 1)
    if len(lines) > MAX_VALUES:
        raise ManifestError(f"{where}: more than {MAX_VALUES:,} values with its aliases written out")
    _check(node, where)
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            name = str(getattr(key, "value", ""))
            below = f"{path}.{name}" if path else name
            lines[below] = key.start_mark.line + 1
            if isinstance(key, yaml.ScalarNode) and cast(Any, key).tag != f"{_TAG}merge":
                _check(key, where)
            _mark(value, below, lines, depth + 1, where)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            _mark(value, f"{path}[{index}]", lines, depth + 1, where)


def _check(node: yaml.Node, where: str) -> None:
    """Refuse a tag that JSON has nothing for, and one that the text doesn't fit (!!bool foo): what YAML's own constructors do with these is
    anything from a set to a KeyError. `_TEXTS` stay text."""
    known: Any = node
    kind, place = str(known.tag).removeprefix(_TAG), f"(line {node.start_mark.line + 1}, column {node.start_mark.column + 1})"
    if kind not in _KINDS[type(node)]:
        raise ManifestError(f"{where}: tag {str(known.tag)[:60]!r} isn't one of Kubernetes {place}")
    if not isinstance(node, yaml.ScalarNode) or kind == "str":
        return
    if _resolver().resolve(yaml.ScalarNode, known.value, (True, False)) != known.tag:
        raise ManifestError(f"{where}: {str(known.value)[:40]!r} isn't a value of tag !!{kind} {place}")
    if kind in ("int", "float") and len(known.value) > LONGEST_NUMBER:
        raise ManifestError(f"{where}: {str(known.value)[:40]!r} is longer than a number can be {place}")
    if kind in _TEXTS:
        known.tag = f"{_TAG}str"


@cache
def _resolver() -> Any:
    """Which tag a plain text has by itself."""
    loader: Any = yaml.SafeLoader
    return loader("")


def plain(value: Any) -> Any:
    """Keys become text, as JSON has them."""
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in cast(dict[Any, Any], value).items()}
    if isinstance(value, list):
        return [plain(entry) for entry in cast(list[Any], value)]
    return value


def upwards_of(path: str) -> Iterator[str]:
    while path:
        yield path
        path = path[: path.rindex("[")] if path.endswith("]") else path.rpartition(".")[0]
