"""topology_graph: the hardware, who is on it, and what is free. Facts and pictures come from `topology`; here they are cleaned, drawn and
kept within the budget.

The picture is drawn into `report` alone: repeated as rows it would double the answer. What a program needs without drawing is in `devices`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Literal, cast

from pydantic import Field, PrivateAttr

from k8s_topo_mcp.objects import Node, ResourceClaim, ResourceSlice
from k8s_topo_mcp.rendering import clean, plural, tokens
from k8s_topo_mcp.rendering.budget import ANSWER
from k8s_topo_mcp.tools import basis as bases
from k8s_topo_mcp.tools import paging, unread
from k8s_topo_mcp.tools.errors import Ambiguous, NotFound
from k8s_topo_mcp.tools.models import Answer, Arguments, Basis, Next, Part
from k8s_topo_mcp.tools.tool import Alias, Tool
from k8s_topo_mcp.tools.topology_drawings import DRAWINGS, Caption, escaped_cost, graph_text, page, whole
from k8s_topo_mcp.tools.topology_highlight import Highlight, Lit, highlight_lines, light
from k8s_topo_mcp.topology.cautions import cautions
from k8s_topo_mcp.topology.closeup import NO_MARKS, Depth, claim_rows, device_rows, node_row, pod_rows, unbound_rows, zombie_rows
from k8s_topo_mcp.topology.domains import words as level_words
from k8s_topo_mcp.topology.graph import LEFT_OUT, hardware_graph, lean
from k8s_topo_mcp.topology.hardware import Hardware, NodeHardware, hardware
from k8s_topo_mcp.topology.largest import Largest, largest
from k8s_topo_mcp.topology.outlook import DETAILS, Detail, outlook
from k8s_topo_mcp.topology.podsets import podset_rows
from k8s_topo_mcp.topology.pool import pool_rows
from k8s_topo_mcp.topology.rows import Row
from k8s_topo_mcp.topology.scopes import KEYS, AmbiguousScope, ScopeError, Selection, resolve
from k8s_topo_mcp.topology.shapes import Shape, shapes
from k8s_topo_mcp.topology.totals import Totals, gaps, totals
from k8s_topo_mcp.topology.words import WORDS as STATE_WORDS
from k8s_topo_mcp.view import ClusterView
from k8s_topo_mcp.view.indices import pods_of_claim

KINDS = 4
"""How many kinds of device the structured part and the `largest free` line name."""
VARIANTS = " (~: same machine type, other devices)"
"""What the suffix of a shape's name means; the picture of a whole cluster needs the room for other things."""
RESERVE = 90
"""Tokens kept for a cursor and the frame's notes on arguments."""


class Input(Arguments):
    """What to look at, how closely, and drawn how."""

    scope: str = Field(
        default="cluster",
        description="cluster, zone|shape|node/NAME, pod|claim|queue/NS/NAME, workload/KIND/NS/NAME, zombies, or a path from an answer. "
        "A shape's name ends in ~ and a code where nodes of one machine type differ in devices",
    )
    highlight: str | None = Field(default=None, description="pod/NS/NAME or claim/NS/NAME: what it holds or could hold, what is in the way")
    depth: Literal["auto", "node", "numa", "root", "device"] = "auto"
    format: Literal["text", "mermaid", "json"] = "text"
    cursor: str | None = None


class DeviceKind(Part):
    """One kind of device: how many by state, how many are free on nodes that are open, and the most of these in one place (absent: no
    device publishes that place)."""

    kind: str
    driver: str
    total: int
    states: dict[str, int]
    free_on_open_nodes: int | None = None
    largest_free: dict[str, int] | None = None


class Output(Answer):
    """`picture` is drawn into the report. `unknown` says what the API doesn't tell, `open` what to ask next."""

    scope: str = ""
    headline: str = ""
    highlight: Highlight | None = None
    devices: tuple[DeviceKind, ...] = ()
    held_by: dict[str, int] = Field(default_factory=dict[str, int])
    unknown: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    next: Next | None = None
    cursor: str | None = None
    basis: Basis

    _picture: str = PrivateAttr(default="")
    _alone: bool = PrivateAttr(default=False)

    @property
    def picture(self) -> str:
        """The drawn picture."""
        return self._picture

    @property
    def stands_alone(self) -> bool:
        """Whether the picture is the whole report: a document of its own (Mermaid, JSON) that a program reads as it is."""
        return self._alone

    def drawn(self, picture: str, alone: bool, cursor: str | None) -> Output:
        """The same answer with a picture."""
        output = self.model_copy(update={"cursor": cursor})
        output._picture, output._alone = picture, alone
        return output


def answer(view: ClusterView, question: Input) -> Output:
    """Resolve the scope, choose the finest picture that fits, draw it."""
    facts = hardware(view)
    shape_of = view.memo("topology.shapes", lambda: shapes(facts.nodes))
    selection = _selected(view, facts, shape_of, question.scope)
    lit = _lit(view, facts, shape_of, question.highlight)
    pictures = _pictures(view, facts, shape_of, selection, question.depth, lit)
    frame = _frame(view, facts, shape_of, selection)
    if lit is not None:
        frame = frame.model_copy(update={"highlight": lit.highlight})
    room = ANSWER - RESERVE - _cost(frame)
    if room < ANSWER // 3:
        frame = frame.model_copy(update={"devices": frame.devices[:1], "open": (), "unknown": frame.unknown[:1], "held_by": {}})
        room = ANSWER - RESERVE - _cost(frame)
    notes = tuple(highlight_lines(frame.highlight)) if frame.highlight is not None else ()
    caption = Caption(frame.scope, frame.headline, bases.line(frame.basis), notes)
    drawing = DRAWINGS[question.format](caption, room)
    if question.format == "json":
        text = _whole_graph(view, caption, selection, shape_of, drawing.room, question.depth)
        if text is not None:
            return _drawn(frame, text, question, None)
    start = paging.position(view, TOOL.name, question)
    # A first page is the finest picture that fits whole; what no picture can show whole is turned page by page.
    for picture in pictures[:-1]:
        fitting = whole(picture(), drawing) if start == 0 else None
        if fitting is not None:
            return _drawn(frame, drawing.draw(fitting), question, None)
    shown, end = page(pictures[-1](), start, drawing)
    more = None if end is None else paging.cursor(view, TOOL.name, question, end)
    return _drawn(frame, drawing.draw(shown), question, more)


def _selected(view: ClusterView, facts: Hardware, shape_of: Mapping[str, Shape], scope: str) -> Selection:
    try:
        return resolve(view, facts, shape_of, scope)
    except AmbiguousScope as error:
        raise Ambiguous(clean(str(error), 500)) from None
    except ScopeError as error:
        text, about = clean(str(error), 500), error.missing
        if about is None:
            raise NotFound(text) from None
        raise unread.missing(view, about.kind, clean(scope, 200), about.namespace, text) from None


def _lit(view: ClusterView, facts: Hardware, shape_of: Mapping[str, Shape], highlight: str | None) -> Lit | None:
    if highlight is None or not highlight.strip():
        return None
    given = highlight.strip().strip("/")
    # "namespace/name" is a pod, as everywhere.
    scope = given if given.partition("/")[0] in KEYS else f"pod/{given}"
    key = ("topology.highlight", scope)
    return view.memo(key, lambda: light(view, _selected(view, facts, shape_of, scope)))


def _drawn(frame: Output, picture: str, question: Input, cursor: str | None) -> Output:
    return frame.drawn(picture, question.format != "text", cursor)


# --- pictures -------------------------------------------------------------------------------------------------------------------


def _pictures(
    view: ClusterView, facts: Hardware, shape_of: Mapping[str, Shape], selection: Selection, depth: str, lit: Lit | None
) -> Sequence[Callable[[], Iterable[Row]]]:
    """The pictures that answer the question, finest first, each made when it is called for."""

    def words(node: NodeHardware) -> str:
        shape = shape_of[node.name]
        return f"{shape.name} ({shape.words})"

    def note(node: NodeHardware) -> str:
        return lit.note(node) if lit is not None else ""

    marks = lit.devices if lit is not None else NO_MARKS
    makers: list[Callable[[], Iterable[Row]]]
    near: tuple[Depth, ...] = (cast(Depth, depth),) if depth != "auto" else ("device", "root", "numa")
    match selection.focus:
        case "nodes":
            # A bucket was opened to see its nodes.
            listed = depth != "auto" or "/nodes/" in selection.path
            details: tuple[Detail, ...] = ("nodes",) if listed else DETAILS
            # Thousands of nodes one by one never fit: don't try.
            if not listed and len(selection.nodes) > 400:
                details = details[1:]
            level: Depth = "node" if depth == "auto" else cast(Depth, depth)
            apart = unbound_rows(facts) if selection.path == "cluster" else ()
            path = selection.path

            def looked_at(detail: Detail) -> Iterable[Row]:
                return chain(outlook(selection.nodes, shape_of, path, detail, level, note), apart)

            makers = [partial(looked_at, detail) for detail in details]
        case "node":
            node = selection.nodes[0]
            makers = [lambda step=step: (node_row(node, words(node), step, marks=marks),) for step in near]
        case "pod":
            pod = selection.pod
            makers = [lambda step=step: pod_rows(view, facts, pod, step, words, marks) if pod is not None else () for step in near]
        case "claim":
            claim = selection.claim
            makers = [lambda step=step: claim_rows(view, claim, step, words, marks) if claim is not None else () for step in near]
        case "device":
            device = selection.device
            makers = [lambda: device_rows(device, next(iter(selection.nodes), None)) if device is not None else ()]
        case "pool":
            makers = [lambda: pool_rows(selection.path, selection.nodes, selection.unbound)]
        case "pods":
            makers = [lambda: podset_rows(view, selection.path, selection.about, selection.pods)]
        case "zombies":
            makers = [lambda: zombie_rows(facts)]
    return makers


def _whole_graph(
    view: ClusterView, caption: Caption, selection: Selection, shape_of: Mapping[str, Shape], room: int, depth: str
) -> str | None:
    """The graph itself, every device a node, where it is small enough; else None."""
    if selection.focus not in ("node", "nodes") or (selection.focus == "nodes" and depth != "device"):
        return None
    if sum(len(node.devices) for node in selection.nodes) > 64:
        return None
    graph = hardware_graph(selection.nodes, shape_of, view)
    text = graph_text(graph, caption, folded=False)
    if escaped_cost(text) > room:
        text = graph_text(lean(graph), caption, folded=False, left_out=LEFT_OUT)
    return text if escaped_cost(text) <= room else None


# --- what stands around the picture ---------------------------------------------------------------------------------------------


def _frame(view: ClusterView, facts: Hardware, shape_of: Mapping[str, Shape], selection: Selection) -> Output:
    """Everything but the picture."""
    key = ("topology.frame", selection.path)
    return view.memo(key, lambda: _new_frame(view, facts, shape_of, selection))


def _new_frame(view: ClusterView, facts: Hardware, shape_of: Mapping[str, Shape], selection: Selection) -> Output:
    basis = bases.basis(view)
    shown = selection.nodes if selection.focus in ("nodes", "node", "pool", "zombies") else ()
    sums = totals(shown, shape_of)
    whole = selection.path == "cluster"
    unknown: list[str] = [*_unread(view), *(gaps(facts) if whole else ())]
    if selection.focus == "node":
        unknown += cautions(device for node in selection.nodes for device in node.devices)
    elif shown and selection.focus == "nodes":
        unknown += _shape_cautions(shown, shape_of)
    return Output(
        scope=clean(selection.path, 200),
        headline=_headline(
            selection, sums, any("~" in shape_of[node.name].name for node in shown), view.unknown(ResourceSlice.KIND) is None
        ),
        devices=_kinds(sums, largest(shown)) if selection.focus != "zombies" else (),
        held_by={clean(name, 40): count for name, count in list(sums.namespaces.items())[:3]} if selection.focus == "nodes" else {},
        unknown=tuple(clean(text, 400) for text in unknown[:5]),
        open=_open(selection, shape_of, sums, shown),
        next=_next(view, selection),
        basis=basis,
    )


def _unread(view: ClusterView) -> Iterable[str]:
    """What the picture lacks because it may not be read."""
    for kind, means in (
        (ResourceSlice, "no device that a DRA driver publishes is known"),
        (ResourceClaim, "what is held looks free"),
        (Node, "places, taints and readiness aren't known"),
    ):
        entry = view.unknown(kind.KIND)
        if entry is not None:
            yield f"{means}: {unread.sentence(entry)}"


def _next(view: ClusterView, selection: Selection) -> Next | None:
    """Where the picture can't tell: why a pod waits is another tool's question."""
    waiting = selection.pod
    if selection.claim is not None and selection.claim.allocation is None:
        waiting = next((pod for pod in pods_of_claim(view, selection.claim) if pod.is_pending), None)
    if waiting is None or not waiting.is_pending:
        return None
    return Next(tool="explain_pending", arguments={"pod": clean(waiting.full_name, 200)})


def _headline(selection: Selection, sums: Totals, variants: bool, told: bool) -> str:
    match selection.focus:
        case "nodes":
            zones = f", {plural(sums.zones, 'zone')}" if sums.zones and selection.path == "cluster" else ""
            subject = "" if selection.path == "cluster" else f"{clean(selection.path, 120)}: "
            kinds = f", {plural(sums.shapes, 'shape')}{VARIANTS if variants and subject else ''}"
            return f"{subject}{plural(sums.nodes, 'node')}{zones}{kinds}; {_accelerators(sums, told)}"
        case "node" | "pool":
            return f"{clean(selection.path, 200)}: {_accelerators(sums, told)}"
        case "pods":
            return f"{clean(selection.path, 200)}: {plural(len(selection.pods), 'pod')}"
        case "zombies":
            count = sums.accelerators.get("zombie", 0)
            return f"{plural(count, 'accelerator')} held by claims whose pods are gone"
        case _:
            return clean(selection.path, 200)


def _accelerators(sums: Totals, told: bool) -> str:
    if not sums.total:
        return "no accelerators published" if told else "its devices could not be read"
    counts = ", ".join(f"{sums.accelerators[state]:,} {STATE_WORDS[state]}" for state in STATE_WORDS if sums.accelerators.get(state))
    closed = f" ({sums.closed:,} of the free on nodes that are cordoned or not ready)" if sums.closed else ""
    return f"{plural(sums.total, 'accelerator')}: {counts}{closed}"


def _kinds(sums: Totals, most: tuple[Largest, ...]) -> tuple[DeviceKind, ...]:
    free = {entry.kind: entry for entry in most}
    found: list[DeviceKind] = []
    for kind, (states, total) in list(sums.by_kind.items())[:KINDS]:
        entry = free.get(kind)
        places: dict[str, int] | None = None
        if entry is not None:
            places = {"node": entry.node}
            if entry.numa is not None:
                places["numa"] = entry.numa
            if entry.root is not None:
                places["root"] = entry.root
            places.update(entry.domains[-2:])
        found.append(
            DeviceKind(
                kind=clean(kind.label, 60),
                driver=clean(kind.driver, 60),
                total=total,
                states={state: states[state] for state in STATE_WORDS if states.get(state)},
                free_on_open_nodes=entry.free if entry is not None else None,
                largest_free=places,
            )
        )
    return tuple(found)


def _shape_cautions(nodes: Sequence[NodeHardware], shape_of: Mapping[str, Shape]) -> list[str]:
    """What holds for every node of a shape, the shape named; a sentence that several shapes share names none."""
    found: dict[str, set[str]] = {}
    examples = {shape_of[node.name].name: shape_of[node.name].example for node in nodes}
    for name, example in examples.items():
        for text in cautions(example.devices):
            found.setdefault(text, set()).add(name)
    return [f"{next(iter(names))}: {text}" if len(names) == 1 and len(examples) > 1 else text for text, names in sorted(found.items())]


def _open(selection: Selection, shape_of: Mapping[str, Shape], sums: Totals, nodes: Sequence[NodeHardware]) -> tuple[str, ...]:
    """Scopes that show more, most useful first."""
    found: list[str] = []
    match selection.focus:
        case "nodes":
            if sums.shapes > 1:
                accelerated = [node for node in nodes if node.accelerators.total]
                found += [f"shape/{shape_of[node.name].name}" for node in accelerated[:1]]
            open_nodes = [node for node in nodes if not node.closed]
            best = max(open_nodes, key=_free_accelerators, default=None)
            found += [f"node/{node.name}" for node in ([best] if best is not None else nodes[:1])]
            if sums.accelerators.get("zombie") and selection.path == "cluster":
                found.append("zombies")
        case "pod" | "claim" | "device":
            found += [f"node/{node.name}" for node in selection.nodes[:1]]
        case _:
            pass
    # A path that would have to be cut or cleaned couldn't be asked.
    return tuple(path for path in found if path != selection.path and clean(path, 120) == path)


def _free_accelerators(node: NodeHardware) -> int:
    return node.accelerators.free


# --- text -----------------------------------------------------------------------------------------------------------------------


def _cost(frame: Output) -> int:
    """What the answer costs without its picture."""
    structured = {**frame.structured(), "report": text(frame)}
    return tokens(json.dumps(structured, ensure_ascii=False))


def text(output: Output) -> str:
    """The report."""
    if output.stands_alone:
        return output.picture
    parts = [output.headline]
    if output.highlight is not None:
        parts += highlight_lines(output.highlight)
    if output.picture:
        parts.append(output.picture)
    largest_words = [_largest_words(kind) for kind in output.devices if kind.largest_free is not None]
    if largest_words:
        parts.append(f"{'largest':<11}free in one place: {'; '.join(largest_words)}")
    others = [f"{kind.total:,} {kind.kind} ({_states(kind)})" for kind in output.devices if kind.largest_free is None]
    if others:
        parts.append(f"{'besides':<11}{'; '.join(others)}")
    if output.held_by:
        parts.append(f"{'held by':<11}{', '.join(f'{name} {count:,}' for name, count in output.held_by.items())}")
    parts += [f"{'unknown' if number == 0 else '':<11}{line}" for number, line in enumerate(output.unknown)]
    if output.open:
        parts.append(f"{'open':<11}" + ", ".join(f'scope="{path}"' for path in output.open))
    if output.next:
        arguments = ", ".join(_argument(name, value) for name, value in output.next.arguments.items())
        parts.append(f"{'next':<11}{output.next.tool}({arguments}) says why")
    if output.cursor:
        parts.append(f'{"more":<11}cursor="{output.cursor}"')
    parts.append(f"{'basis':<11}{bases.line(output.basis)}")
    return "\n".join(parts)


def _argument(name: str, value: object) -> str:
    return f'{name}="{value}"'


def _largest_words(kind: DeviceKind) -> str:
    places = kind.largest_free or {}
    own = {"node": "node", "numa": "NUMA node", "root": "root"}
    words = {place: own.get(place) or clean(level_words(place), 40) for place in places}
    most = ", ".join(f"{count:,} a {words[place]}" for place, count in places.items())
    return f"{kind.kind} {most} (of {kind.free_on_open_nodes or 0:,})"


def _states(kind: DeviceKind) -> str:
    return ", ".join(f"{kind.states[state]:,} {words}" for state, words in STATE_WORDS.items() if state in kind.states)


TOOL = Tool(
    name="topology_graph",
    title="Accelerator topology",
    description=" ".join(
        """
        What the accelerator hardware looks like and what is free: zone, rack, NVLink domain, node, NUMA node, PCIe root, device, holder.
        Use it for "where are free GPUs", "which GPUs share a root or NIC", "how fragmented are we", "who uses node X". `scope`: cluster
        (default, equal nodes folded, any size under 1,500 tokens), node/NAME, pod/NS/NAME, claim/NS/NAME, or a path printed by an earlier
        answer. `highlight` marks one pod or claim. To learn why a pod is stuck use explain_pending; do not infer it from this picture.
        """.split()
    ),
    input=Input,
    output=Output,
    answer=answer,
    text=text,
    example='topology_graph(scope="node/gpu-0")',
    aliases={
        "zone": Alias("scope", "zone/{}"),
        "shape": Alias("scope", "shape/{}"),
        "pod": Alias("scope", "pod/{}"),
        "claim": Alias("scope", "claim/{}"),
        "path": Alias("scope"),
    },
)
