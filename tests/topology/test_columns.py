"""Devices column by column: the same whether they were made one by one or not."""

from __future__ import annotations

from k8s_topo_mcp.dra.pools import Pool
from k8s_topo_mcp.objects import ResourceSlice
from k8s_topo_mcp.topology.columns import plain_columns
from k8s_topo_mcp.topology.spots import Spots
from tests.topology.clusters import device, resource_slice, view


def test_plain_columns_stay_so_in_another_order_also_once_a_device_was_looked_at() -> None:
    item = resource_slice("gpu.nvidia.com", "n1", [device(name, {"type": "gpu"}) for name in ("a", "b", "c")])
    (entry,) = view([item]).all(ResourceSlice)
    pool = Pool(entry.driver, entry.pool, 1, "usable", "", (entry,))
    made = plain_columns([pool], {}, Spots())
    assert made is not None
    columns, _ = made
    before = columns.in_order((2, 0, 1))
    devices = columns.devices
    after = columns.in_order((2, 0, 1))
    assert before.plain
    assert after.plain
    assert after.parts == (0, 0, 0)
    assert after.devices == (devices[2], devices[0], devices[1])
    assert [piece.name for piece in after.pieces] == [device.name for device in before.devices] == ["c", "a", "b"]
