"""Nodes that share a verdict are alike in all that it depends on."""

from __future__ import annotations

from typing import Any

import pytest

from k8s_topo_mcp.dra.allocation import allocate
from k8s_topo_mcp.dra.outcome import Aborted, Outcome
from k8s_topo_mcp.objects import Pod
from k8s_topo_mcp.scheduling.placement import place
from k8s_topo_mcp.view import ClusterView

from ..diagnosis.clusters import DRIVER, Item, asking, cluster, device_class, gpu, gpus, node, partitioned, pool, request

PARTITIONS = {"DRAPartitionableDevices": True}
NIC = "nic.example.com"


def each(view: ClusterView) -> tuple[dict[str, Outcome], dict[str, Outcome]]:
    """What is said of each node, and what each gets when it is asked for alone by the literal search."""
    pod = view.get(Pod, "p", "default")
    assert pod is not None
    placement = place(view, pod)
    problem = placement.devices.problem
    assert problem is not None
    said = {name: entry.outcome for name, entry in placement.nodes.items() if entry.outcome is not None}
    return said, {name: allocate(problem, entry.target, pruned=False) for name, entry in placement.nodes.items()}


def kinds(outcomes: dict[str, Outcome]) -> dict[str, str]:
    return {name: type(outcome).__name__ for name, outcome in outcomes.items()}


def test_counters_that_stand_in_the_slice_of_the_devices_tell_nodes_apart() -> None:
    small = partitioned("n2", size="10Gi", minor=34)
    for entry in small:
        for counter_set in entry["spec"].get("sharedCounters", ()):
            counter_set["counters"] = {name: {"value": "5Gi"} for name in counter_set["counters"]}
    items = (node("n1"), node("n2"), *partitioned("n1", size="10Gi", minor=34), *small, device_class(), *asking())
    said, alone = each(cluster(*items, minor=34, gates=PARTITIONS))
    assert kinds(said) == kinds(alone) == {"n1": "Allocated", "n2": "Unallocatable"}


def drawing(on: str, driver: str, pool_name: str) -> list[Item]:
    """A device that takes all of its pool's one counter."""
    counters: dict[str, Any] = {"slots": {"value": "1"}}
    device = gpu("d", consumesCounters=[{"counterSet": "card", "counters": counters}])
    found = [
        pool([device], on, driver=driver, count=2),
        pool([], on, driver=driver, name=f"{on}-{driver}-counters", count=2, sharedCounters=[{"name": "card", "counters": counters}]),
    ]
    for entry in found:
        entry["spec"]["pool"]["name"] = pool_name
    return found


@pytest.mark.parametrize("minor", [35, 36, 37])
def test_where_counters_are_kept_by_the_pools_name_names_tell_nodes_apart(minor: int) -> None:
    slices = [*drawing("n1", DRIVER, "n1"), *drawing("n1", NIC, "n1"), *drawing("n2", DRIVER, "n2-a"), *drawing("n2", NIC, "n2-b")]
    classes = (device_class(), device_class("nic", f'device.driver == "{NIC}"'))
    view = cluster(node("n1"), node("n2"), *slices, *classes, *asking(request("r"), request("s", of="nic")), minor=minor, gates=PARTITIONS)
    said, alone = each(view)
    assert kinds(said) == kinds(alone) == {"n1": "Unallocatable" if minor < 37 else "Allocated", "n2": "Allocated"}


def test_an_error_that_names_a_pool_names_each_nodes_own() -> None:
    slices = (pool(gpus(4), "n1", count=2), pool(gpus(4), "n2", count=2))
    said, _ = each(cluster(node("n1"), node("n2"), *slices, device_class(), *asking(request("r", None))))
    for name, outcome in said.items():
        assert isinstance(outcome, Aborted)
        assert f"pool {DRIVER}/{name} " in outcome.message
