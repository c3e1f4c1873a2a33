"""How the picture of topology_graph is written: lines of text, a Mermaid chart or JSON, each within a room of tokens."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from k8s_topo_mcp.rendering import clean, fold_names, tokens
from k8s_topo_mcp.topology import mermaid
from k8s_topo_mcp.topology.graph import node_link, picture_graph
from k8s_topo_mcp.topology.rows import Line, Row, lines


@dataclass(frozen=True, slots=True)
class Caption:
    """What a picture that stands alone says of itself."""

    scope: str
    headline: str
    basis: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Drawing:
    """One form of picture: what a line costs in the answer, how lines become text, and the tokens there are for it."""

    room: int
    cost: Callable[[Line], int]
    draw: Callable[[list[Line]], str]


def _label(line: Line) -> str:
    """A row in words: its name or count, what is to say, and the names it stands for."""
    row = line.row
    names = [clean(name, 80) for name in (row.names if len(row.names) <= 400 else row.names[:4])]
    parts = [clean(row.title, 80), clean(row.text, 240)]
    if row.count > 1 and names:
        parts.append(fold_names(names) if len(row.names) <= 400 else f"{', '.join(names)} and {len(row.names) - 4:,} more")
    return " ".join(part for part in parts if part).replace(" : ", ": ")


def escaped_cost(text: str) -> int:
    """Tokens of a text as it stands in the structured part."""
    return tokens(json.dumps(text, ensure_ascii=False))


def _text_drawing(caption: Caption, room: int) -> Drawing:
    def written(line: Line) -> str:
        return "  " * line.depth + _label(line)

    return Drawing(room, lambda line: escaped_cost(written(line)) + 1, lambda shown: "\n".join(written(line) for line in shown))


def _mermaid_drawing(caption: Caption, room: int) -> Drawing:
    def written(line: Line) -> str:
        return mermaid.node(line.number, line.parent, _label(line), line.row.state)

    comments = (caption.headline, *caption.notes, f"basis {caption.basis}")
    empty = escaped_cost(mermaid.chart((), comments))
    return Drawing(
        room - empty,
        lambda line: escaped_cost(written(line)) + 1,
        lambda shown: mermaid.chart((written(line) for line in shown), comments),
    )


def _json_drawing(caption: Caption, room: int) -> Drawing:
    def drawn(shown: list[Line]) -> str:
        return graph_text(picture_graph(shown, _label), caption, folded=True)

    def cost(line: Line) -> int:
        # A node, and an edge that repeats two ids.
        row = line.row
        entry = {"type": row.type, "label": _label(line), "count": row.count, "state": row.state, "id": row.path or f"row/{line.number}"}
        return escaped_cost(json.dumps(entry, ensure_ascii=False)) + 2 * tokens(row.path) + 40

    return Drawing(room - escaped_cost(drawn([])), cost, drawn)


DRAWINGS: Mapping[str, Callable[[Caption, int], Drawing]] = {
    "text": _text_drawing,
    "mermaid": _mermaid_drawing,
    "json": _json_drawing,
}


def graph_text(graph: Any, caption: Caption, folded: bool, left_out: Sequence[str] = ()) -> str:
    """A graph in networkx's node-link format; `left_out` names attributes that it has no room for."""
    about: dict[str, Any] = {"scope": caption.scope, "headline": caption.headline, "folded": folded, "basis": caption.basis}
    if caption.notes:
        about["highlight"] = list(caption.notes)
    data = node_link(graph, **about, **({"left_out": list(left_out)} if left_out else {}))
    return json.dumps(_cleaned(data), ensure_ascii=False, separators=(",", ":"))


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value, 300)
    if isinstance(value, dict):
        return {str(key): _cleaned(item) for key, item in cast(dict[Any, Any], value).items()}
    if isinstance(value, (list, tuple)):
        return [_cleaned(item) for item in cast(Iterable[Any], value)]
    return value


def whole(rows: Iterable[Row], drawing: Drawing) -> list[Line] | None:
    """All lines of a picture if they fit, else None."""
    left = drawing.room
    found: list[Line] = []
    for line in lines(rows):
        left -= drawing.cost(line)
        if left < 0:
            return None
        found.append(line)
    return found


def page(rows: Iterable[Row], start: int, drawing: Drawing) -> tuple[list[Line], int | None]:
    """Lines from number `start` on, as many as fit (at least one), below those that say where they stand; where the next page begins."""
    shown: list[Line] = []
    left = drawing.room
    for line in lines(rows):
        if line.number < start:
            # Lines above the first one of this page: kept while the page may still stand under them.
            shown = [above for above in shown if above.depth < line.depth] + [line]
            continue
        if line.number == start:
            shown = [above for above in shown if above.depth < line.depth]
            left -= sum(drawing.cost(above) for above in shown)
        cost = drawing.cost(line)
        if cost > left and line.number > start:
            return shown, line.number
        left -= cost
        shown.append(line)
    return shown, None
