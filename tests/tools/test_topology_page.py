"""The page of a cluster: everything that the graph has, what the answer says above it, and nothing of it that a reader doesn't see."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from k8s_topo_mcp.tools.errors import NotFound
from k8s_topo_mcp.tools.topology_page import topology_page
from k8s_topo_mcp.topology.graph import cluster_graph
from k8s_topo_mcp.view import ClusterView
from tests.rendering.test_page import data_of, unpacked
from tests.surface.test_hostile import FOUR, POISON, hidden, poisoned, renamed, strings, view_of
from tests.topology.clusters import claim, gpu, large, node, pod, resource_slice, view

HELD = [("gpu.nvidia.com", "n", "gpu-0")]


def read(html: str) -> tuple[dict[str, Any], dict[str, dict[str, Any]], list[tuple[str, str, str]]]:
    raw = data_of(html)
    things, edges = unpacked(raw)
    links = [(things[source][0], things[target][0], facts["kind"]) for source, target, facts in edges]
    return raw["about"], dict(things.values()), links


def test_everything_of_the_graph_is_in_it() -> None:
    seen = view([*large(300, seed=2), node("plain"), pod("idle", claims=["asked"]), claim("asked")])
    graph = cluster_graph(seen)
    made = topology_page(seen)
    _, things, links = read(made.html)
    assert things == {name: facts for name, facts in graph.nodes(data=True)}  # noqa: C416
    assert {data["role"] for data in things.values() if data["type"] == "device"} == {"accelerator"}
    assert Counter(links) == Counter((source, target, data["kind"]) for source, target, data in graph.edges(data=True))
    assert (made.nodes, made.devices) == (301, sum(1 for data in things.values() if data["type"] == "device"))


def test_a_page_of_some_nodes_has_what_stands_behind_their_pods() -> None:
    running = pod("p", node="n", claims=["c"])
    running["metadata"]["ownerReferences"] = [{"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "u", "controller": True}]
    cluster = view([node("n"), node("m"), resource_slice("gpu.nvidia.com", "n", [gpu("gpu-0")]), claim("c", HELD, pod="p"), running])
    _, things, links = read(topology_page(cluster, "node/n").html)
    assert ("pod/default/p", "workload/Job/default/train", "managed_by") in links
    assert "node/m" not in things


def test_what_the_graph_does_not_have_is_refused_and_not_opened() -> None:
    seen = view([node("n"), claim("asked"), claim("idle"), pod("p", claims=["asked"]), pod("done", node="n", phase="Succeeded")])
    graph = cluster_graph(seen)
    for scope in ("pod/default/p", "claim/default/asked"):
        assert scope in graph
        assert read(topology_page(seen, scope).html)[0]["open"] == scope
    for scope in ("pod/default/done", "claim/default/idle"):
        assert scope not in graph
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
