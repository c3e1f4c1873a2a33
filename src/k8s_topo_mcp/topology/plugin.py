"""Devices that a device plugin counts (nvidia.com/gpu in a node's allocatable): how many, and how many the node's pods request.

A plugin publishes a number, nothing of product, place or health, so these have no position in the picture below the node. A pod whose
extended resource was turned into a claim (status.extendedResourceClaimStatus) holds a device of a slice, not one of the plugin's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from k8s_topo_mcp.objects.node import Node
from k8s_topo_mcp.objects.pod import Pod
from k8s_topo_mcp.view import derived

from .joins import Role, role_of


@dataclass(frozen=True, slots=True)
class PluginResource:
    """One extended resource of a node. `requested` counts the pods bound to it that haven't ended; `users` are these pods."""

    name: str
    role: Role
    allocatable: int
    requested: int
    users: tuple[Pod, ...]

    @property
    def pods(self) -> tuple[str, ...]:
        """The names of the pods that request it."""
        return tuple(pod.full_name for pod in self.users)

    @property
    def free(self) -> int:
        """What no pod requests."""
        return max(0, self.allocatable - self.requested)


def is_extended(name: str) -> bool:
    """Whether a resource name is an extended resource (component-helpers IsExtendedResourceName)."""
    domain, slash, _ = name.partition("/")
    return bool(slash) and domain != "kubernetes.io" and not domain.endswith(".kubernetes.io") and not name.startswith("requests.")


def plugin_resources(node: Node, pods_on: Callable[[str], Iterable[Pod]]) -> tuple[PluginResource, ...]:
    """The extended resources of a node, accelerators first. `pods_on` is asked only where the node has any."""
    offered = {name: amount.rounded_up_int() for name, amount in node.allocatable.items() if is_extended(name)}
    offered = {name: count for name, count in offered.items() if count > 0}
    if not offered:
        return ()
    requested: dict[str, int] = {}
    users: dict[str, list[Pod]] = {}
    for pod in pods_on(node.name):
        if pod.is_terminal:
            continue
        for name, count in _requests(pod).items():
            if name in offered:
                requested[name] = requested.get(name, 0) + count
                users.setdefault(name, []).append(pod)
    found = [
        PluginResource(name, role_of(name), count, requested.get(name, 0), tuple(users.get(name, ()))) for name, count in offered.items()
    ]
    return tuple(sorted(found, key=lambda entry: (entry.role != "accelerator", entry.name)))


def _requests(pod: Pod) -> dict[str, int]:
    return derived(pod, "topology.extended", lambda: _extended(pod))


def _extended(pod: Pod) -> dict[str, int]:
    by_claim = {entry.resource for entry in pod.extended_resource_claim.mappings} if pod.extended_resource_claim is not None else set[str]()
    return {name: amount.rounded_up_int() for name, amount in pod.requests().items() if is_extended(name) and name not in by_claim}
