"""Nodes of a group that Cluster Autoscaler counts on before it adds more: not registered yet, not ready yet, not publishing yet.

It puts a copy of the template into its simulation for each node that is wanted but not ready (pkg/clusterstate GetUpcomingNodes: target
less ready, unready and long unregistered ones), and packs pods on these first. A registered node counts as not ready while it has a
start-up taint that is declared, or fewer whole pools of a driver than the template, or none of an extended resource that the template has
(pkg/utils/taints, pkg/processors/customresources), until --max-node-startup-time after its creation: then it is broken, and is no longer
counted on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..findings import Finding, finding
from ..objects import Node, Pod, Taint
from ..objects.autoscaler_status import GroupStatus
from ..view import ClusterView
from ..view.indices import slices_of_node
from .ages import age_text
from .fit import Fit
from .likeness import CONDITION_TAINTS, whole_pools
from .node_counts import MOST_NODES
from .node_group import NodeGroup
from .obstacle import Obstacle
from .passing_taints import is_startup_taint
from .settings import Settings
from .simulation import simulate
from .template import NodeTemplate

MOST_PLAYED = 20
"""More pods than that aren't played: each has to be placed anew on all nodes after every one before it."""


@dataclass(frozen=True, slots=True)
class Young:
    """A node that is there, and why it doesn't take pods yet."""

    node: Node
    finding: Finding
    removed_by: str


def upcoming_count(group: NodeGroup, status: GroupStatus | None, young: Sequence[Young]) -> int | None:
    """How many nodes are counted on; None where neither the status nor a size says it."""
    counts = status.counts if status is not None else None
    if status is not None and counts is not None and status.target is not None and counts.ready is not None:
        return max(0, status.target - counts.ready - (counts.unready or 0) - (counts.long_unregistered or 0))
    size = group.size
    if size is None:
        return len(young) or None
    settled = [node for node in group.members if node.is_ready and not any(entry.node is node for entry in young)]
    return max(0, size - len(settled))


def young_nodes(view: ClusterView, group: NodeGroup, settings: Settings) -> tuple[Young, ...]:
    """Registered nodes of the group that aren't through with their start."""
    longest = settings.get("max-node-startup-time", "15m").seconds or 900.0
    found: list[Young] = []
    for node in group.members:
        created = node.metadata.created
        if created is None or not view.now or view.now - created > longest:
            continue
        age = age_text(view, created)
        entry = _starting(node, age, settings) or _publishing(view, node, age, group.templates)
        if entry is not None:
            found.append(entry)
    return tuple(found)


def _starting(node: Node, age: str, settings: Settings) -> Young | None:
    taint = next((entry for entry in node.taints if is_startup_taint(entry, settings)), None)
    if taint is None and not node.is_ready and node.condition("Ready") is not None:
        taint = next(
            (entry for entry in node.taints if entry.key.startswith(CONDITION_TAINTS)), Taint("node.kubernetes.io/not-ready", "", "")
        )
    if taint is None:
        return None
    found = finding("NODE_STILL_STARTING", node.ref, "spec.taints", node=node.name, taint=taint.key, age=age)
    return Young(node, found, f"time, or whoever removes {taint.key} from {node.name}")


def _publishing(view: ClusterView, node: Node, age: str, templates: Sequence[NodeTemplate]) -> Young | None:
    """Drivers with fewer whole pools than on the template, or an extended resource that the template has and the node doesn't yet."""
    if not templates:
        return None
    own = whole_pools(view, slices_of_node(view, node.name))
    lacking = [driver for driver, wanted in sorted(whole_pools(view, templates[0].slices).items()) if own.get(driver, 0) < wanted]
    if lacking:
        drivers = " and ".join(lacking)
        found = finding("NODE_STILL_PUBLISHING", node.ref, "", node=node.name, driver=drivers, age=age)
        return Young(node, found, f"time, or a repair of {drivers} on {node.name}")
    for name, amount in templates[0].node.allocatable.items():
        has = node.allocatable.get(name)
        if "/" in name and amount.value and (has is None or not has.value):
            found = finding("NODE_STILL_PUBLISHING", node.ref, "status.allocatable", node=node.name, driver=name, age=age)
            return Young(node, found, f"time, or a repair of the device plugin of {name} on {node.name}")
    return None


def absorbed(
    view: ClusterView, group: NodeGroup, status: GroupStatus | None, pods: Sequence[Pod], fits: Sequence[Fit], settings: Settings
) -> tuple[Obstacle, ...]:
    """What the nodes on the way take of the pods: young nodes by name, the others by number."""
    young = young_nodes(view, group, settings)
    upcoming = upcoming_count(group, status, young)
    if not upcoming:
        return ()
    room = room_on(view, group, pods, fits, upcoming)
    if room == 0:
        return ()
    taken, certainty = (len(pods), "likely") if room is None else (min(len(pods), room), "certain")
    named = young[:upcoming]
    found = [Obstacle(entry.finding, certainty, entry.removed_by, taken, len(pods)) for entry in named]
    if upcoming > len(named):
        shown = "" if room is None else str(room)
        why = finding("NODES_UPCOMING", group.ref, "", group=group.name, upcoming=upcoming - len(named), room=shown)
        arrival = "these nodes' arrival, or the end of the time that is allowed for it"
        found.append(Obstacle(why, certainty, arrival, taken, len(pods)))
    return tuple(found)


def room_on(view: ClusterView, group: NodeGroup, pods: Sequence[Pod], fits: Sequence[Fit], nodes: int) -> int | None:
    """How many of the pods so many nodes of the group on their way take: counted where that was done, else played as the scheduler would.
    None where nothing was simulated, or the pods are too many to be played here."""
    if not fits:
        return None
    if not any(entry.any for entry in fits):
        return 0
    counted = [entry.each for entry in fits if entry.each is not None]
    if counted:
        return max(counted) * nodes
    best = max(range(len(group.templates)), key=lambda number: fits[number].pods if number < len(fits) else 0, default=None)
    if best is None or len(pods) > MOST_PLAYED or any(view.current(pod) is None for pod in pods):
        return None
    played = simulate(view, pods, [(group.templates[best], min(nodes, MOST_NODES))])
    return sum(1 for outcome in played.outcomes if outcome.on_new)
