"""Claims that hold devices for nobody: allocated, but every pod that they are reserved for is gone or has ended, and no pod that lives
names them (kubernetes/kubernetes#132334).

A reservation names its pod by uid: a new pod of the same name is another one. A claim that is reserved for something else than pods, or
while pods can't be read, is not suspected. A freshly ended pod's claim is one for as long as its controller takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..dra.allocation import allocate_each
from ..dra.outcome import Aborted
from ..dra.problem import NOTHING_HELD, InUse
from ..objects import Node, Pod, ResourceClaim, ResourceSlice
from ..scheduling.dynamic_resources import inventory
from ..scheduling.placement import place, target
from ..scheduling.pod_signature import signature
from ..view import ClusterView
from ..view.indices import allocated_claims, pods_of_claim, slices_of_pool
from .feasibility import count_copies, room_for
from .holders import IN_THE_WAY
from .triage import Waiting
from .trials import pools_held

GROUPS = 8
"""Groups for which a release is tried."""


@dataclass(frozen=True, slots=True, eq=False)
class Zombies:
    """Such claims and how many devices they hold. `starts`: (group, its pods that would start if all were released), each tried alone."""

    claims: tuple[ResourceClaim, ...]
    devices: int
    starts: tuple[tuple[Waiting, int], ...]


def zombies(view: ClusterView, groups: Sequence[Waiting]) -> Zombies:
    """Who holds devices for nobody, and what of these groups their release would start."""
    claims = zombie_claims(view)
    devices = sum(len(_held(claim)) for claim in claims)
    if not claims:
        return Zombies((), 0, ())
    nodes = _seeing(view, claims)
    waiting = [group for group in groups if group.code in IN_THE_WAY and not group.gang][:GROUPS]
    rest = _without(view, claims, nodes) if waiting else NOTHING_HELD
    found = [(group, _started(view, rest, group, nodes)) for group in waiting]
    return Zombies(claims, devices, tuple((group, pods) for group, pods in found if pods))


def zombie_claims(view: ClusterView) -> tuple[ResourceClaim, ...]:
    """By namespace and name."""
    if not view.can_read(Pod.KIND):
        return ()
    return tuple(claim for claim in allocated_claims(view) if _held(claim) and _forsaken(view, claim))


def _held(claim: ResourceClaim) -> tuple[object, ...]:
    return () if claim.allocation is None else tuple(result for result in claim.allocation.results if not result.admin_access)


def _forsaken(view: ClusterView, claim: ResourceClaim) -> bool:
    for consumer in claim.reserved_for:
        if consumer.resource != "pods" or consumer.api_group:
            return False
        pod = view.get(Pod, consumer.name, claim.namespace)
        same = pod is not None and (not consumer.uid or not pod.metadata.uid or pod.metadata.uid == consumer.uid)
        if pod is not None and same and not pod.is_terminal:
            return False
    return not any(not pod.is_terminal for pod in pods_of_claim(view, claim))


def _seeing(view: ClusterView, claims: Sequence[ResourceClaim]) -> tuple[Node, ...]:
    """Nodes that may see a device of these claims: others change nothing."""
    pools = {(result.driver, result.pool) for claim in claims if claim.allocation is not None for result in claim.allocation.results}
    slices: list[ResourceSlice] = [entry for driver, pool in sorted(pools) for entry in slices_of_pool(view, driver, pool)]
    names = {entry.node_selection.node_name for entry in slices}
    if not all(names):
        return view.all(Node)
    return tuple(node for node in view.all(Node) if node.name in names)


def _without(view: ClusterView, claims: Sequence[ResourceClaim], nodes: Sequence[Node]) -> InUse:
    """What is in use of the devices that these nodes see, without the claims."""
    gone = {claim.key for claim in claims}
    slices = inventory(view)
    near = {(entry.driver, entry.pool) for node in nodes for entry in slices.near(node.name)}
    by_pool = view.index(ResourceClaim, pools_held)
    others = {claim.key: claim for pool in near for claim in by_pool.get(pool, ()) if claim.key not in gone}
    return InUse.of(others.values(), view.release.enabled("DRAConsumableCapacity"))


def _started(view: ClusterView, rest: InUse, group: Waiting, nodes: tuple[Node, ...]) -> int:
    """How many pods of the group that are like its first one would start side by side."""
    pod = group.pods[0]
    placement = place(view, pod, nodes)
    if placement.devices.problem is None or placement.devices.extended is not None or placement.pod_wide or placement.unknown:
        return 0
    problem = replace(placement.devices.problem, in_use=rest)
    opened = [entry.node for entry in placement.opened if not entry.elsewhere]
    if any(isinstance(outcome, Aborted) for outcome in allocate_each(problem, map(target, opened)).values()):
        return 0
    own = signature(view, pod)
    alike = sum(1 for other in group.pods if signature(view, other) == own)
    limits = {node.name: room_for(view, pod, node) for node in opened}
    return min(alike, count_copies(problem, [target(node) for node in opened], limits))
