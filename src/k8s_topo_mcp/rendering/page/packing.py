"""A node-link graph made small and clean for the page: columns of numbers beside tables of what repeats.

=========  ============================================================================================================
column     of the thing with that number
=========  ============================================================================================================
shared     how many characters its id has in common with that of the thing of its type before it
rest       the other characters of its id
up         how far back the thing stands that contains it; 0: nothing does. What contains comes before what is contained
via        which record says how it is contained (only where `up` isn't 0; else 0)
record     which record holds its attributes
from, to   of each link: which things it joins, as differences to the link before
as         of each link: which record holds its attributes
=========  ============================================================================================================

A record is a flat list of numbers, name and value in turn: names stand in `words`, values in `values`. Equal records are one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from ..foreign import clean

Facts = Mapping[str, Any]
"""A node or an edge with its attributes."""
IDENTITY, TEXT, WORD = 500, 300, 80
"""Characters kept of an id, of a text, of an attribute's name."""
MANY, DEEP = 50, 3
"""Entries kept of a list or a mapping, and how deep they go."""
EXACT = 2**53
"""Whole numbers beyond it aren't exact in JavaScript: they are kept as text."""


def packed(data: Mapping[str, Any]) -> dict[str, Any]:
    """The graph as columns; `page.page` says what `data` is."""
    nodes: Sequence[Facts] = data["nodes"]
    edges: Sequence[Facts] = data["edges"]
    facts = {node["id"]: node for node in nodes}
    about: Mapping[str, Any] = data.get("graph") or {}
    above = _containers(facts, edges, about.get("places") or ())
    order = _order(facts, above)
    inner = {id(edge) for edge in above.values()}
    links = [edge for edge in edges if id(edge) not in inner]
    place = {identity: number for number, identity in enumerate(order)}
    table = _Table()
    shared, rest, up, via, record = _columns(order, facts, above, place, table)
    sources, targets, kinds = _links(links, place, table)
    return {
        "about": value({name: entry for name, entry in about.items() if name != "places"}),
        "shared": shared,
        "rest": rest,
        "up": up,
        "via": via,
        "record": record,
        "from": sources,
        "to": targets,
        "as": kinds,
        "records": table.records,
        "words": table.words,
        "values": table.values,
    }


def _containers(facts: Mapping[Any, Facts], edges: Iterable[Facts], places: Sequence[str]) -> dict[Any, Facts]:
    """For what is contained, the edge that leads to it from its place in the tree: of several containers the one whose type is a place, the
    finest first; else the first."""
    rank = {name: number for number, name in enumerate(places, start=1)}
    above: dict[Any, Facts] = {}
    for edge in edges:
        if edge.get("kind") != "contains" or edge["target"] == edge["source"]:
            continue
        known = above.get(edge["target"])
        if known is None or _rank(rank, facts[edge["source"]]) > _rank(rank, facts[known["source"]]):
            above[edge["target"]] = edge
    return above


def _rank(rank: Mapping[str, int], facts: Facts) -> int:
    kind = facts.get("type")
    return rank.get(kind, 0) if isinstance(kind, str) else 0


def _order(facts: Mapping[Any, Any], above: dict[Any, Facts]) -> list[Any]:
    """Every node after the one that contains it, what belongs together side by side. Where nodes contain each other in a circle, one of
    them is taken out (`above` loses it)."""
    below: dict[Any, list[Any]] = {}
    for identity, edge in above.items():
        below.setdefault(edge["source"], []).append(identity)
    order: list[Any] = []
    seen: set[Any] = set()

    def walk(start: Any) -> None:
        waiting = [start]
        while waiting:
            identity = waiting.pop()
            if identity in seen:
                continue
            seen.add(identity)
            order.append(identity)
            waiting.extend(reversed(below.get(identity, ())))

    for identity in facts:
        if identity not in above:
            walk(identity)
    for identity in facts:
        if identity not in seen:
            del above[identity]
            walk(identity)
    return order


def _columns(
    order: Iterable[Any],
    facts: Mapping[Any, Facts],
    above: Mapping[Any, Facts],
    place: Mapping[Any, int],
    table: _Table,
) -> tuple[list[int], list[str], list[int], list[int], list[int]]:
    shared: list[int] = []
    rest: list[str] = []
    up: list[int] = []
    via: list[int] = []
    record: list[int] = []
    before: dict[Any, str] = {}
    for number, identity in enumerate(order):
        text = cleaned(str(identity), IDENTITY)
        own = table.record(facts[identity], ("id",))
        kind = table.types[own]
        # Up to the last slash is what ids side by side have in common. Counted in the units of JavaScript, so only where they are ours too.
        last = before.get(kind, "")
        head = last[: last.rfind("/") + 1]
        length = len(head) if head.isascii() and text.startswith(head) else 0
        shared.append(length)
        rest.append(text[length:])
        before[kind] = text
        edge = above.get(identity)
        up.append(0 if edge is None else number - place[edge["source"]])
        via.append(0 if edge is None else table.record(edge, ("source", "target", "kind")))
        record.append(own)
    return shared, rest, up, via, record


def _links(links: Sequence[Facts], place: Mapping[Any, int], table: _Table) -> tuple[list[int], list[int], list[int]]:
    # One number a link, both ends in it: sorting numbers is quicker than sorting pairs.
    ends = [place[edge["source"]] * len(place) + place[edge["target"]] for edge in links]
    sources: list[int] = []
    targets: list[int] = []
    kinds: list[int] = []
    last = (0, 0)
    for number in sorted(range(len(ends)), key=ends.__getitem__):
        source, target = divmod(ends[number], len(place))
        sources.append(source - last[0])
        targets.append(target - last[1])
        kinds.append(table.record(links[number], ("source", "target")))
        last = (source, target)
    return sources, targets, kinds


class _Table:
    """What repeats, each once. Record 0 is the empty one; `types` has the `type` of each record, "" where it has none."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.values: list[Any] = []
        self.records: list[list[int]] = [[]]
        self.types: list[str] = [""]
        self._words: dict[str, int] = {}
        self._scalars: dict[tuple[type, Any], int] = {}
        self._others: dict[str, int] = {}
        self._records: dict[tuple[int, ...], int] = {(): 0}

    def record(self, facts: Facts, but: tuple[str, ...]) -> int:
        """The number of the record with these attributes, those in `but` left out."""
        flat: list[int] = []
        for name, entry in facts.items():
            if name not in but and entry is not None and len(flat) < 2 * MANY:
                flat.append(self._word(name))
                flat.append(self._value(entry))
        key = tuple(flat)
        found = self._records.get(key)
        if found is None:
            found = self._records[key] = len(self.records)
            self.records.append(flat)
            named = {self.words[name]: self.values[entry] for name, entry in zip(flat[::2], flat[1::2], strict=True)}
            kind = named.get("type")
            self.types.append(kind if isinstance(kind, str) else "")
        return found

    def _word(self, name: str) -> int:
        found = self._words.get(name)
        if found is None:
            found = self._words[name] = len(self.words)
            self.words.append(cleaned(str(name), WORD))
        return found

    def _value(self, entry: Any) -> int:
        if isinstance(entry, (str, bool, int, float)):
            key = (type(entry), entry)
            found = self._scalars.get(key)
            if found is None:
                found = self._scalars[key] = len(self.values)
                self.values.append(value(entry))
            return found
        made = value(entry)
        text = repr(made)
        found = self._others.get(text)
        if found is None:
            found = self._others[text] = len(self.values)
            self.values.append(made)
        return found


def value(entry: Any, deep: int = DEEP) -> Any:
    """Any value as JSON that is clean, bounded and exact in a browser."""
    match entry:
        case None | bool():
            return entry
        case str():
            return cleaned(entry, TEXT)
        case int():
            return entry if -EXACT < entry < EXACT else cleaned(_digits(entry), TEXT)
        case float():
            return entry if math.isfinite(entry) else str(entry)
        case Mapping() if deep:
            pairs = list(cast("Mapping[Any, Any]", entry).items())
            found = {cleaned(str(name), WORD): value(item, deep - 1) for name, item in pairs[:MANY]}
            return found | ({"…": f"{len(pairs) - MANY:,} more"} if len(pairs) > MANY else {})
        case list() | tuple() if deep:
            items = cast("Sequence[Any]", entry)
            return [value(item, deep - 1) for item in items[:MANY]] + ([f"… {len(items) - MANY:,} more"] if len(items) > MANY else [])
        case Mapping() | list() | tuple():
            return "…"
        case _:
            return cleaned(str(entry), TEXT)


def _digits(number: int) -> str:
    """A large whole number as text. Python refuses to write out those of thousands of digits."""
    return str(number) if number.bit_length() < 1_000 else f"about 2^{number.bit_length() - 1}"


def cleaned(text: str, limit: int) -> str:
    """As `clean`, at once for the plain names that nearly all are."""
    if len(text) <= limit and text.isascii() and text.isprintable() and " " not in text:
        return text
    return clean(text, limit)
