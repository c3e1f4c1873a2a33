"""A node that registered a moment ago and has nothing yet of what a driver or a device plugin offers on the others of its group.

It is Ready before its driver has published. Who asks for devices then needs no further node: Cluster Autoscaler counts on it, with what the
group's template has, until --max-node-startup-time (pkg/processors/customresources; kubernetes/autoscaler issue 7780). What it will have is
taken from the others of its group and instance type, if these have the same and most of them have it; it is a change like others, re-run.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress, repeat
from operator import eq

from ..dra.problem import AllocationProblem
from ..objects import Node, ResourceSlice, Timestamp
from ..objects.cluster_api import OWNER_NAME
from ..objects.node import INSTANCE_TYPE
from ..scaleup.group_labels import groups
from ..scaleup.likeness import CONDITION_TAINTS, new_slices, shapes_of_nodes, whole_pools
from ..scaleup.machine_types import STARTING
from ..scaleup.template import moved
from ..view import Add, ClusterView, Edit, Replace
from ..view.indices import slices_of_node
from ..view.of_nodes import of_nodes
from .classes import drivers_asked
from .evidence import PluginSet
from .plugins import device_plugin_of, plugin_of, pod_on
from .report import Change

MOST = 8
"""Young nodes of one kind that are played as complete for one pod."""
MADE_ALIKE = frozenset({"nodegroup", "nodepool", "karpenter"})
"""Kinds of groups whose nodes somebody makes alike."""
NAMED = 2
"""Nodes and drivers that are named."""


@dataclass(frozen=True, slots=True, eq=False)
class Young:
    """Nodes of one kind that lack `drivers`, or extended `resources`, which `like` has."""

    nodes: tuple[Node, ...]
    like: Node
    drivers: tuple[str, ...]
    resources: tuple[str, ...]


def publishing(view: ClusterView, problem: AllocationProblem | None = None, most: int = MOST) -> Iterator[Change]:
    """For each kind of young nodes: their drivers have published, on the first `most` of them. `problem`: whose classes name the drivers
    that matter."""
    asked = frozenset(drivers_asked(view, problem.claims)) if problem is not None else frozenset[str]()
    for young in _found(view):
        edits = [edit for node in young.nodes[:most] for edit in _complete(view, young, node)]
        named = [driver for driver in young.drivers if driver in asked] or [*young.drivers, *young.resources]
        what, where = _several(named), _several([node.name for node in young.nodes])
        verb = "publishes" if len(named) == 1 else "publish"
        since = _age(view, young.nodes)
        text = f"{what} {verb} on {where}, registered {since} ago, as on {young.like.name}"
        there = "there" if len(young.nodes) == 1 else f"on {young.nodes[0].name}"
        how = f"nothing is to be changed: wait for {where}{_state(view, named[0], young.nodes[0], there)}"
        yield Change(text, young.nodes[0].ref, "", "", "", tuple(edits), True, how)


def _found(view: ClusterView) -> tuple[Young, ...]:
    return view.memo("young nodes", lambda: tuple(_look(view)))


def _look(view: ClusterView) -> Iterator[Young]:
    fresh = _fresh(view)
    kinds: dict[Hashable, list[Node]] = {}
    for node in fresh:
        for kind in _kind(node):
            kinds.setdefault(kind, []).append(node)
    for kind, own in kinds.items():
        found = _of_kind(view, view.index(Node, _kind)[kind], own)
        if found is not None:
            yield found


def _kind(node: Node) -> Iterator[Hashable]:
    """Group and instance type, as far as labels (of Cluster API's nodes the owner of their machine) tell; none where nothing does."""
    labels, owner = node.metadata.labels, node.metadata.annotations.get(OWNER_NAME, "")
    named = tuple((entry.kind, entry.name) for entry in groups(labels) if entry.kind in MADE_ALIKE)
    kind = named, owner, labels.get(INSTANCE_TYPE, "")
    if any(kind):
        yield kind


def _fresh(view: ClusterView) -> list[Node]:
    """The nodes that registered a moment ago, in the order of the cluster. All that can have are of two stretches of time."""
    made, last = view.index(Node, _made), _stretch(view.now)
    near = [node for stretch in (last - 1, last) for node in made.get(stretch, ()) if _is_fresh(view, node)]
    return sorted(near, key=lambda node: node.key)


def _made(node: Node) -> Iterator[int]:
    """In which stretch of time a node registered."""
    if node.metadata.created is not None:
        yield _stretch(node.metadata.created)


def _stretch(at: Timestamp) -> int:
    return int(at // STARTING)


def _is_fresh(view: ClusterView, node: Node) -> bool:
    created = node.metadata.created
    return created is not None and bool(view.now) and 0 <= view.now - created <= STARTING


def _of_kind(view: ClusterView, members: Sequence[Node], fresh: Collection[Node]) -> Young | None:
    """What the fresh ones of one kind lack; None where those that have all of it differ, or as many settled ones lack it too."""
    offered = of_nodes(view, _offered)
    has = tuple(map(offered.__getitem__, members))  # equal ones are one object
    wanted = frozenset[str]().union(*set(has))
    whole = [*compress(members, map(eq, has, repeat(wanted)))]
    young = tuple(node for node in fresh if offered[node] != wanted and offered[node] == _begun(view, node))
    silent = len(members) - len(whole) - sum(offered[node] != wanted for node in fresh)
    shapes = shapes_of_nodes(view)
    if not young or silent >= len(whole) or len({shape.of for shape in set(map(shapes.__getitem__, whole))}) != 1:
        return None
    lacking = sorted(frozenset[str]().union(*(wanted - offered[node] for node in young)))
    resources = tuple(name for name in lacking if "/" in name)
    return Young(young, whole[0], tuple(name for name in lacking if name not in resources), resources)


def _offered(view: ClusterView, node: Node, slices: Sequence[ResourceSlice]) -> frozenset[str]:
    """Drivers of whole pools, and extended resources of which the node offers some."""
    return frozenset(whole_pools(view, slices)) | _extended(node)


def _begun(view: ClusterView, node: Node) -> frozenset[str]:
    """The same with drivers whose pools aren't whole yet: what these will have isn't guessed at."""
    return frozenset(entry.driver for entry in slices_of_node(view, node.name)) | _extended(node)


def _extended(node: Node) -> frozenset[str]:
    return frozenset(name for name, amount in node.allocatable.items() if "/" in name and amount.value)


def _complete(view: ClusterView, young: Young, node: Node) -> Iterator[Edit]:
    """The young node as the others are: what it lacks of their devices under its name, and Ready."""
    there = _begun(view, node)
    lacking = [entry for entry in new_slices(view, young.like) or () if entry.driver in young.drivers and entry.driver not in there]
    yield from map(Add, moved(lacking, node.name))
    taints = tuple(taint for taint in node.taints if not taint.key.startswith(CONDITION_TAINTS))
    given = {name: young.like.allocatable[name] for name in young.resources if name not in there}
    if given or len(taints) < len(node.taints):
        allocatable, capacity = {**node.allocatable, **given}, {**node.capacity, **given}
        yield Replace(replace(node, taints=taints, allocatable=allocatable, capacity=capacity))


# --- in words -----------------------------------------------------------------------------------------------------------------------


def _several(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{' and '.join(names[:NAMED]) if not more else ', '.join(names[:NAMED])}{more}"


def _age(view: ClusterView, nodes: Sequence[Node]) -> str:
    """Of the youngest."""
    seconds = int(view.now - max(node.metadata.created or 0.0 for node in nodes))
    return f"{seconds} s" if seconds < 120 else f"{seconds // 60} min"


def _state(view: ClusterView, driver: str, node: Node, there: str) -> str:
    """What is seen of the driver on a node; `there` says which, in words."""
    plugin = (device_plugin_of if "/" in driver else plugin_of)(view, driver)
    if not isinstance(plugin, PluginSet):
        return ""
    own = f"DaemonSet {plugin.daemon_set.namespace}/{plugin.daemon_set.name}"
    state = pod_on(view, plugin, node.name)
    if state.pod is None:
        return f"; {own} has no pod {there}{f': {state.kept_off}' if state.kept_off else ' yet'}"
    return f"; pod {state.pod.namespace}/{state.pod.name} of {own} is {'ready' if state.ready else state.state} {there}"
