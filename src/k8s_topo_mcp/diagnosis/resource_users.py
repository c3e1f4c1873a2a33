"""Which pods have a resource that nodes lack: counted devices, CPU, memory, ephemeral storage.

Pods of a DaemonSet and static pods aren't among them: they come back on the same node.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import nsmallest
from operator import itemgetter
from typing import TypeAlias

from ..findings import Finding
from ..objects import Node, Pod, Quantity
from ..releases import Release
from ..scheduling.node_info import MANY, NodeInfo, node_info, occupied
from ..view import ClusterView
from .counted_devices import is_counted
from .ends import comes_back, devices_of, ended_by, ending, how_to_end
from .nearest import quantity_or_none
from .report import Change, Holder, Trial

ENDED_ONE_BY_ONE, ENOUGH_ALONE = 4, 2
"""Pods whose end is tried: with counted devices, and with what every pod has some of."""

MOST = 16
"""Pods that are found: more than any answer names or any trial ends."""

RESOURCES_KEPT = 8
"""Resources of which it is kept who has them."""


@dataclass(frozen=True, slots=True, eq=False)
class User:
    """A pod with how much it has of the resource; `alone`: its end is enough for what is asked."""

    pod: Pod
    amount: Quantity
    alone: bool


_Ranked: TypeAlias = tuple[tuple[bool, int | float | Fraction], Pod, Quantity]
"""(whether it isn't enough alone, then by how much it has), the pod, how much."""


def users(view: ClusterView, found: Finding, nodes: Sequence[Node]) -> tuple[User, ...]:
    """The first of the pods on these nodes that have some of the resource: those that free enough by themselves, the smallest first, and of
    counted devices then the others, the largest first."""
    if found.code != "INSUFFICIENT_RESOURCE":
        return ()
    return view.memo(("users", found, tuple(nodes)), lambda: _users(view, found, nodes))


def _users(view: ClusterView, found: Finding, nodes: Sequence[Node]) -> tuple[User, ...]:
    asked = quantity_or_none(found.text("asked"))
    if asked is None:
        return ()
    first = nsmallest(MOST, _ranked(view, found.text("resource"), asked, nodes, is_counted(found)), key=itemgetter(0))
    return tuple(User(pod, amount, not others) for (others, _), pod, amount in first)


def _ranked(view: ClusterView, resource: str, asked: Quantity, nodes: Sequence[Node], counted: bool) -> Iterator[_Ranked]:
    """Of each node the pods that may be among the first, once it is known what it lacks; where devices aren't counted only those whose end
    is enough."""
    kept = _kept(view, resource)
    for node in nodes:
        info = node_info(view, node)
        known = kept.get(node.name)
        if known is None or known.info is not info:
            known = kept[node.name] = _on(info, resource, view.release)
        offered = node.allocatable.get(resource)
        lacking = asked.value - (offered.value if offered is not None else 0) + info.requested.get(resource, 0)
        first = bisect_left(known.amounts, lacking)
        for pod, amount in known.pods[first : first + MOST]:
            yield (False, amount.value), pod, amount
        for pod, amount in known.pods[:first] if counted else ():
            yield (True, -amount.value), pod, amount


@dataclass(frozen=True, slots=True, eq=False)
class _OnNode:
    """The pods of one node that have some of a resource and don't come back when they end, the smallest first."""

    info: NodeInfo
    amounts: tuple[int | Fraction, ...]
    pods: tuple[tuple[Pod, Quantity], ...]


def _on(info: NodeInfo, resource: str, release: Release) -> _OnNode:
    found = [
        (pod, amount) for pod in info.pods if (amount := occupied(pod, release).get(resource)) and amount.value and not comes_back(pod)
    ]
    found.sort(key=lambda pair: pair[1].value)
    return _OnNode(info, tuple([amount.value for _, amount in found]), tuple(found))


def _kept(view: ClusterView, resource: str) -> dict[str, _OnNode]:
    """What is known of nodes, for as long as these and their pods are the same: of a few resources, and not of nodes that are gone."""
    by_resource = view.carried(Node, _nothing_kept)
    if resource not in by_resource and len(by_resource) >= RESOURCES_KEPT:
        by_resource.clear()
    kept = by_resource.setdefault(resource, {})
    if len(kept) > 2 * view.count(Node) + MANY:
        kept.clear()
    return kept


def _nothing_kept(_: tuple[Node, ...]) -> dict[str, dict[str, _OnNode]]:
    return {}


def ending_changes(view: ClusterView, found: Finding, nodes: Sequence[Node]) -> Iterator[Change]:
    """One of these pods ends."""
    for user in users(view, found, nodes)[: ENDED_ONE_BY_ONE if is_counted(found) else ENOUGH_ALONE]:
        has = "" if is_counted(found) else f" ({user.amount} {found.text('resource')})"
        text, how = f"pod {user.pod.full_name} ends{has}", how_to_end(view, user.pod)
        yield Change(text, user.pod.ref, "", "", "", ending(view, user.pod), True, how)


def holders(view: ClusterView, found: Finding, nodes: Sequence[Node], helping: Sequence[Trial]) -> tuple[Holder, ...]:
    """These pods as holders; how many devices where the resource counts some. Of CPU and the like every pod has some: they are holders only
    where the end of one helps, or of two together; those of which none is enough alone come first."""
    counted = is_counted(found)
    ended = {pod.key: pod for trial in helping for pod in ended_by(trial.change)}
    if not counted and not ended:
        return ()
    using = {user.pod.key: user for user in users(view, found, nodes)}
    helpful = [pod for pod in ended.values() if pod.key not in using or not using[pod.key].alone]

    def held(pod: Pod) -> int:
        amount = occupied(pod, view.release).get(found.text("resource")) if counted else None
        return int(amount.value) if amount is not None else devices_of(view, pod)

    pods = {pod.key: pod for pod in (*helpful, *(user.pod for user in using.values()))}
    return tuple(Holder(pod.ref, (pod.full_name,), held(pod), pod.metadata.created, True) for pod in pods.values())
