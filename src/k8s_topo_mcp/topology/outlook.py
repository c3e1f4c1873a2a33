"""Sets of nodes as a picture: places, shapes in them, and how the nodes of a shape stand. Equal nodes fold.

`Detail` says how fine: `kinds` shapes alone; `zones` shapes by zone, each with its buckets in one line; `buckets` a row a bucket;
`nodes` every place and every node (equal ones folded).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import Literal

from .buckets import BARE, BUCKETS, bucket
from .closeup import Depth, inside, status
from .domains import level_names, words
from .largest import COARSE
from .nodes import NodeHardware
from .placed import State, summed
from .rows import Children, Row, fold
from .shapes import Shape
from .words import WORDS as STATE_WORDS
from .words import number

Detail = Literal["nodes", "buckets", "zones", "kinds"]
DETAILS: tuple[Detail, ...] = ("nodes", "buckets", "zones", "kinds")

Shapes = Mapping[str, Shape]
Note = Callable[[NodeHardware], str]
Inner = Callable[[Sequence[NodeHardware], str], tuple[str, Children]]
"""From the nodes of a shape and their scope to what stands beside the shape's name and below it."""
Leaf = Callable[[Sequence[NodeHardware], str], Iterable[Row]]
"""From the nodes of one place and the scope so far (ending in a slash, or empty) to the rows below it."""


def outlook(
    nodes: Sequence[NodeHardware],
    shapes: Shapes,
    scope: str,
    detail: Detail,
    depth: Depth = "node",
    note: Note = lambda node: "",
) -> Iterable[Row]:
    """
    The picture of some nodes.

    Parameters
    ----------
    scope : str
        The scope that the nodes are; paths of the rows narrow it.
    depth : str
        How far below the nodes to draw (detail `nodes` only).
    note
        What else is to be said of a node (detail `nodes` only).

    Notes
    -----
    Rows are made as they are read: of a large cluster drawn node by node only the page that is looked at costs anything.
    """
    base = "" if scope == "cluster" else f"{scope}/"
    described: set[str] = set()
    if detail == "kinds":
        return _by_shape(nodes, shapes, base, _inline, described)
    levels = tuple(level for level in level_names(node.places for node in nodes) if _worth_a_row(level, nodes, detail))
    inner: Inner = _inline
    if detail == "nodes":
        inner = partial(_every_node, depth, note)
    elif detail == "buckets":
        inner = _bucket_rows

    def leaf(members: Sequence[NodeHardware], base: str) -> Iterable[Row]:
        return _by_shape(members, shapes, base, inner, described)

    return _by_place(nodes, levels, base, leaf)


def _worth_a_row(level: str, nodes: Sequence[NodeHardware], detail: Detail) -> bool:
    """Zones always are. Finer places only where nodes are listed, and not when most of them would hold a node or two."""
    if level == "zone":
        return True
    found = {node.places.get(level) for node in nodes}
    return detail == "nodes" and found != {None} and (len(found) == 1 or 3 * len(found) <= len(nodes))


def _by_place(nodes: Sequence[NodeHardware], levels: tuple[str, ...], base: str, leaf: Leaf, above: tuple[str, ...] = ()) -> Iterable[Row]:
    """A row for each place, levels that all nodes share in one row. `above` names the shared ones so far."""
    groups: dict[str | None, list[NodeHardware]] = {}
    if levels:
        for node in nodes:
            groups.setdefault(node.places.get(levels[0]), []).append(node)
    if len(groups) == 1:
        value = next(iter(groups))
        if value is None:
            yield from _by_place(nodes, levels[1:], base, leaf, above)
        else:
            yield from _by_place(nodes, levels[1:], f"{base}{levels[0]}/{value}/", leaf, (*above, f"{words(levels[0])} {value}"))
        return
    rows: Children = partial(_split, groups, levels, base, leaf) if groups else partial(leaf, nodes, base)
    if above:
        yield Row("place", f": {number(len(nodes), 'node')}", (", ".join(above),), path=base.rstrip("/"), children=rows)
    else:
        yield from rows()


def _split(groups: Mapping[str | None, list[NodeHardware]], levels: tuple[str, ...], base: str, leaf: Leaf) -> Iterable[Row]:
    level = levels[0]
    for value in sorted(groups, key=lambda value: (value is None, value or "")):
        members = groups[value]
        if value is None:
            text = f"{number(len(members), 'node')} of which no {words(level)} is known"
            yield Row("place", text, children=partial(_by_place, members, levels[1:], base, leaf))
        else:
            yield from _by_place(members, levels[1:], f"{base}{level}/{value}/", leaf, (f"{words(level)} {value}",))


def _by_shape(
    nodes: Sequence[NodeHardware],
    shapes: Shapes,
    base: str,
    inner: Inner,
    described: set[str],
) -> Iterable[Row]:
    """A row a shape, the one with most nodes first, those without accelerators last. What is in it is said once a picture."""
    groups: dict[Shape, list[NodeHardware]] = {}
    for node in nodes:
        groups.setdefault(shapes[node.name], []).append(node)
    ordered = sorted(groups, key=lambda shape: (not shape.example.accelerators.total, -len(groups[shape]), shape.name))
    for shape in ordered:
        members = groups[shape]
        path = f"{base}shape/{shape.name}"
        text, rows = inner(members, path)
        words = shape.name if shape.name in described or not shape.words else f"{shape.name} ({shape.words})"
        described.add(shape.name)
        yield Row("shape", words + (f": {text}" if text else ""), count=len(members), path=path, children=rows)


def _inline(nodes: Sequence[NodeHardware], path: str) -> tuple[str, Children]:
    """The buckets of a shape in one line."""
    groups = _buckets(nodes)
    if list(groups) in BARE:
        return "", ()
    parts: list[str] = []
    for name, members in groups.items():
        counts = _sum(members)[0]
        free = counts.get("free", 0)
        parts.append(f"{len(members):,} {BUCKETS[name]}" + (f" ({free:,} free)" if free else ""))
    return ", ".join(parts), ()


def _buckets(nodes: Iterable[NodeHardware]) -> dict[str, list[NodeHardware]]:
    groups: dict[str, list[NodeHardware]] = {name: [] for name in BUCKETS}
    for node in nodes:
        groups[bucket(node)].append(node)
    return {name: members for name, members in groups.items() if members}


def _bucket_rows(nodes: Sequence[NodeHardware], path: str) -> tuple[str, Children]:
    groups = _buckets(nodes)
    if list(groups) in BARE:
        return "", ()
    rows = tuple(
        Row(
            "nodes",
            _bucket_text(name, groups[name]),
            names=tuple(node.name for node in groups[name]) if name != "held" or len(groups[name]) <= 4 else (),
            count=len(groups[name]),
            path=f"{path}/nodes/{name}",
            state={"all-free": "free", "held": "held", "some-free": "free", "zombie": "zombie", "tainted": "tainted"}.get(name, "unusable"),
        )
        for name in groups
    )
    return "", rows


def _bucket_text(name: str, nodes: Sequence[NodeHardware]) -> str:
    counts, devices = _sum(nodes)
    each = nodes[0].accelerators.total
    free = counts.get("free", 0)
    match name:
        case "held":
            others = [f"{counts[state]:,} {STATE_WORDS[state]}" for state in ("shared", "split") if counts.get(state)]
            return f"all {each} held" + (f" ({', '.join(others)})" if others else "")
        case "all-free":
            return f"all {each} free" + (f": {free:,} free{_together(nodes)}" if len(nodes) > 1 else "")
        case "some-free":
            least, most = (pick(node.accelerators.free for node in nodes) for pick in (min, max))
            span = f"{least}–{most}" if least != most else str(least)
            return f"{span} free of {each}" + (f" ({free:,} free{_best_numa(nodes)})" if len(nodes) > 1 else _best_numa(nodes))
        case "tainted":
            taints = Counter(str(device.taints[0]) for node in nodes for device in node.devices if device.taints)
            return f"with {number(counts['tainted'], 'device')} tainted {_commonest(taints)}; {free:,} free"
        case "zombie":
            return f"with {number(counts['zombie'], 'device')} held by claims whose pods are gone; {free:,} free"
        case "broken-pool":
            reasons = Counter(
                f"{device.pool.state}: {device.pool.reason}" for node in nodes for device in node.devices if not device.pool.usable
            )
            return f"with {number(counts['unusable'], 'device')} in pools that are {_commonest(reasons)}"
        case "closed":
            why = Counter(node.closed for node in nodes)
            return f"{', '.join(why)}: {free:,} of {devices:,} free, but nothing new starts here"
        case _:
            return BUCKETS[name]


def _commonest(counts: Counter[str]) -> str:
    return ", ".join(text for text, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:2])


def _together(nodes: Sequence[NodeHardware]) -> str:
    """Where the free nodes stand at the finest level that they are labelled with: what a tightly coupled job looks for."""
    for level in reversed(level_names(node.places for node in nodes)):
        if level in COARSE:
            continue
        places = Counter(node.places.get(level) for node in nodes)
        labelled = Counter({value: count for value, count in places.items() if value is not None})
        if not labelled:
            continue
        value, most = min(labelled.items(), key=lambda item: (-item[1], item[0]))
        rest = len(nodes) - most
        text = f", {number(most, 'node')} in {words(level)} {value}"
        return f"{text}, {rest} spread over {len(places) - 1} more" if rest else text
    return ""


def _best_numa(nodes: Sequence[NodeHardware]) -> str:
    best = max((count for node in nodes for count in node.accelerators.free_by_numa.values()), default=0)
    return f"; most on one NUMA node: {best}" if best else ""


def _every_node(depth: Depth, note: Note, nodes: Sequence[NodeHardware], path: str) -> tuple[str, Children]:
    return "", lambda: fold(_keyed(node, depth, note) for node in nodes)


def _keyed(node: NodeHardware, depth: Depth, note: Note) -> tuple[Hashable, Row]:
    noted = note(node)
    text = f"{status(node)}; {noted}" if noted else status(node)
    row = Row("node", text, (node.name,), path=f"node/{node.name}", state=_state(node), children=partial(inside, node, node.devices, depth))
    return (text, _content(node) if depth != "node" else None), row


def _content(node: NodeHardware) -> Hashable:
    """What is drawn below a node, for comparing: two nodes fold only when not even a name differs."""
    return tuple(
        (device.name, device.kind, device.spot.numa, device.spot.roots, device.state, tuple(hold.holder.name for hold in device.holds))
        for device in node.devices
    )


def _state(node: NodeHardware) -> str:
    counts = node.accelerators.states
    if not counts:
        return ""
    if node.closed:
        return "unusable"
    return next(iter(counts)) if len(counts) == 1 else "free" if counts.get("free") else "held"


def _sum(nodes: Iterable[NodeHardware]) -> tuple[Mapping[State, int], int]:
    return summed(node.accelerators for node in nodes)
