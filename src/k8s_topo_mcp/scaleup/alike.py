"""Which nodes are as good as each other for what may still come: then it doesn't matter which of them a pod takes.

New nodes of one template are, as long as the same has been put on them. Of nodes that are there, those that differ in nothing that a rule
reads but their name; one on which anything is held or special is only like itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence

from ..objects import Node, Pod, ResourceSlice
from ..objects.node import HOSTNAME
from ..scheduling.dynamic_resources import inventory
from ..scheduling.node_info import node_info
from ..scheduling.placing import Placing
from ..scheduling.scoring.node_resources_fit import non_zero_requested
from ..view import ClusterView, derived
from ..view.indices import allocated_claims, claims_of, pods_nominated_to, slices_of_node

NAME = "metadata.name"


class Alike:
    """`origins`: which new nodes are of which template."""

    def __init__(self, view: ClusterView, pods: Sequence[Pod], origins: Mapping[str, int]) -> None:
        self._view = view
        self._origins = origins
        self._apart = any(_names_nodes(view, pod) for pod in pods)
        self._kinds: dict[str, Hashable] = {}
        self._holding: frozenset[str] | None = None

    def classes(self, names: Iterable[str], placing: Placing) -> list[list[str]]:
        """The nodes in groups of such as are alike."""
        found: dict[Hashable, list[str]] = {}
        for name in names:
            found.setdefault((self._kind(name), _history(placing, name)), []).append(name)
        return list(found.values())

    def _kind(self, name: str) -> Hashable:
        if name in self._origins:
            return self._origins[name]
        if name not in self._kinds:
            node = self._view.get(Node, name)
            self._kinds[name] = name if self._apart or node is None else self._of_node(node)
        return self._kinds[name]

    def _of_node(self, node: Node) -> Hashable:
        info = node_info(self._view, node)
        devices = self._devices(node)
        if devices is None or pods_nominated_to(self._view, node.name) or any(_special(pod) for pod in info.pods):
            return node.name
        labels = frozenset((key, value) for key, value in node.metadata.labels.items() if key != HOSTNAME)
        pods = Counter((pod.namespace, frozenset(pod.metadata.labels.items()), pod.metadata.deleted is not None) for pod in info.pods)
        return (
            labels,
            node.taints,
            node.unschedulable,
            tuple(sorted((key, amount.value) for key, amount in node.allocatable.items())),
            frozenset(node.declared_features or ()),
            tuple(sorted(info.requested.items())),
            non_zero_requested(info, self._view.release),
            frozenset(pods.items()),
            devices,
        )

    def _devices(self, node: Node) -> Hashable | None:
        """What the allocator reads of the node's own slices, with taints by rules, and which devices of others' it may use. None: its own
        are bound up with what other nodes have, or in use."""
        known = inventory(self._view)
        own = known.by_node.get(node.name, ())
        beside = {other.node_selection.node_name for entry in own for other in known.by_pool[entry.driver, entry.pool]}
        if beside - {node.name} or node.name in self._holders():
            return None
        pools: dict[tuple[str, str], int] = {}
        return (
            tuple((pools.setdefault((entry.driver, entry.pool), len(pools)), _content(entry)) for entry in own),
            tuple(_usable(entry, node) for entry in known.shared),
        )

    def _holders(self) -> frozenset[str]:
        """Nodes of whose own devices any is in use, or which have counters that may be charged elsewhere."""
        if self._holding is None:
            pools = {
                (result.driver, result.pool)
                for claim in allocated_claims(self._view)
                if claim.allocation
                for result in claim.allocation.results
            }
            found: set[str] = set()
            for node in self._view.all(Node):
                slices = slices_of_node(self._view, node.name)
                if any((entry.driver, entry.pool) in pools or entry.shared_counters for entry in slices):
                    found.add(node.name)
            self._holding = frozenset(found)
        return self._holding


def _content(entry: ResourceSlice) -> Hashable:
    """Everything of a node's own slice but the names of the slice, its pool and its node."""
    devices = derived(entry, "content", lambda: repr((entry.devices, entry.bindings)))
    ways = entry.per_device_node_selection, entry.partition_type_attribute, entry.skip_node_operations
    return entry.driver, entry.generation, entry.slice_count, ways, devices


def _usable(entry: ResourceSlice, node: Node) -> Hashable:
    """Whether the node may use a slice that names none, device by device where each says it."""
    labels = node.metadata.labels
    if entry.per_device_node_selection:
        return tuple(device.node_selection.matches(node.name, labels) for device in entry.devices)
    return entry.node_selection.matches(node.name, labels)


def _history(placing: Placing, name: str) -> Hashable:
    """What was put on the node: where devices were given the order counts too."""
    taken = placing.taken.get(name)
    if not taken:
        return None
    return tuple(kind for devices, kind in taken if devices), frozenset(Counter(kind for devices, kind in taken if not devices).items())


def _special(pod: Pod) -> bool:
    affinity = pod.affinity
    return bool(affinity.pod.required or affinity.anti.required or affinity.pod.preferred or affinity.anti.preferred or pod.volumes) or any(
        port.host_port for container in (*pod.containers, *pod.init_containers) for port in container.ports
    )


def _names_nodes(view: ClusterView, pod: Pod) -> bool:
    """Whether the pod can tell nodes apart by their names."""
    terms = [*(pod.affinity.node.required.terms if pod.affinity.node.required is not None else ())]
    terms += [entry.term for entry in pod.affinity.node.preferred]
    read = {entry.key for term in terms for entry in (*term.expressions, *term.fields)} | set(pod.node_selector)
    held = any(entry.claim is not None and entry.claim.allocation is not None for entry in claims_of(view, pod))
    return bool({HOSTNAME, NAME} & read) or held or bool(pod.volumes)
