"""One pod on one node: what the plain filters find, and what the matching core says of its claims there."""

from __future__ import annotations

from dataclasses import dataclass

from ..dra.outcome import Allocated, Outcome
from ..dra.problem import TargetNode
from ..findings import Finding
from ..objects import Node
from ..view import derived
from . import dynamic_resources, node_affinity
from .filters import Refusals


def target(node: Node) -> TargetNode:
    """The node as the allocator sees it."""
    return derived(node, "target", lambda: TargetNode(node.name, node.metadata.labels, frozenset(node.declared_features or ())))


@dataclass(slots=True, eq=False)  # not frozen: thousands are made for each pod, which takes three times as long then
class NodePlacement:
    """One node, never changed. `target` is what the allocator sees of it. `plain`: findings of every plugin but the devices', in filter
    order, each with the scheduler's reason. `outcome`: what the matching core says of the claims that are to be allocated (None: there are
    none); `elsewhere`: claims that are bound to other nodes."""

    node: Node
    target: TargetNode
    plain: Refusals
    elsewhere: tuple[Finding, ...]
    outcome: Outcome | None

    def on(self, node: Node) -> NodePlacement:
        """The same of a node that is alike."""
        return NodePlacement(node, target(node), self.plain, self.elsewhere, self.outcome)

    @property
    def open(self) -> bool:
        """Whether only devices can still keep the pod away."""
        return not self.plain

    @property
    def fits(self) -> bool:
        return not self.plain and self._devices_fit

    @property
    def reasons(self) -> tuple[str, ...]:
        """What the scheduler counts for this node."""
        if self.refusing:
            return tuple(dict.fromkeys(reason for _, reason in self.refusing))
        if self.outcome is not None and not isinstance(self.outcome, Allocated):
            return (dynamic_resources.reason(self.outcome),)
        if self.elsewhere:
            return (dynamic_resources.NOT_AVAILABLE,)
        return ()

    @property
    def refusing(self) -> Refusals:
        """What the plugin says that refuses the node first; nothing if that is DynamicResources, or none."""
        if not self.plain:
            return ()
        first = self.plain[0][0].code
        if first == _BEHIND_DEVICES and not self._devices_fit:
            return ()
        if len(self.plain) == 1:
            return self.plain
        return tuple((found, reason) for found, reason in self.plain if _plugin(found.code) == _plugin(first))

    @property
    def preemption_may_help(self) -> bool:
        """Whether the node is refused with code Unschedulable: for devices and for one unresolvable reason among several it never is."""
        return bool(self.refusing) and all(found.status == "unschedulable" for found, _ in self.refusing)

    @property
    def left_out(self) -> bool:
        """Whether the pod names other nodes, so that this one isn't even looked at."""
        return bool(self.plain) and self.plain[0][1] == node_affinity.REASON_LEFT_OUT

    @property
    def _devices_fit(self) -> bool:
        return not self.elsewhere and (self.outcome is None or isinstance(self.outcome, Allocated))


_BEHIND_DEVICES = "NODE_FEATURE_MISSING"
"""The one plain finding whose plugin runs after DynamicResources (default_plugins.go)."""

_SEVERAL = {
    **dict.fromkeys(("TOO_MANY_PODS", "INSUFFICIENT_RESOURCE", "RESOURCE_TOO_LARGE"), "NodeResourcesFit"),
    **dict.fromkeys(("VOLUME_NODE_AFFINITY", "NO_VOLUME_TO_BIND", "STORAGE_SHORT", "VOLUME_MISSING"), "VolumeBinding"),
}
"""Codes of plugins that give several reasons for one node."""


def _plugin(code: str) -> str:
    return _SEVERAL.get(code, code)
