"""Pods that count as placed before anybody bound them: what they take of their nodes, and what their claims hold.

Source: k8s.io/kubernetes pkg/scheduler `assumeAndReserve`: within the scheduling of a group each pod is assumed on its node, so that the
next one finds its resources and devices taken. Here the view stays as it is, and what was assumed lies beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..dra.problem import AllocationProblem, InUse, TargetNode
from ..objects import Node, Pod, ResourceClaim
from ..view import ClusterView
from ..view.indices import PoolId, allocated_claims, claims_of_pool, pools_held
from .node_info import NodeInfo, info_of, node_info

FEW_NODES = 256
"""Up to so many nodes are judged with the claims of the pools that they see, more with all claims."""


Infos = dict[tuple[int, ...], tuple[NodeInfo, NodeInfo]]
"""ids of a node's info and of the pods that were put on it -> that info, and the one with them."""


class Assumed:
    """What has been assumed so far, on top of `view`: `count` pods, and `claims`. `infos` are kept for others that begin alike."""

    def __init__(self, view: ClusterView, infos: Infos | None = None) -> None:
        self.view = view
        self._infos: Infos = {} if infos is None else infos
        self.claims: list[ResourceClaim] = []
        self.count = 0
        self._placed: list[Pod] = []
        self._taken: list[tuple[Pod, str]] = []
        self._pods: dict[str, list[Pod]] = {}
        self._by_pool: dict[PoolId, list[ResourceClaim]] = {}

    def take_node(self, pod: Pod, node: str) -> None:
        """The pod runs on the node from now on."""
        self._pods.setdefault(node, []).append(pod)
        self._taken.append((pod, node))
        self.count += 1

    @property
    def placed(self) -> Sequence[Pod]:
        """The pods that were assumed, as if bound to their nodes."""
        for pod, node in self._taken[len(self._placed) :]:
            self._placed.append(replace(pod, node_name=node))
        return self._placed

    def copy(self) -> Assumed:
        """The same state, to go on from apart."""
        other = Assumed(self.view, self._infos)
        other.claims, other.count = list(self.claims), self.count
        other._placed, other._taken = list(self._placed), list(self._taken)
        other._pods = {node: list(pods) for node, pods in self._pods.items()}
        other._by_pool = {pool: list(claims) for pool, claims in self._by_pool.items()}
        return other

    def take_devices(self, claim: ResourceClaim) -> None:
        """The claim holds what its allocation says."""
        self.claims.append(claim)
        for pool in pools_held(claim):
            self._by_pool.setdefault(pool, []).append(claim)

    def info(self, node: Node) -> NodeInfo:
        """The node as the next pod finds it."""
        known = node_info(self.view, node)
        pods = self._pods.get(node.name)
        if not pods:
            return known
        key = (id(known), *map(id, pods))
        kept = self._infos.get(key)
        if kept is None:
            kept = self._infos[key] = known, info_of(node, (*known.pods, *pods), self.view.release)
        return kept[1]

    def problem(self, problem: AllocationProblem, nodes: Sequence[TargetNode]) -> AllocationProblem:
        """The problem as the next pod finds it on these nodes."""
        if not self.claims:
            return problem
        consumable = "ConsumableCapacity" in problem.features
        if len(nodes) > FEW_NODES:
            return replace(problem, in_use=InUse.of((*allocated_claims(self.view), *self.claims), consumable))
        pools = {(entry.driver, entry.pool) for node in nodes for entry in problem.inventory.near(node.name)}
        found: Mapping[tuple[str, str], ResourceClaim] = {
            claim.key: claim for pool in pools for claim in (*claims_of_pool(self.view, *pool), *self._by_pool.get(pool, ()))
        }
        return replace(problem, in_use=InUse.of(found.values(), consumable))
