"""The page of `topology --html` in a headless Chromium, as somebody uses it who looks for free devices, a holder, a node."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from k8s_topo_mcp.cli import main
from k8s_topo_mcp.rendering.page import page
from k8s_topo_mcp.tools.topology_page import topology_page
from k8s_topo_mcp.view import ClusterView
from tests.browser import Browser, browser, needs_browser
from tests.rendering.test_page import graph
from tests.tools.test_topology_page import hostile
from tests.topology.clusters import claim, device, gpu, large, node, pod, resource_slice, view

pytestmark = needs_browser

ELEMENTS = 8_000
"""What a page may have of them, whatever the cluster."""
WIDTHS = """
const page = document.documentElement, stage = document.querySelector(".stage");
return [page.scrollWidth, innerWidth, stage.scrollWidth - stage.clientWidth];
"""
CONTRAST = r"""
const part = (v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
const light = (color) => {
  const [r, g, b] = color.match(/[\d.]+/g).map((v) => part(v / 255));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const ground = (one) => {
  const color = getComputedStyle(one).backgroundColor;
  return /, 0\)$/.test(color) ? ground(one.parentElement) : color;
};
const wanted = "#legend .letter, #headline, #basis, #map .head .name, #map .head .type, #map .head .sum, #panel h3, #panel td, #status";
const found = [...document.querySelectorAll(wanted)].map((one) => {
  const [a, b] = [light(getComputedStyle(one).color), light(ground(one))];
  return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), one.id || one.className, one.textContent];
});
return found.sort((a, b) => a[0] - b[0])[0];
"""
"""The text that is hardest to read, with its contrast as WCAG counts it."""


@pytest.fixture(scope="module")
def window() -> Iterator[Browser]:
    with browser() as window:
        yield window


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("page") / "out.html"
    assert main(["topology", "--demo", "--html", str(target)]) == 0
    return target


@pytest.fixture(autouse=True)
def _nothing_on_the_console(window: Browser) -> Iterator[None]:
    yield
    assert window.messages() == []
    assert window.run("return performance.getEntriesByType('resource').length") == 0
    assert window.count("*") <= ELEMENTS
    assert window.run("return window.owned ?? null") is None


def opened(window: Browser, folder: Path, seen: ClusterView, scope: str = "cluster") -> None:
    target = folder / "page.html"
    target.write_text(topology_page(seen, scope).html, encoding="utf-8")
    window.open(target)


def found(window: Browser, query: str) -> list[str]:
    """What a search lists, the first words of each row."""
    window.press("/")
    window.press(query)
    done = "return document.querySelector('#query').value === arguments[0] && document.querySelector('#results').ariaBusy === 'false'"
    window.until(lambda: window.run(done, query), "an answer of the search")
    return [" ".join(text.split()[:2]) for text in window.texts("#results li")]


def legend(window: Browser) -> dict[str, int]:
    rows = [text.split() for text in window.texts("#legend button")]
    return {name: int(count.replace(",", "")) for _, name, count in rows}


def where(window: Browser) -> str:
    return " > ".join(" ".join(text.split()) for text in window.texts("#path li"))


def test_it_says_what_it_is_of(window: Browser, demo: Path) -> None:
    window.open(demo)
    assert window.text("#headline").startswith("20 nodes, 2 zones, 4 shapes; 136 accelerators: 63 free, 54 held")
    assert window.text("#basis") == "snapshot twenty-gpu-nodes, 2026-11-29T23:59Z · Kubernetes 1.37.2, gates as served"
    assert window.run("return document.title").startswith("20 nodes")
    assert legend(window) == {"free": 63, "shared": 0, "held": 54, "zombie": 6, "split": 8, "tainted": 1, "unusable": 4}
    # A state is told by its letter, too.
    assert len({text.split()[0] for text in window.texts("#legend button")}) == 7
    assert {text.split()[0] for text in window.texts("#map [data-state=zombie]")} == {"Z"}
    # Every accelerator and every NIC of twenty nodes has its cell.
    assert window.count("#map .cell") == 422
    assert window.count("#map .cell[data-state=zombie]") == 6


def test_nothing_is_cut_off_at_1280_pixels(window: Browser, demo: Path) -> None:
    window.open(demo)
    assert window.run(WIDTHS) == [1280, 1280, 0]
    for scheme in ("light", "dark"):
        window.scheme(scheme)
        worst = window.run(CONTRAST)
        assert worst[0] >= 4.5, (scheme, worst)
    window.scheme("light")


def test_search_opens_a_node_and_shows_its_facts(window: Browser, demo: Path) -> None:
    window.open(demo)
    assert found(window, "h100-3")[0] == "node h100-3"
    window.press("Enter")
    assert where(window) == "cluster > zone a > node h100-3"
    facts = window.text("#panel")
    assert "p5.48xlarge" in facts
    assert re.search(r"H100 80GB HBM3\s+8\s+8", facts)
    assert "node/h100-3" in facts
    assert window.count("#map .cell:not(.minor)") == 8
    assert legend(window)["free"] == 8


def test_from_a_device_to_its_claim_and_its_pod_and_back(window: Browser, demo: Path) -> None:
    window.open(demo)
    window.click("#map [data-state=zombie]")
    assert "held by claims whose pods are gone" in window.text("#panel .state")
    assert re.search(r"held by →\s+claim\s+default/bert-old", window.text("#panel"))
    window.open(demo)
    assert found(window, "llama-0")[:2] == ["claim default/llama-0", "pod default/llama-0"]
    window.press("Down", "Enter")
    # A pod has no place of its own: the map shows what it holds.
    assert window.text("#panel h2") == "default/llama-0"
    assert where(window) == "cluster > zone a > node h100-1"
    assert window.count("#map .cell[data-hit]") == 8
    assert re.search(r"← reserved for\s+claim\s+default/llama-0", window.text("#panel"))
    window.click("#panel .thing", "gpu-3")
    assert window.text("#map [aria-selected=true] .name") == "gpu-3"
    assert re.search(r"held by →\s+claim\s+default/llama-0[\s\S]+reserved for →\s+pod\s+default/llama-0", window.text("#panel"))


def test_a_state_in_the_legend_leaves_only_what_has_it(window: Browser, demo: Path) -> None:
    window.open(demo)
    window.click("#legend button", "tainted")
    assert window.texts("#map [data-type=node] > .head .name") == ["l4-3"]
    assert window.text("#legend [aria-pressed=true]").startswith("T")
    window.click("#legend button", "zombie")
    assert window.texts("#map [data-type=node] > .head .name") == ["a100-5", "l4-3"]
    window.click("#legend button", "zombie")
    window.click("#legend button", "tainted")
    assert window.count("#map [data-type=node]") == 20


def test_what_is_counted_can_be_chosen(window: Browser, demo: Path) -> None:
    window.open(demo)
    options = window.texts("#counting option")
    assert options[:3] == ["accelerators (136)", "all devices (422)", "EFA (286)"]
    window.run("const select = document.querySelector('#counting'); select.selectedIndex = 2; select.dispatchEvent(new Event('change'))")
    assert legend(window)["free"] == 280
    assert legend(window)["held"] == 6


def test_keys_alone_are_enough(window: Browser, demo: Path) -> None:
    window.open(demo)
    window.press("Down", "Down")
    assert window.text("#panel h2") == "h100-0"
    window.press("Right")
    assert window.text("#panel .type") == "NUMA node"
    window.press("Left", "Enter")
    assert where(window) == "cluster > zone a > node h100-0"
    window.press("Escape")
    assert where(window) == "cluster > zone a"
    # What was left is still in hand.
    assert window.run("return document.activeElement.getAttribute('aria-label')").startswith("node h100-0")
    window.press("-")
    assert where(window) == "cluster"
    window.press("+")
    assert where(window) == "cluster > zone a"
    assert window.count("#map [role=treeitem][tabindex='0']") == 1
    found(window, "state:zombie")
    window.press("Escape")
    assert window.run("return [document.querySelector('#found').hidden, document.querySelector('#query').value]") == [True, ""]


def test_back_and_a_kept_address_lead_where_one_was(window: Browser, demo: Path, tmp_path: Path) -> None:
    window.open(demo)
    found(window, "a100-2")
    window.press("Enter")
    address = window.run("return location.hash")
    window.click("#path button", "zone")
    assert where(window) == "cluster > zone b"
    window.back()
    window.until(lambda: where(window) == "cluster > zone b > node a100-2", "the node again")
    window.open(demo, address)
    assert where(window) == "cluster > zone b > node a100-2"
    opened(window, tmp_path, view(large(40, seed=5)), "node/node-00007")
    assert where(window) == "node/node-00007"
    opened(window, tmp_path, view(large(40, seed=5)), "device/gpu.nvidia.com/node-00007/gpu-1")
    window.press("Escape")
    window.press("Escape")
    for _ in range(2):  # and Back to the beginning stays there
        window.back()
    window.until(lambda: where(window).endswith("node node-00007"), "the beginning")
    window.open(demo, "#at=nothing&open=%3Cimg%3E")
    assert where(window) == "cluster"


def test_a_scope_is_where_the_page_begins(window: Browser, tmp_path: Path) -> None:
    seen = view(large(40, seed=5))
    opened(window, tmp_path, seen, "device/gpu.nvidia.com/node-00007/gpu-1")
    assert window.text("#map [aria-selected=true]").split()[1] == "gpu-1"
    assert where(window).endswith("node node-00007")
    opened(window, tmp_path, seen, "zombies")
    assert window.texts("#legend [aria-pressed=true] .name") == ["zombie"]


def test_states_plugins_parts_and_kinds_that_nobody_foresaw(window: Browser, tmp_path: Path) -> None:
    """Any type and any attribute is shown; a graph of nodes alone is one too."""
    target = tmp_path / "page.html"
    nodes = {
        "node/a": {"type": "node"},
        "node/a/resource/x.com/gpu": {"type": "resource", "allocatable": 8, "requested": 3},
        "device/d/a/g0": {"type": "device", "state": "glowing", "label": "G", "nested": {"deep": ["one", {"two": 2}]}, "on": True},
        "device/d/a/g0p0": {"type": "partition", "state": "free", "parent": "g0"},
        "fabric/f": {"type": "fabric", "speed_gbps": 400},
        "queue/q": {"type": "queue", "quota": {"nvidia.com/gpu": "8"}},
        "pool/d/a": {"type": "pool", "state": "usable"},
        "claim/c1": {"type": "claim"},
        "claim/c2": {"type": "claim"},
        "pod/p": {"type": "pod"},
        "device/d/a/g1": {"type": "device", "state": "held", "label": "G"},
    }
    edges = [
        ("node/a", "node/a/resource/x.com/gpu", {"kind": "contains", "by": "allocatable"}),
        ("node/a", "device/d/a/g0", {"kind": "contains", "by": "slice"}),
        ("device/d/a/g0", "device/d/a/g0p0", {"kind": "contains"}),
        ("device/d/a/g0", "fabric/f", {"kind": "joined_to", "port": 7}),
        ("queue/q", "fabric/f", {"kind": "watches"}),
        ("node/a", "pool/d/a", {"kind": "publishes"}),
        ("node/a", "device/d/a/g1", {"kind": "contains", "by": "slice"}),
        ("device/d/a/g0", "claim/c1", {"kind": "held_by"}),
        ("device/d/a/g1", "claim/c2", {"kind": "held_by"}),
        *((claim, "pod/p", {"kind": "reserved_for"}) for claim in ("claim/c1", "claim/c2")),
        *(("pod/p", claim, {"kind": "asks"}) for claim in ("claim/c1", "claim/c2")),
    ]
    target.write_text(page(graph(nodes, edges, states=[["free", "free"], ["held", "held"], ["glowing", "on fire"]])), encoding="utf-8")
    window.open(target)
    # A device is counted once, whatever is in it; five of eight are free. What isn't hardware has no box.
    assert legend(window) == {"free": 5, "held": 4, "glowing": 1}
    assert window.texts("#map > .box > .head .name") == ["a"]
    window.click("#map .cell")
    facts = window.text("#panel")
    for text in ("on fire", "deep", "one", "two", "yes", "g0p0", "joined to", "port 7", "fabric"):
        assert text in facts
    # A claim is where its devices are, not where those of its pod's other claims are.
    for name, devices in (("c1", ["g0"]), ("c2", ["g1"]), ("p", ["g0", "g1"])):
        found(window, name)
        window.press("Enter")
        assert window.texts("#map [data-hit] .name") == devices
    assert found(window, "g0p0") == ["partition g0p0"]
    window.press("Enter")
    assert window.text("#panel h2") == "g0p0"
    assert window.texts("#map [data-hit] .name") == ["g0"]
    assert found(window, "type:queue") == ["queue q"]
    window.press("Enter")
    assert "nvidia.com/gpu" in window.text("#panel")
    target.write_text(page(graph({})), encoding="utf-8")
    window.open(target)
    assert "No hardware" in window.text("#map")


def test_as_many_closed_boxes_as_are_ever_drawn(window: Browser, tmp_path: Path) -> None:
    """Racks that just fit beside racks that just don't: the most elements that a map may have."""
    nodes: dict[str, dict[str, object]] = {}
    edges: list[tuple[str, str, dict[str, object]]] = []
    for place in range(12):
        nodes[f"rack/{place}"] = {"type": "rack", "label": str(place)}
        for number in range(90):
            name = f"node/{place}-{number}"
            nodes[name] = {"type": "node", "closed": "cordoned"}
            edges.append((f"rack/{place}", name, {"kind": "contains"}))
            for gpu_number in range(4):
                nodes[f"device/d/{place}-{number}/{gpu_number}"] = {"type": "device", "state": "free"}
                edges.append((name, f"device/d/{place}-{number}/{gpu_number}", {"kind": "contains"}))
    target = tmp_path / "page.html"
    target.write_text(page(graph(nodes, edges, states=[["free", "free"]])), encoding="utf-8")
    window.open(target)
    assert window.count("#map .closed[role=treeitem]") == 12 * 90
    assert legend(window) == {"free": 12 * 90 * 4}


def test_a_hostile_cluster_is_text(window: Browser, tmp_path: Path) -> None:
    opened(window, tmp_path, hostile())
    assert window.count("script, img, iframe, a, form") == 1  # the page's own script
    for kind in window.texts("#panel .types button .name"):
        window.click("#panel .types button", kind)
        assert window.count("#results li") > 0
        window.press("Enter")
        assert window.text("#panel h2")
        window.press("Escape", "Escape", "Escape", "Escape", "Escape")
        window.click("#path button", "cluster")
    assert any("device" in row for row in found(window, "<img"))
    window.press("Enter")
    assert "window.owned=1" in window.text("body")
    for state in legend(window):
        window.click("#legend button", state)
    assert window.run(WIDTHS) == [1280, 1280, 0]


def test_five_thousand_nodes_are_folded_and_each_can_be_reached(window: Browser, tmp_path: Path) -> None:
    opened(window, tmp_path, view(large(5000)))
    assert sum(legend(window).values()) > 30_000
    assert window.count("*") <= ELEMENTS
    assert "folded" in window.text("#status")
    assert found(window, "node-04321")[0] == "node node-04321"
    window.press("Enter")
    assert where(window).endswith("node node-04321")
    assert "p5.48xlarge" in window.text("#panel") or "a3-highgpu-8g" in window.text("#panel") or "g6.12xlarge" in window.text("#panel")
    assert window.count("#map .cell") in (4, 8)
    found(window, "type:claim lab/job-4")
    window.press("Enter")
    assert window.count("#map [data-hit]") >= 1
    window.click("#path button", "cluster")
    for state in ("free", "zombie", "tainted"):
        window.click("#legend button", state)
        assert window.count("*") <= ELEMENTS
        window.click("#legend button", state)
    # All the way down by keys alone.
    window.run("document.activeElement.blur()")
    window.press("Down", "Enter", "Down", "Enter", "Down", "Enter", "Down", "Enter")
    assert where(window).count(">") == 4
    assert window.count("*") <= ELEMENTS


def test_many_side_by_side_are_folded_and_a_fold_opens(window: Browser, tmp_path: Path) -> None:
    """Neither zones nor racks to fold by, and a node with more devices than a screen has room for."""
    items = [node(f"n{number:04d}") for number in range(3000)]
    items += [resource_slice("gpu.nvidia.com", f"n{number:04d}", [gpu("gpu-0", None, None)]) for number in range(3000)]
    channels = [device(f"channel-{number}", {"type": "channel"}) for number in range(128)]
    items += [resource_slice("compute-domain.nvidia.com", "n0007", channels[start : start + 128], name=f"c{start}") for start in (0,)]
    items += [claim("c", [("gpu.nvidia.com", "n2345", "gpu-0")], pod="p"), pod("p", node="n2345", claims=["c"])]
    opened(window, tmp_path, view(items))
    assert window.count("#map > [role=treeitem]") <= 100
    assert window.count("*") <= ELEMENTS
    found(window, "n2345")
    window.press("Enter")
    assert where(window).endswith("node n2345")
    assert where(window).startswith("cluster > ")
    window.press("Escape")
    assert "n2345" in window.text("#map [aria-selected=true]")
    window.press("Escape")
    # A fold has facts and a name of its own, and opens like anything else.
    title = window.text("#map [aria-selected=true] .name")
    assert window.text("#panel h2") == title
    assert re.fullmatch(r"\d+ nodes", window.text("#panel .type"))
    assert where(window).count(title) == 0
    window.click("#panel button", "Zoom in")
    assert where(window).endswith(f"> {title}")
    found(window, "channel-77")
    window.press("Enter")
    assert window.run("return document.querySelector('#map [aria-selected=true]').getAttribute('aria-label')").startswith("channel-77,")
    window.press("Escape", "Escape", "Escape", "Escape")
    window.click("#legend button", "held")
    assert window.texts("#map .name") == ["n2345", "gpu-0"]
