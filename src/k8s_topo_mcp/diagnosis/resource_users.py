"""Which pods have a resource that nodes lack: counted devices, CPU, memory, ephemeral storage.

Pods of a DaemonSet and static pods aren't among them: they come back on the same node.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..findings import Finding
from ..objects import Node, Pod, Quantity
from ..scheduling.node_info import occupied
from ..view import ClusterView, Delete
from ..view.indices import pods_on
from .counted_devices import is_counted
from .nearest import quantity_or_none
from .report import Change, Holder, Trial

ENDED_ONE_BY_ONE, ENOUGH_ALONE = 4, 2
"""Pods whose end is tried: with counted devices, and with what every pod has some of."""

BOUND_TO_THE_NODE = frozenset({"DaemonSet", "Node"})
"""Kinds of controllers that make the same pod on the same node again."""


@dataclass(frozen=True, slots=True, eq=False)
class User:
    """A pod with how much it has of the resource; `alone`: its end is enough for what is asked."""

    pod: Pod
    amount: Quantity
    alone: bool


def users(view: ClusterView, found: Finding, nodes: Sequence[Node]) -> tuple[User, ...]:
    """Pods on these nodes that have some of the resource: those that free enough by themselves, the smallest first, and of counted devices
    then the others, the largest first."""
    if found.code != "INSUFFICIENT_RESOURCE":
        return ()
    return view.memo(("users", found, tuple(nodes)), lambda: _users(view, found, nodes))


def _users(view: ClusterView, found: Finding, nodes: Sequence[Node]) -> tuple[User, ...]:
    asked = quantity_or_none(found.text("asked"))
    if asked is None:
        return ()
    resource, ranked = found.text("resource"), list[tuple[tuple[bool, Fraction], User]]()
    for node in nodes:
        own = {pod: amount for pod in pods_on(view, node.name) if (amount := occupied(pod, view.release).get(resource)) and amount.value}
        offered = node.allocatable.get(resource)
        free = Fraction(offered.value if offered is not None else 0) - sum((Fraction(each.value) for each in own.values()), Fraction(0))
        for pod, amount in own.items():
            if pod.metadata.controller is not None and pod.metadata.controller.kind in BOUND_TO_THE_NODE:
                continue
            held = Fraction(amount.value)
            alone = free + held >= asked.value
            if alone or is_counted(found):
                ranked.append(((not alone, held if alone else -held), User(pod, amount, alone)))
    return tuple(user for _, user in sorted(ranked, key=lambda pair: pair[0]))


def ending_changes(view: ClusterView, found: Finding, nodes: Sequence[Node]) -> Iterator[Change]:
    """One of these pods ends."""
    for user in users(view, found, nodes)[: ENDED_ONE_BY_ONE if is_counted(found) else ENOUGH_ALONE]:
        name = user.pod.full_name
        has = "" if is_counted(found) else f" ({user.amount} {found.text('resource')})"
        yield Change(f"pod {name} ends{has}", user.pod.ref, "", "", "", (Delete(user.pod),), True, f"end or move pod {name}")


def holders(view: ClusterView, found: Finding, nodes: Sequence[Node], helping: Sequence[Trial]) -> tuple[Holder, ...]:
    """These pods as holders; how many devices where the resource counts some. Of CPU and the like every pod has some: they are holders only
    where the end of one helps."""
    counted = is_counted(found)
    if not counted and not any(
        isinstance(edit.object, Pod) and isinstance(edit, Delete) for trial in helping for edit in trial.change.edits
    ):
        return ()
    return tuple(
        Holder(user.pod.ref, (user.pod.full_name,), int(user.amount.value) if counted else 0, user.pod.metadata.created, True)
        for user in users(view, found, nodes)
    )
