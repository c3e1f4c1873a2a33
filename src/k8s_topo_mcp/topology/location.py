"""Where devices are that claims name: found by pool, not by looking at every node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from k8s_topo_mcp.objects.resource_slice import DeviceId
from k8s_topo_mcp.view import ClusterView

from .hardware import hardware
from .nodes import NodeHardware
from .placed import PlacedDevice

PoolKey = tuple[str, str]


def nodes_of_pools(view: ClusterView) -> Mapping[PoolKey, tuple[NodeHardware, ...]]:
    """The nodes that have devices of each pool."""

    def find() -> Mapping[PoolKey, tuple[NodeHardware, ...]]:
        found: dict[PoolKey, dict[NodeHardware, None]] = {}
        for node in hardware(view).nodes:
            for key in {(device.pool.driver, device.pool.name): None for device in node.devices}:
                found.setdefault(key, {})[node] = None
        return {key: tuple(nodes) for key, nodes in found.items()}

    return view.memo("topology.nodes of pools", find)


def located(view: ClusterView, wanted: Iterable[DeviceId]) -> list[tuple[NodeHardware, list[PlacedDevice]]]:
    """The nodes that have any of these devices, by name, each with those; a partition is found as the whole that it is part of."""
    ids = set(wanted)
    pools = nodes_of_pools(view)
    nodes = {node.name: node for key in {(entry.driver, entry.pool) for entry in ids} for node in pools.get(key, ())}
    found: list[tuple[NodeHardware, list[PlacedDevice]]] = []
    for name in sorted(nodes):
        devices = [device for device in nodes[name].devices if any(entry.id in ids for entry in (device, *device.parts))]
        if devices:
            found.append((nodes[name], devices))
    return found
