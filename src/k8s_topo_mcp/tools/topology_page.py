"""The hardware as an HTML page: the graph with what stands around it in the answer of topology_graph. No tool: a model reads no page."""

from __future__ import annotations

from dataclasses import dataclass

from k8s_topo_mcp.rendering import clean
from k8s_topo_mcp.rendering.page import page
from k8s_topo_mcp.scaleup.group_labels import GROUP_WORDS
from k8s_topo_mcp.scaleup.place_labels import WORDS as LEVEL_WORDS
from k8s_topo_mcp.tools import basis as bases
from k8s_topo_mcp.tools.errors import NotFound
from k8s_topo_mcp.tools.topology_graph import Input, answer
from k8s_topo_mcp.topology.graph import cluster_graph, hardware_graph, node_link
from k8s_topo_mcp.topology.hardware import hardware
from k8s_topo_mcp.topology.scopes import resolve
from k8s_topo_mcp.topology.shapes import shapes
from k8s_topo_mcp.topology.words import WORDS as STATE_WORDS
from k8s_topo_mcp.view import ClusterView

TYPE_WORDS = {
    **LEVEL_WORDS, **GROUP_WORDS, "numa": "NUMA node", "root": "PCIe root",
    "clusterqueue": "ClusterQueue", "inferencepool": "InferencePool",
}  # fmt: skip
"""Types that have another name for readers."""


@dataclass(frozen=True, slots=True)
class TopologyPage:
    """The page, and how many nodes and devices are in it."""

    html: str
    nodes: int
    devices: int


def topology_page(view: ClusterView, scope: str = "cluster") -> TopologyPage:
    """
    The page of a scope: of the nodes that it names, or of the whole cluster, opened at the pod, claim or device that it names.

    Raises
    ------
    NotFound, Ambiguous
        The scope names nothing, nothing that is in the graph, or several things.
    """
    said = answer(view, Input(scope=scope))
    facts = hardware(view)
    shape_of = view.memo("topology.shapes", lambda: shapes(facts.nodes))
    selection = resolve(view, facts, shape_of, scope)
    is_part = selection.focus in ("nodes", "node")
    nodes = selection.nodes if is_part else facts.nodes
    graph = hardware_graph(nodes, shape_of, view) if is_part and selection.path != "cluster" else cluster_graph(view)
    about = {
        "scope": selection.path if is_part else "cluster",
        "headline": said.headline,
        "basis": bases.line(said.basis),
        "states": list(STATE_WORDS.items()),
        "types": TYPE_WORDS,
        "places": facts.levels,
        "notes": list(said.unknown),
    }
    if not is_part:
        about["headline"] = answer(view, Input()).headline
    if selection.focus == "zombies":
        about["only"] = ["zombie"]
    elif not is_part:
        if selection.path not in graph:
            raise NotFound(f"{clean(selection.path, 300)} has no device of any node, so no page opens at it. Right: a page without SCOPE.")
        about["open"] = selection.path
    return TopologyPage(page({**node_link(graph), "graph": about}), len(nodes), sum(len(node.devices) for node in nodes))
