"""Where devices sit is read once for each set of attributes: what is remembered must never be another device's."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from typing import Any

import pytest

from k8s_topo_mcp.objects.resource_slice import Attribute, Device, ResourceSlice
from k8s_topo_mcp.topology.graph import cluster_graph
from k8s_topo_mcp.topology.joins import NUMA_NODE, PCIE_ROOT
from k8s_topo_mcp.topology.spots import Spots
from tests.topology.clusters import device, gpu, node, resource_slice, view


def spots_of(known: Spots, driver: str, *devices: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    (entry,) = view([resource_slice(driver, "n1", [device(f"d-{number}", given) for number, given in enumerate(devices)])]).all(
        ResourceSlice
    )
    return [(spot.kind.product, spot.kind.profile, spot.numa, spot.root, spot.part) for spot in known.of(entry).spots]


@pytest.mark.parametrize(
    ("driver", "name", "one", "other"),
    [
        ("gpu.nvidia.com", NUMA_NODE, 0, 1),
        ("gpu.nvidia.com", "numa", 0, 1),
        ("gpu.nvidia.com", "gpu.nvidia.com/numa", 0, 1),
        ("gpu.nvidia.com", PCIE_ROOT, "pci0000:00", "pci0000:01"),
        ("gpu.nvidia.com", "productName", "A", "B"),
        ("gpu.nvidia.com", "type", "gpu", "mig"),
        ("new.example.com", "parentUUID", "", "GPU-1"),
        ("dra.net", "dra.net/rdma", False, True),
        ("dra.net", "virtual", False, True),
    ],
)
def test_every_attribute_that_a_spot_depends_on_tells_devices_apart(driver: str, name: str, one: Any, other: Any) -> None:
    known = Spots()
    together = spots_of(known, driver, {name: one}, {name: other}, {name: one}, {})
    assert together == [spot for given in ({name: one}, {name: other}, {name: one}, {}) for spot in spots_of(Spots(), driver, given)]
    assert together[0] != together[1]
    assert together[0] == together[2]


def test_a_partition_s_profile_counts_only_for_partitions() -> None:
    known = Spots()
    found = spots_of(known, "gpu.nvidia.com", {"type": "mig", "profile": "1g"}, {"type": "mig", "profile": "2g"}, {"type": "gpu"})
    assert [profile for _, profile, *_ in found] == ["1g", "2g", ""]


def test_attributes_that_are_gone_leave_nothing_behind() -> None:
    """What is remembered goes by the identity of attributes, and a later one may get the place of one that is gone."""
    known = Spots()
    for number in range(300):
        entry = ResourceSlice(
            metadata=view([resource_slice("gpu.nvidia.com", "n1", [])]).all(ResourceSlice)[0].metadata,
            driver="gpu.nvidia.com", pool="n1", generation=1, slice_count=1,
            node_selection=view([resource_slice("gpu.nvidia.com", "n1", [])]).all(ResourceSlice)[0].node_selection,
            per_device_node_selection=False,
            devices=(Device("d", {NUMA_NODE: Attribute("int", number)}, {}),),
        )  # fmt: skip
        assert [spot.numa for spot in known.of(entry).spots] == [number]
        del entry
        gc.collect(0)


def test_a_node_publishes_its_pools() -> None:
    """With devices on the node itself, on roots, and on roots in NUMA nodes."""
    for sits in ((None, None), (None, "pci0000:00"), (0, "pci0000:00")):
        graph = cluster_graph(view([node("n1"), resource_slice("gpu.nvidia.com", "n1", [gpu("gpu-0", *sits), gpu("gpu-1", *sits)])]))
        assert graph.edges["node/n1", "pool/gpu.nvidia.com/n1"] == {"kind": "publishes", "by": "slice"}
        assert sum(1 for _, _, edge in graph.edges(data=True) if edge["kind"] == "contains" and edge["by"] == "slice") == 2


def test_a_table_that_is_full_in_the_middle_of_a_slice_is_begun_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("k8s_topo_mcp.topology.spots.MAX_SPOTS", 2)
    devices = [{"productName": "A", f"own{number}": number} for number in range(5)]
    assert [spot[0] for spot in spots_of(Spots(), "gpu.nvidia.com", *devices)] == ["A"] * 5
