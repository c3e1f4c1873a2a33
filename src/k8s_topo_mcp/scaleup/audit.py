"""Whether scale-up for devices can work here at all: for everything that waiting pods ask, and every node group, what is missing for good.

What passes by itself isn't told here (backoff, nodes on their way, a full group): only what somebody would have to change.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..findings import finding
from ..objects import Pod
from ..scheduling.pod_signature import signature
from ..view import ClusterView
from ..view.indices import pending_pods, slices_of_node
from .autoscaler import Autoscaler
from .demand import DeviceDemand, device_demand
from .fit import Fit
from .likeness import whole_pools
from .node_group import NodeGroup
from .obstacle import Obstacle
from .obstacles import obstacles
from .own_groups import serving

LASTING = frozenset(
    """
    NO_AUTOSCALER AUTOSCALER_DOWN NO_NODE_GROUP GROUP_NOT_WATCHED GROUP_NODES_DIFFER GROUP_WITHOUT_MODEL
    CLAIMS_IGNORED CLAIM_FEATURE_IGNORED NO_DEVICE_MODEL DEVICE_MODEL_UNUSABLE NEW_NODE_REFUSED FIT_UNKNOWN
    VOLUME_ELSEWHERE ASSIGNED_ELSEWHERE STARTUP_TAINT_UNDECLARED
    AUTOSCALER_SKIPS_PRIORITY AUTOSCALER_SKIPS_SCHEDULER AUTOSCALER_SKIPS_AVOIDING AUTOSCALER_SKIPS_DAEMON
    PROVISIONING_REQUESTS_OFF PROVISIONING_CLASS_UNSERVED PROVISIONING_REQUEST_MISSING
    NODE_POOL_NOT_READY NODE_POOL_STATIC NODE_POOL_ENDING NODE_POOL_TAINT NODE_POOL_REQUIREMENT NO_INSTANCE_TYPE NODES_DO_NOT_REGISTER
    QUEUE_MISSING QUEUE_STOPPED QUEUE_DEACTIVATED
    """.split()
)
"""Codes of obstacles that stay until somebody changes something."""

Ready = Literal["yes", "no", "unknown"]
Simulate = Callable[[NodeGroup, Sequence[Pod]], Sequence[Fit]]


@dataclass(frozen=True, slots=True, eq=False)
class Readiness:
    """One wish and one group. `pods` wish this, the first is the example; `missing` is in the order in which the autoscaler meets it.
    `group` and `autoscaler` are None where there is none."""

    demand: DeviceDemand
    pods: tuple[Pod, ...]
    group: NodeGroup | None
    autoscaler: Autoscaler | None
    ready: Ready
    missing: tuple[Obstacle, ...]


def in_groups(
    view: ClusterView,
    wish: DeviceDemand,
    pods: tuple[Pod, ...],
    groups: Sequence[NodeGroup],
    found: Sequence[Autoscaler],
    simulate: Simulate | None = None,
) -> tuple[Readiness, ...]:
    """One wish for devices of pods that wait against every group.

    `simulate` gives the fits of pods on a group's templates; without it only what the objects tell is judged.
    """
    if not groups:
        nowhere = Obstacle(finding("NO_NODE_GROUP"), "likely", "a node group that this tool is told of, or can see", len(pods), len(pods))
        return (Readiness(wish, pods, None, None, "no", (nowhere,)),)
    return tuple(readiness(view, wish, pods, group, serving(group, found), simulate) for group in groups)


def wishes(view: ClusterView) -> tuple[tuple[DeviceDemand, tuple[Pod, ...]], ...]:
    """Pods that wait and ask for devices, by what they ask and what else decides where they may run."""
    known: dict[Hashable, list[Pod]] = {}
    for pod in pending_pods(view):
        wish = device_demand(view, pod)
        if wish.any:
            known.setdefault((wish, signature(view, pod)), []).append(pod)
    return tuple(
        (device_demand(view, pods[0]), tuple(pods)) for pods in sorted(known.values(), key=lambda pods: (-len(pods), pods[0].full_name))
    )


def readiness(
    view: ClusterView,
    wish: DeviceDemand,
    pods: tuple[Pod, ...],
    group: NodeGroup,
    autoscaler: Autoscaler | None,
    simulate: Simulate | None,
) -> Readiness:
    """One wish and one group."""
    fits = simulate(group, pods[:1]) if simulate is not None else ()
    met = [entry for entry in obstacles(view, autoscaler, group, pods[:1], fits) if entry.finding.code in LASTING]
    missing = tuple(replace(entry, pods=len(pods), of=len(pods)) for entry in (*met, *_unlike(view, group, autoscaler, wish)))
    ready: Ready = "yes"
    if missing:
        ready = "no" if any(entry.certainty != "unknown" for entry in missing) else "unknown"
    return Readiness(wish, pods, group, autoscaler, ready, missing)


def _unlike(view: ClusterView, group: NodeGroup, autoscaler: Autoscaler | None, wish: DeviceDemand) -> tuple[Obstacle, ...]:
    """Nodes of a group of Cluster Autoscaler that publish different devices (docs/dra_support.md: a node stands for all)."""
    if autoscaler is None or autoscaler.kind != "Cluster Autoscaler" or not wish.claims:
        return ()
    kinds: dict[Hashable, str] = {}
    drivers: set[str] = set()
    for node in group.members:
        slices = slices_of_node(view, node.name)
        if not whole_pools(view, slices):
            continue
        counts: Mapping[str, int] = {}
        for entry in slices:
            counts = {**counts, entry.driver: counts.get(entry.driver, 0) + len(entry.devices)}
        kinds.setdefault(tuple(sorted(counts.items())), node.name)
        drivers.update(counts)
    if len(kinds) < 2:
        return ()
    why = finding("GROUP_NODES_DIFFER", group.ref, "", group=group.name, nodes=tuple(kinds.values()), drivers=tuple(sorted(drivers)))
    return (Obstacle(why, "likely", "a group for each kind of node", 1, 1),)
