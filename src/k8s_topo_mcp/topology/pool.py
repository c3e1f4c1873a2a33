"""One pool of devices from near: whether the allocator uses it, and on which nodes its devices are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .nodes import NodeHardware, Unbound
from .placed import PlacedDevice
from .rows import Row
from .words import number, summary


def pool_rows(path: str, nodes: Sequence[NodeHardware], unbound: Sequence[Unbound]) -> tuple[Row, ...]:
    """The pool, below it a row for each node and for the devices that no node has to itself."""
    devices = [device for node in nodes for device in node.devices] + [device for entry in unbound for device in entry.devices]
    pools = {id(device.pool): device.pool for device in devices}
    newest = max(pools.values(), key=lambda pool: pool.generation)
    slices = f"{newest.seen} of {newest.announced} slices seen" if newest.announced else number(newest.seen, "slice")
    states = dict.fromkeys(f"{pool.state}: {pool.reason}" if pool.reason else pool.state for pool in pools.values())
    text = f"generation {newest.generation}, {slices}, {', '.join(states)}; {number(len(devices), 'device')}"
    return (Row("pool", text, (path,), path=path, children=tuple(_places(nodes, unbound))),)


def _places(nodes: Iterable[NodeHardware], unbound: Iterable[Unbound]) -> Iterable[Row]:
    for node in nodes:
        yield Row("node", summary(node.devices), (node.name,), path=f"node/{node.name}")
    for entry in unbound:
        where = f"usable from {number(len(entry.nodes), 'node')}"
        devices: tuple[PlacedDevice, ...] = entry.devices
        yield Row("pool", f"{where}: {summary(devices)}", path=f"device/{devices[0].id}" if len(devices) == 1 else "")
