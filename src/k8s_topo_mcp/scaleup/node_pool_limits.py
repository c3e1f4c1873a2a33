"""Whether a new node would pass a limit of its NodePool: as it is counted here, else as Karpenter said.

sigs.k8s.io/karpenter pkg/controllers/provisioning/scheduling/scheduler.go (addToNewNodeClaim, filterByRemainingResources,
updateRemainingResources): what the NodePool's nodes have counts, not its status, and each node counts 1 for resource "nodes". Karpenter
counts with every kind of node of its provider, of which some may not be known here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..findings import finding
from ..objects import Node, NodePool, Pod, Quantity
from ..view import ClusterView
from .ages import age_text
from .karpenter_words import OverLimits, over_limits
from .node_group import NodeGroup
from .node_pools import claims_of_pools, nodes_of_pools
from .obstacle import Obstacle

NOTHING, ONE = Quantity.parse("0"), Quantity.parse("1")
NODES = "nodes"


def limits(view: ClusterView, pool: NodePool, group: NodeGroup, pods: Sequence[Pod]) -> Iterator[Obstacle]:
    """A limit of the NodePool that every kind of its nodes would pass. Of several limits the one is told that the kind of node with the
    fewest passes. Karpenter may know of other kinds: where it said that all would pass one, its word is told."""
    if not pool.limits:
        return
    used = _used(view, pool)
    passed = [_over(pool, used, entry.node) for entry in group.templates] or [_over(pool, used, None)]
    if not all(passed):
        yield from _as_said(view, pool, used, pods)
        return
    resource, adds = min(passed, key=len)[0]
    has, most = used.get(resource, NOTHING), pool.limits[resource]
    why = finding("LIMIT_REACHED", pool.ref, f"spec.limits[{resource}]", resource=resource, used=str(has), limit=str(most), adds=adds)
    yield Obstacle(why, "certain", _removed(pool, f"a higher limit of {resource}"), len(pods), len(pods))


def _as_said(view: ClusterView, pool: NodePool, used: Mapping[str, Quantity], pods: Sequence[Pod]) -> Iterator[Obstacle]:
    """Karpenter's word. That no node is left it says of limit "nodes"; that all kinds of nodes pass a limit it says of any, and not of
    which. What it says of "nodes" is against what is counted here: then it isn't known which of the two holds."""
    said = _word(view, pool, pods)
    if said is None:
        return
    names = [NODES] if said.of_nodes else sorted(name for name in pool.limits if name != NODES) or [NODES]
    if any(name not in pool.limits for name in names):
        return
    why = finding(
        "LIMIT_SAID_REACHED",
        pool.ref,
        f"spec.limits[{names[0]}]" if len(names) == 1 else "spec.limits",
        pool=pool.name,
        limits=tuple(f"{name} ({used.get(name, NOTHING)} of {pool.limits[name]} used)" for name in names),
        age=age_text(view, said.event.last),
    )
    higher = f"a higher limit of {names[0]}" if len(names) == 1 else "a higher limit of what a new node passes"
    yield Obstacle(why, "unknown" if names == [NODES] else "likely", _removed(pool, higher), len(pods), len(pods))


def _word(view: ClusterView, pool: NodePool, pods: Sequence[Pod]) -> OverLimits | None:
    """What Karpenter said, unless what is there shows that the NodePool, a node of it or a NodeClaim was made since, or is being deleted
    since. An edit of the limits, or a node that is gone by now, isn't seen. NodeClaims follow the word of the same attempt."""
    said = over_limits(view, tuple(pods)).get(pool.name)
    if said is None:
        return None
    own = (pool, *claims_of_pools(view).get(pool.name, ()), *nodes_of_pools(view).get(pool.name, ()))
    changes = (moment for item in own for moment in (item.metadata.created, item.metadata.deleted) if moment is not None)
    return said if max(changes, default=0.0) < (said.event.last or 0.0) else None


def _removed(pool: NodePool, higher: str) -> str:
    return f"{higher} in NodePool {pool.name}, or fewer of its nodes"


def _over(pool: NodePool, used: Mapping[str, Quantity], node: Node | None) -> list[tuple[str, str]]:
    """The limits that one more such node would pass, each with what it adds; without a node those that are used up."""
    found: list[tuple[str, str]] = []
    for resource, most in sorted(pool.limits.items()):
        has = used.get(resource, NOTHING)
        adds = ONE if resource == NODES else _amount(resource, node)
        if has >= most if adds is None else has + adds > most:
            found.append((resource, "" if adds is None else str(adds)))
    return found


def _amount(resource: str, node: Node | None) -> Quantity | None:
    return None if node is None else node.capacity.get(resource) or node.allocatable.get(resource) or NOTHING


def _used(view: ClusterView, pool: NodePool) -> dict[str, Quantity]:
    """What the nodes of the NodePool have, and NodeClaims that have no node yet."""
    total: dict[str, Quantity] = {}
    nodes = nodes_of_pools(view).get(pool.name, ())
    names = {node.name for node in nodes}
    coming = [claim for claim in claims_of_pools(view).get(pool.name, ()) if not claim.node or claim.node not in names]
    for resources in (*(node.capacity for node in nodes), *(claim.capacity for claim in coming)):
        for resource, amount in {**resources, NODES: ONE}.items():
            total[resource] = total[resource] + amount if resource in total else amount
    return total
