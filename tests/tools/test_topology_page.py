"""The page of a cluster: everything that the graph has, what the answer says above it, and nothing of it that a reader doesn't see."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from k8s_topo_mcp.tools.asking import ask
from k8s_topo_mcp.tools.errors import Ambiguous, NotFound
from k8s_topo_mcp.tools.topology_graph import TOOL
from k8s_topo_mcp.tools.topology_page import topology_page
from k8s_topo_mcp.topology.graph import hardware_graph
from k8s_topo_mcp.topology.hardware import STATES, hardware
from k8s_topo_mcp.topology.shapes import shapes
from k8s_topo_mcp.view import ClusterView
from tests.rendering.test_page import data_of, unpacked
from tests.surface.test_hostile import FOUR, POISON, hidden, poisoned, renamed, strings, view_of
from tests.topology.clusters import claim, device, gpu, large, node, pod, resource_slice, view
from tests.topology.recorded import scene


def read(html: str) -> tuple[dict[str, Any], dict[str, dict[str, Any]], list[tuple[str, str, str]]]:
    raw = data_of(html)
    things, edges = unpacked(raw)
    links = [(things[source][0], things[target][0], facts["kind"]) for source, target, facts in edges]
    return raw["about"], dict(things.values()), links


def test_everything_of_the_graph_is_in_it() -> None:
    seen = view(large(300, seed=2))
    facts = hardware(seen)
    graph = hardware_graph(facts.nodes, shapes(facts.nodes))
    made = topology_page(seen)
    _, things, links = read(made.html)
    # And beside it which devices are accelerators.
    roles = {name: data.pop("role") for name, data in things.items() if data["type"] == "device"}
    assert set(roles.values()) == {"accelerator"}
    assert things == {name: {key: value for key, value in data.items() if key != "role"} for name, data in graph.nodes(data=True)}
    assert Counter(links) == Counter((source, target, data["kind"]) for source, target, data in graph.edges(data=True))
    assert (made.nodes, made.devices) == (300, sum(1 for data in things.values() if data["type"] == "device"))


def test_its_counts_are_those_of_the_headline() -> None:
    """Whether a DRA driver or a device plugin offers them; NICs don't count."""
    items = [
        node("a", allocatable={"nvidia.com/gpu": "4", "x.com/rdma": "2"}),
        node("b"),
        resource_slice("gpu.nvidia.com", "b", [gpu("gpu-0"), gpu("gpu-1")]),
        resource_slice("dra.net", "b", [device("eth0", {"dra.net/ifName": "eth0"})]),
        pod("p", node="a", nvidia_com__gpu="3"),
    ]
    about, things, _ = read(topology_page(view(items)).html)
    assert "6 accelerators: 3 free, 3 held" in about["headline"]
    roles = {name.rpartition("/")[2]: facts["role"] for name, facts in things.items() if "role" in facts}
    assert roles == {"gpu": "accelerator", "rdma": "nic", "gpu-0": "accelerator", "gpu-1": "accelerator", "eth0": "nic"}


def test_it_says_what_the_text_answer_says() -> None:
    about, _, _ = read(topology_page(scene()).html)
    report = ask(TOOL, scene(), {}).report.splitlines()
    assert report[0] == about["headline"]
    assert report[-1].removeprefix("basis").strip() == about["basis"]
    assert [name for name, _ in about["states"]] == list(STATES)
    assert about["scope"] == "cluster"
    assert all(any(note in line for line in report) for note in about["notes"])


def test_a_scope_of_nodes_is_a_page_of_these() -> None:
    about, things, _ = read(topology_page(scene(), "node/gpu-0").html)
    assert [name for name, facts in things.items() if facts["type"] == "node"] == ["node/gpu-0"]
    assert about["scope"] == "node/gpu-0"
    assert about["headline"].startswith("node/gpu-0: 8 accelerators")


@pytest.mark.parametrize("scope", ["claim/default/eval", "pod/default/eval-0", "device/gpu.nvidia.com/gpu-0/gpu-3"])
def test_a_thing_is_where_the_page_of_the_cluster_opens(scope: str) -> None:
    about, things, _ = read(topology_page(scene(), scope).html)
    assert about["open"] == scope
    assert scope in things
    assert sum(1 for facts in things.values() if facts["type"] == "node") == 4
    assert about["headline"] == ask(TOOL, scene(), {}).headline


def test_zombies_is_the_cluster_with_that_state_chosen() -> None:
    about, things, _ = read(topology_page(scene(), "zombies").html)
    assert about["only"] == ["zombie"]
    assert sum(1 for facts in things.values() if facts["type"] == "node") == 4


@pytest.mark.parametrize(("scope", "error"), [("node/nope", NotFound), ("pod/p", Ambiguous)])
def test_a_scope_that_names_nothing_is_refused_as_by_the_tool(scope: str, error: type[Exception]) -> None:
    seen = view([pod("p", namespace="a"), pod("p", namespace="b")])
    with pytest.raises(error):
        topology_page(seen, scope)


def test_what_the_graph_does_not_have_is_refused_and_not_opened() -> None:
    seen = view([node("n"), claim("idle"), pod("p", claims=["idle"])])
    graph = hardware_graph(hardware(seen).nodes, shapes(hardware(seen).nodes))
    for scope in ("pod/default/p", "claim/default/idle"):
        if scope in graph:
            assert read(topology_page(seen, scope).html)[0]["open"] == scope
        else:
            with pytest.raises(NotFound, match="so no page opens at it"):
                topology_page(seen, scope)


def hostile() -> ClusterView:
    """One cluster with every kind of poison in names and texts."""
    chance = random.Random(3)
    kinds = [kind for kind in POISON if kind != "empty"]
    items = FOUR["items"]
    known = {item["metadata"][key] for item in items for key in ("name", "namespace") if item["metadata"].get(key)}
    known |= {device["name"] for item in items if item["kind"] == "ResourceSlice" for device in item["spec"].get("devices", [])}
    known |= {"z0", "gpu.nvidia.com", "NVIDIA H100 80GB HBM3"}
    markup = "</script><script>window.owned=1</script><img src=x onerror=window.owned=1>"
    names: dict[str, str] = {}
    for number, name in enumerate(sorted(known)):
        long = 300 if "megabyte" in kinds[number % len(kinds)] and number > 20 else 1_000_000
        names[name] = (name + markup if number % 3 == 0 else POISON[kinds[number % len(kinds)]](name))[: len(name) + long]
    poison = [POISON[kind] for kind in kinds if "megabyte" not in kind]
    return view_of([poisoned(renamed(item, names), chance.choice(poison), 0.3, chance) for item in items])


def test_a_hostile_cluster_is_data() -> None:
    html = topology_page(hostile()).html
    assert html.count("</script") == html.count("<script") == 2
    assert len(html) < 300_000
    raw = data_of(html)
    for text in strings(raw):
        assert not hidden(text, lines=False), ascii(text)[:200]
    _, things, _ = read(html)
    assert sum(1 for facts in things.values() if facts.get("type") == "device") >= 4
    assert "window.owned" in str(things)
