"""The page of a graph: nothing of the graph is lost or altered in it, and nothing in the graph can become markup, script or a request."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from k8s_topo_mcp.rendering import clean
from k8s_topo_mcp.rendering.page import MARK, SCRIPTS, embedded, page
from k8s_topo_mcp.rendering.page.packing import DEEP, IDENTITY, MANY, TEXT, packed, value

Graph = dict[str, Any]


class Read(HTMLParser):
    """Tags with their attributes, and what stands in scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inside: list[tuple[str, dict[str, str | None], str]] = []
        self.is_inside = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.is_inside = tag in ("script", "style")
        if self.is_inside:
            self.inside.append((tag, dict(attrs), ""))

    def handle_endtag(self, tag: str) -> None:
        self.is_inside = False

    def handle_data(self, data: str) -> None:
        if self.is_inside:
            tag, attrs, text = self.inside[-1]
            self.inside[-1] = (tag, attrs, text + data)


def data_of(text: str) -> Any:
    found = [inside for tag, attrs, inside in Read(text).inside if attrs.get("type") == "application/json"]
    assert len(found) == 1
    return json.loads(found[0])


def unpacked(raw: Any) -> tuple[dict[int, tuple[str, dict[str, Any]]], list[tuple[int, int, dict[str, Any]]]]:
    """What the page's own script makes of it (graph.js): things by number, and all edges."""

    def record(number: int) -> dict[str, Any]:
        flat = raw["records"][number]
        return {raw["words"][name]: raw["values"][entry] for name, entry in zip(flat[::2], flat[1::2], strict=True)}

    things: dict[int, tuple[str, dict[str, Any]]] = {}
    edges: list[tuple[int, int, dict[str, Any]]] = []
    before: dict[str, str] = {}
    for number, rest in enumerate(raw["rest"]):
        facts = record(raw["record"][number])
        kind = facts.get("type") if isinstance(facts.get("type"), str) else ""
        identity = before.get(kind, "")[: raw["shared"][number]] + rest
        before[kind] = identity
        things[number] = (identity, facts)
        if raw["up"][number]:
            edges.append((number - raw["up"][number], number, {"kind": "contains", **record(raw["via"][number])}))
    source = target = 0
    for step, other, kind in zip(raw["from"], raw["to"], raw["as"], strict=True):
        source, target = source + step, target + other
        edges.append((source, target, record(kind)))
    return things, edges


def graph(nodes: dict[str, dict[str, Any]], edges: list[tuple[str, str, dict[str, Any]]] = [], **about: Any) -> Graph:  # noqa: B006
    return {
        "directed": True,
        "multigraph": False,
        "graph": about,
        "nodes": [{**facts, "id": identity} for identity, facts in nodes.items()],
        "edges": [{**facts, "source": source, "target": target} for source, target, facts in edges],
    }


names = st.lists(st.text("abc-0", min_size=1, max_size=4), min_size=1, max_size=4).map("/".join)
values = st.one_of(st.text("xyz", max_size=5), st.integers(-(2**52), 2**52), st.booleans(), st.lists(st.sampled_from("pq"), max_size=3))
facts = st.dictionaries(st.sampled_from(["type", "label", "state", "more"]), values, max_size=4)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    nodes = draw(st.dictionaries(names, facts, min_size=1, max_size=12))
    pairs = draw(st.lists(st.tuples(st.sampled_from(sorted(nodes)), st.sampled_from(sorted(nodes))), max_size=20, unique=True))
    kinds = st.fixed_dictionaries({"kind": st.sampled_from(["contains", "held_by"])}, optional={"by": st.sampled_from("mn")})
    return graph(nodes, [(source, target, draw(kinds)) for source, target in pairs])


@given(graphs())
def test_nothing_is_lost(given: Graph) -> None:
    raw = json.loads(embedded(packed(given)))
    things, edges = unpacked(raw)
    assert sorted(identity for identity, _ in things.values()) == sorted(node["id"] for node in given["nodes"])
    by_id = dict(things.values())
    for node in given["nodes"]:
        assert by_id[node["id"]] == {name: entry for name, entry in node.items() if name != "id"}

    def plain(source: str, target: str, facts: dict[str, Any]) -> str:
        return json.dumps([source, target, facts], sort_keys=True)

    wanted = sorted(
        plain(edge["source"], edge["target"], {name: entry for name, entry in edge.items() if name not in ("source", "target")})
        for edge in given["edges"]
    )
    assert sorted(plain(things[source][0], things[target][0], facts) for source, target, facts in edges) == wanted


@given(graphs())
def test_what_contains_comes_first_and_everything_in_it_follows_at_once(given: Graph) -> None:
    raw = packed(given)
    parents = [number - step if step else -1 for number, step in enumerate(raw["up"])]
    open_: list[int] = []
    for number, parent in enumerate(parents):
        assert parent < number
        # Depth first: the parent is still open, so that a subtree is a run of numbers.
        while open_ and open_[-1] != parent:
            open_.pop()
        assert open_ or parent == -1
        open_.append(number)


def test_a_circle_of_containers_ends() -> None:
    raw = packed(graph({"a": {}, "b": {}}, [("a", "b", {"kind": "contains"}), ("b", "a", {"kind": "contains"})]))
    things, edges = unpacked(raw)
    assert len(things) == 2
    assert len(edges) == 2


def test_of_several_containers_the_finest_place_is_the_one_in_the_tree() -> None:
    nodes = {"group/g": {"type": "group"}, "zone/z": {"type": "zone"}, "rack/r": {"type": "rack"}, "node/n": {"type": "node"}}
    edges = [(above, "node/n", {"kind": "contains"}) for above in ("group/g", "rack/r", "zone/z")]
    raw = packed(graph(nodes, edges, places=["zone", "rack"]))
    things, _ = unpacked(raw)
    parents = {things[number][0]: things[number - step][0] for number, step in enumerate(raw["up"]) if step}
    assert parents == {"node/n": "rack/r"}
    assert len(raw["from"]) == 2
    assert "places" not in raw["about"]


def test_the_same_graph_gives_the_same_page() -> None:
    one = graph({"a": {"type": "zone"}, "b": {"type": "node", "x": [1, {"y": None}]}}, [("a", "b", {"kind": "contains"})])
    assert page(one) == page(json.loads(json.dumps(one)))


# --- the page asks for nothing and runs nothing but itself --------------------------------------------------------------------------


def test_the_page_is_one_document_without_a_reference_to_anything() -> None:
    read = Read(page(graph({"a": {"type": "node"}})))
    for tag, attrs in read.tags:
        assert tag not in ("img", "link", "iframe", "object", "embed", "form", "base", "audio", "video", "image", "use"), tag
        assert not {"src", "href", "srcset", "action", "style", "data", "xlink:href"} & set(attrs), (tag, attrs)
        assert not [name for name in attrs if name.startswith("on")], (tag, attrs)
    text = page(graph({"a": {"type": "node"}}))
    assert "http://" not in text
    assert "https://" not in text
    assert not re.search(r"@import|url\(", text)


def test_the_policy_forbids_every_request_and_every_other_script() -> None:
    read = Read(page(graph({"a": {"type": "node"}})))
    tags = [tag for tag, _ in read.tags]
    (policy,) = [attrs["content"] for tag, attrs in read.tags if attrs.get("http-equiv") == "Content-Security-Policy"]
    rules = dict(rule.strip().partition(" ")[::2] for rule in (policy or "").split(";"))
    assert rules["default-src"] == "'none'"
    assert "connect-src" not in rules
    assert rules["base-uri"] == rules["form-action"] == "'none'"
    assert rules["require-trusted-types-for"] == "'script'"
    # The only script and the only style, by what they are.
    scripts = [text for tag, attrs, text in read.inside if tag == "script" and "type" not in attrs]
    styles = [text for tag, _, text in read.inside if tag == "style"]
    assert [rules["script-src"], rules["style-src"]] == [
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in (scripts[0], styles[0])
    ]
    assert len(scripts) == len(styles) == 1
    assert tags.index("meta") < tags.index("style") < tags.index("script")


def test_scripts_put_text_in_as_text_and_ask_nobody() -> None:
    folder = files("k8s_topo_mcp.rendering.page") / "assets"
    assert {entry.name for entry in folder.iterdir()} == {"page.html", "page.css", *SCRIPTS}
    for name in SCRIPTS:
        text = (folder / name).read_text(encoding="utf-8")
        found = re.search(
            r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function|fetch\(|XMLHttp|WebSocket|import\(|srcdoc|DOMParser|"
            r"createContextualFragment|localStorage|sessionStorage|console\.",
            text,
        )
        assert found is None, (name, found)


def test_a_page_is_known_by_its_mark() -> None:
    assert MARK in page(graph({}))[:2000]


# --- what a graph may hold ---------------------------------------------------------------------------------------------------------

HOSTILE = (
    "</script><script>window.owned=1</script>",
    "<!--<script>",
    "<img src=x onerror=window.owned=1>",
    "%%SCRIPT%%",
    "&lt;b&gt;&amp;",
    "a\u2028b\u2029c",
    "\x1b[31mred\x1b[0m\x00\x07",
    "\ud800 alone",
    "\u202eevil",
    "'\"`${alert(1)}",
    "__proto__",
    "constructor",
    "A" * 1_000_000,
)


def test_hostile_text_stays_data() -> None:
    nodes = {f"node/{text}": {"type": "node", "label": text, text: text, "list": [text, {text: text}]} for text in HOSTILE}
    html = page(graph(nodes, headline=HOSTILE[0], basis=HOSTILE[1], states=[[text, text] for text in HOSTILE]))
    # Two elements end, however often a name says so; nothing else in the page begins one.
    assert html.count("</script") == 2
    assert html.count("<script") == 2
    assert "<!--" not in html
    assert len(html) < 200_000
    html.encode()
    things, _ = unpacked(data_of(html))
    assert len(things) == len(nodes)
    assert {identity for identity, _ in things.values()} == {clean(f"node/{text}", IDENTITY) for text in HOSTILE}
    assert any(facts["label"] == HOSTILE[0] for _, facts in things.values())
    for _, facts in things.values():
        assert "\x1b" not in json.dumps(facts)
        assert "\\u001b" not in json.dumps(facts)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (2**53 - 1, 2**53 - 1),
        (2**63, str(2**63)),
        (-(2**80), str(-(2**80))),
        (1 << 5000, "about 2^5000"),
        (float("nan"), "nan"),
        (float("inf"), "inf"),
        (0.5, 0.5),
        (True, True),
        (None, None),
        ((1, 2), [1, 2]),
        ({1: {"a": "b"}}, {"1": {"a": "b"}}),
        ({"n\x00": b"x"}, {"n": "b'x'"}),
    ],
    ids=lambda given: type(given).__name__,
)
def test_values_are_exact_or_text(given: Any, kept: Any) -> None:
    assert value(given) == kept
    assert json.loads(embedded(value(given))) == kept


def test_values_are_bounded() -> None:
    assert len(value("x" * 10**6)) == TEXT
    long = value(list(range(10**6)))
    assert len(long) == MANY + 1
    assert long[-1] == "… 999,950 more"
    assert len(value({str(number): 0 for number in range(1000)})) == MANY + 1
    nested: Any = "end"
    for _ in range(1000):
        nested = [nested]
    assert json.dumps(value(nested)).count("[") == DEEP
    many = packed(graph({"a": {f"x{number}": 1 for number in range(1000)}}))
    assert max(map(len, many["records"])) == 2 * MANY
