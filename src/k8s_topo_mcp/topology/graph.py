"""The hardware as a networkx graph, and a picture as one. networkx is imported on first use: that costs 0.4 s.

Node ids are scopes (`node/gpu-0`, `device/gpu.nvidia.com/gpu-0/gpu-3`, `claim/default/eval`), so each can be asked for. An attribute that
isn't there isn't known, or doesn't apply.

=============  ======================================================  =====================================================
type           attributes                                              edges out, by `kind`
=============  ======================================================  =====================================================
a level        (of `domains`: zone, block, rack, domain …) label       contains: finer levels and nodes
a group        (of `groups`: nodegroup, nodepool, karpenter …) label   contains: nodes
node           shape, closed, links                                    contains: NUMA nodes, or roots and devices directly,
                                                                       resources; publishes: pools
numa           -                                                       contains: roots, or devices
root           -                                                       contains: devices
pool           state, generation, slices, announced, reason            contains: devices that aren't bound to one node
device         label, role, state, driver, pool, memory, taints,       held_by: claims (`part`: through that partition);
               parts, fit, counters, shares, groups, nics, nodes       contains: partitions; beside: NICs
partition      label, role, state, driver, parent, profile, consumes,  held_by: claims
               taints
claim          alive, waiting                                          reserved_for: pods
pod            phase, role                                             managed_by: workloads; member_of: gangs; asks: claims;
                                                                       queued_in: queues; serves_for: inferencepools
workload       workload (its kind), desired, ready, seen               managed_by: workloads
gang           gang (its kind), min_count, status, nodes               -
queue          seen                                                    feeds: clusterqueues
clusterqueue   -                                                       -
inferencepool  -                                                       -
resource       allocatable, requested, role, by (device plugin)        requested_by: pods
=============  ======================================================  =====================================================

Edges of `contains` say in `by` what published the link: label, attribute (`name`: which one), an attribute's name, pcieRoot, slice, pool,
counters, allocatable. `beside` says in `at` how near the nearest NICs are (group, root, numa; `topology.alignment`) and in `by` through
which attribute, with `nearer` unknown where roots aren't published; an accelerator's `nics` may also be `unknown` (a place isn't published;
absent is not different) or `apart`. A device's `parts` counts its partitions, `fit` how many of each profile would fit now, each alone,
`counters` what is left of what they share, and of how much; of partitions only those that are held are in the graph, unless it is asked
for all. `held_by` of a shared device has `share` and `consumes`. `seen` is false where a label or reference names what isn't there to be
read. `nodes` of a device is how many can use it.

A link that nobody publishes (NVLink between devices: `links` of the node says so) is not an edge here: its absence means unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

from k8s_topo_mcp.objects.node import Node
from k8s_topo_mcp.objects.pod import Pod
from k8s_topo_mcp.view import ClusterView, derived

from .composition import Composition, filled
from .hardware import hardware
from .node_portion import chain, node_portion
from .nodes import NodeHardware
from .portions import Partitions, Portion, pods_in
from .rows import Line
from .shapes import Shape, shapes
from .vertices import unbound_portion
from .work import concerned_portions, pod_portions, waiting_portions

if TYPE_CHECKING:
    import networkx as nx


def hardware_graph(
    nodes: Iterable[NodeHardware], shapes: Mapping[str, Shape], view: ClusterView | None = None, partitions: Partitions = "held"
) -> nx.DiGraph[str]:
    """
    The graph of some nodes, every device a node of its own. It is frozen: copy it before you change anything.

    Parameters
    ----------
    view
        With it also what stands behind the pods on these nodes: workloads, gangs, queues.
    partitions
        Whether partitions that nobody holds are in it.

    Notes
    -----
    Linear in devices and holds; `benchmarks.topology` says what 40,000 devices take.
    """
    from .digraph import graph_of

    listed = tuple(nodes)
    portions = [node_portion(node, shapes[node.name].name, partitions) for node in listed]
    if view is not None:
        names = (name.partition("/") for name in pods_in(portions))
        pods = (view.get(Pod, name, namespace) for namespace, _, name in names)
        portions.extend(pod_portions(view, [pod for pod in pods if pod is not None]))
    return graph_of(filled([*_places(listed), *portions]))


def _places(nodes: Iterable[NodeHardware]) -> list[Portion]:
    """What the places of nodes add, each place once."""
    return [chain(where).portion for where in dict.fromkeys([node.where for node in nodes])]


def cluster_graph(view: ClusterView, partitions: Partitions = "held") -> nx.DiGraph[str]:
    """The graph of the whole cluster: all nodes, devices that aren't bound to one, and every pod that holds devices or asks for them."""
    return view.memo(("topology.graph", partitions), lambda: _of_cluster(view, partitions))


def _nothing_kept(_: tuple[Node, ...]) -> dict[Partitions, Composition]:
    return {"held": Composition(), "all": Composition()}


def _of_cluster(view: ClusterView, partitions: Partitions) -> nx.DiGraph[str]:
    from .digraph import graph_of

    facts = hardware(view)
    shape_of = view.memo("topology.shapes", lambda: shapes(facts.nodes))
    portions = _places(facts.nodes)
    portions += [_portion_of(node, shape_of[node.name].name, partitions) for node in facts.nodes]
    portions += [unbound_portion(facts.unbound, partitions)] if facts.unbound else []
    portions += concerned_portions(view)
    portions += waiting_portions(view)
    return graph_of(view.carried(Node, _nothing_kept)[partitions].of(portions))


def _portion_of(node: NodeHardware, shape: str, partitions: Partitions) -> Portion:
    """What a node adds, made once for as long as its facts and the name of its shape are these."""
    known: dict[str, Portion] = derived(node, ("topology.portion", partitions), dict[str, Portion])
    found = known.get(shape)
    if found is None:
        known.clear()
        found = known[shape] = node_portion(node, shape, partitions)
    return found


LEFT_OUT = ("pool", "driver", "role", "memory")
"""Of devices, what a lean graph leaves out: all but the role and the memory stand in the id, too."""


def lean(graph: nx.DiGraph[str]) -> nx.DiGraph[str]:
    """A graph without pools, and of devices only what the picture shows: what fits where the whole doesn't."""
    import networkx as nx

    found: nx.DiGraph[str] = nx.DiGraph()
    for name, facts in graph.nodes(data=True):
        if facts["type"] != "pool":
            devices = facts["type"] in ("device", "partition")
            found.add_node(name, **{key: fact for key, fact in facts.items() if not (devices and key in LEFT_OUT)})
    found.add_edges_from((one, other, facts) for one, other, facts in graph.edges(data=True) if one in found and other in found)
    return found


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

    data = cast("dict[str, Any]", nx.node_link_data(graph, edges="edges"))  # pyright: ignore[reportUnknownMemberType]
    return {**data, "graph": {**graph.graph, **about}}
