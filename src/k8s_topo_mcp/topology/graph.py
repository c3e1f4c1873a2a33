"""The hardware as a networkx graph, and a picture as one. Imported on first use: networkx costs 0.4 s.

Node ids are scopes (`node/gpu-0`, `device/gpu.nvidia.com/gpu-0/gpu-3`, `claim/default/eval`), so each can be asked for.

========  =======================================================  ====================================================
type      attributes                                               edges out, by `kind`
========  =======================================================  ====================================================
a level   (of `domains`: zone, block, rack, domain …)              contains: finer levels and nodes; `by` says what
node      shape, closed                                            contains: NUMA nodes, or roots and devices directly
numa                                                               contains: roots, or devices
root                                                               contains: devices            published the link
device    label, role, state, driver, taints, parts                held_by: claims
claim     alive (absent: unknown)                                  reserved_for: pods
pod       phase                                                    -
resource  allocatable, requested (of a device plugin)              -
========  =======================================================  ====================================================

A link that nobody publishes (NVLink between devices) is not an edge here: its absence means unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

from .hardware import NodeHardware, PlacedDevice
from .rows import Line
from .shapes import Shape

if TYPE_CHECKING:
    import networkx as nx


def hardware_graph(nodes: Iterable[NodeHardware], shapes: Mapping[str, Shape]) -> nx.DiGraph[str]:
    """The graph of some nodes, every device a node of its own.

    Notes
    -----
    Linear in devices and holds; 40,000 devices take about half a second.
    """
    import networkx as nx

    graph: nx.DiGraph[str] = nx.DiGraph()
    for node in nodes:
        above = ""
        for level, value in node.places.items():
            # A value is unique within its parent only: two zones may both have a rack "r1".
            place = f"{above}/{level}/{value}" if above else f"{level}/{value}"
            graph.add_node(place, type=level, label=value)
            _contains(graph, above, place, "label")
            above = place
        own = f"node/{node.name}"
        graph.add_node(own, type="node", shape=shapes[node.name].name, **({"closed": node.closed} if node.closed else {}))
        _contains(graph, above, own, "label")
        for device in node.devices:
            _add_device(graph, own, device)
        for entry in node.plugin:
            resource = f"{own}/resource/{entry.name}"
            graph.add_node(resource, type="resource", allocatable=entry.allocatable, requested=entry.requested)
            _contains(graph, own, resource, "allocatable")
    return graph


def _contains(graph: nx.DiGraph[str], above: str, below: str, by: str) -> None:
    if above:
        graph.add_edge(above, below, kind="contains", by=by)


def _add_device(graph: nx.DiGraph[str], own: str, device: PlacedDevice) -> None:
    above = own
    spot = device.spot
    if spot.numa is not None:
        numa = f"{own}/numa/{spot.numa}"
        graph.add_node(numa, type="numa")
        _contains(graph, own, numa, spot.numa_name)
        above = numa
    for root in spot.roots or ():
        path = f"{own}/root/{root}"
        graph.add_node(path, type="root")
        _contains(graph, above, path, "pcieRoot")
    if spot.root is not None:
        above = f"{own}/root/{spot.root}"
    identity = f"device/{device.id}"
    facts: dict[str, Any] = {"type": "device", "label": device.kind.label, "state": device.state}
    if device.taints:
        facts["taints"] = [str(taint) for taint in device.taints]
    if device.parts:
        facts["parts"] = len(device.parts)
    graph.add_node(identity, **facts)
    _contains(graph, above, identity, "slice")
    for part in (device, *device.parts):
        for hold in part.holds:
            claim = f"claim/{hold.holder.name}"
            graph.add_node(claim, type="claim", **({} if hold.holder.alive is None else {"alive": hold.holder.alive}))
            graph.add_edge(identity, claim, kind="held_by", **({"part": part.name} if part is not device else {}))
            for pod in hold.holder.pods:
                graph.add_node(f"pod/{pod.full_name}", type="pod", phase=pod.phase)
                graph.add_edge(claim, f"pod/{pod.full_name}", kind="reserved_for")


def picture_graph(lines: Iterable[Line], label: Callable[[Line], str]) -> nx.DiGraph[str]:
    """A picture as a graph: one node a row, folded ones with their count; edges say what stands in what."""
    import networkx as nx

    graph: nx.DiGraph[str] = nx.DiGraph()
    ids: dict[int, str] = {}
    for line in lines:
        row = line.row
        identity = row.path if row.path and row.path not in graph else f"row/{line.number}"
        ids[line.number] = identity
        facts: dict[str, Any] = {"type": row.type, "label": label(line)}
        if row.count > 1:
            facts["count"] = row.count
        if row.state:
            facts["state"] = row.state
        graph.add_node(identity, **facts)
        if line.parent in ids:
            graph.add_edge(ids[line.parent], identity)
    return graph


def node_link(graph: nx.DiGraph[str], **about: Any) -> dict[str, Any]:
    """networkx's node-link form (`networkx.node_link_graph(data, edges="edges")` reads it back); `about` describes the graph."""
    import networkx as nx

    graph.graph.update(about)
    return cast("dict[str, Any]", nx.node_link_data(graph, edges="edges"))  # pyright: ignore[reportUnknownMemberType]
