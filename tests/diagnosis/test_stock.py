"""What is left of a class of devices, who holds some for nobody, and how pools and two owners are counted."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import Any

import pytest

from k8s_topo_mcp.diagnosis import largest
from k8s_topo_mcp.diagnosis.double_use import double_uses
from k8s_topo_mcp.diagnosis.headroom import headroom
from k8s_topo_mcp.diagnosis.pool_status import PoolStatus, by_importance, pool_statuses
from k8s_topo_mcp.diagnosis.stock import Stock, stock
from k8s_topo_mcp.diagnosis.triage import waiting_groups
from k8s_topo_mcp.diagnosis.zombies import zombies
from k8s_topo_mcp.objects import Pod
from k8s_topo_mcp.sources.snapshot import load
from k8s_topo_mcp.tools.asking import ask
from k8s_topo_mcp.tools.catalogue import find
from k8s_topo_mcp.topology.hardware import hardware
from k8s_topo_mcp.topology.shapes import shapes
from k8s_topo_mcp.topology.totals import totals
from k8s_topo_mcp.view import ClusterView
from k8s_topo_mcp.view.indices import pending_pods

from .clusters import (
    DRIVER,
    Item,
    claim,
    cluster,
    device_class,
    gpu,
    gpus,
    held,
    node,
    pairs_of_slices,
    partitioned,
    pod,
    pool,
    request,
    taint_rule,
)

LAYOUT = {"STD__numaNode": lambda number: number // 2, "STD__pcieRoot": lambda number: f"pci{number}"}
TAINT = [{"key": "sick", "effect": "NoSchedule", "timeAdded": "2026-11-01T00:00:00Z"}]


def two_nodes(**attributes: Any) -> list[Item]:
    return [node("n1"), node("n2"), device_class(), pool(gpus(4, **attributes), "n1"), pool(gpus(4, **attributes), "n2")]


def used(name: str, devices: list[str], on: str) -> list[Item]:
    return [held(f"held-{name}", devices, on, name), pod(name, (f"held-{name}",), on=on)]


def count(view: ClusterView, needed: int = 0, name: str = "gpu") -> Stock:
    return stock(view, name, needed)


def test_devices_are_held_tainted_or_free_and_the_largest_claim_is_told_for_each_place() -> None:
    items = two_nodes(**LAYOUT)
    items[3]["spec"]["devices"][3]["taints"] = TAINT
    found = count(cluster(*items, *used("a", ["gpu-0"], "n1"), *used("b", ["gpu-0", "gpu-1", "gpu-2"], "n2")), 3)
    assert (found.total, found.held, found.tainted, found.free) == (8, 4, 1, 3)
    assert (found.node, found.numa, found.root, found.domain) == (2, 1, 1, None)
    assert (found.apart, found.needed) == (3, 3)


def test_places_that_nobody_publishes_are_not_counted_as_zero() -> None:
    found = count(cluster(*two_nodes()))
    assert (found.node, found.numa, found.root, found.domain) == (4, None, None, None)


def test_an_nvlink_domain_is_added_up_over_its_nodes() -> None:
    items = two_nodes()
    for entry in items[:2]:
        entry["metadata"]["labels"]["nvidia.com/gpu.clique"] = "c.1"
    assert count(cluster(*items)).domain == 8


def test_cordoned_nodes_offer_no_claim_and_their_free_devices_are_told_apart() -> None:
    items = two_nodes()
    items[0]["spec"]["unschedulable"] = True
    found = count(cluster(*items, *used("b", ["gpu-0"], "n2")))
    assert (found.free, found.cordoned, found.node) == (7, 4, 3)


def test_partitions_that_exclude_each_other_are_not_added_up() -> None:
    found = count(cluster(node("n1"), device_class(), *partitioned()))
    assert (found.free, found.node) == (3, 2)  # the whole card, or its two halves


def test_a_card_of_which_a_part_is_held_is_not_free_and_overlapping_parts_are_told() -> None:
    """As `topology` calls it: split. What is left of the second card overlaps: the whole, or its two halves."""
    items = [node("n1"), device_class(), *partitioned(cards=2)]
    found = count(cluster(*items, *used("a", ["card-0-low"], "n1")))
    assert (found.total, found.held, found.split, found.free, found.together) == (6, 1, 1, 4, 3)
    assert (found.node, found.at_least) == (3, frozenset())


@pytest.mark.parametrize("minor", [34, 35, 37])
def test_what_is_split_is_what_the_topology_calls_so(minor: int) -> None:
    whole = device_class("gpu", 'device.attributes["gpu.example.com"].type == "whole"')
    items = [node("n1"), whole, *partitioned(cards=3, minor=minor), *used("a", ["card-0-low"], "n1")]
    view = cluster(*items, minor=minor, gates={"DRAPartitionableDevices": True})
    wholes = count(view)
    nodes = hardware(view).nodes
    states = totals(nodes, shapes(nodes)).accelerators
    assert (wholes.split, wholes.free) == (states["split"], states["free"]) == (1, 2)


def test_devices_held_in_shares_are_neither_free_nor_lost_to_the_largest_claim() -> None:
    holder = held("h", ["gpu-0"], "n1", "a")
    holder["status"]["allocation"]["devices"]["results"][0]["shareID"] = "7f0e3c1a-0000-4000-8000-000000000001"
    items = [node("n1"), device_class(), pool([gpu("gpu-0", allowMultipleAllocations=True)], "n1"), holder, pod("a", ("h",), on="n1")]
    found = count(cluster(*items, gates={"DRAConsumableCapacity": True}))
    assert (found.held, found.shared, found.free, found.node) == (0, 1, 0, 1)


def test_where_the_search_does_not_end_the_largest_claim_is_a_lower_figure_and_says_so() -> None:
    few = count(cluster(node("n1"), device_class(), *pairs_of_slices(5)))
    assert (few.node, few.at_least) == (2, frozenset())
    many = count(cluster(node("n1"), device_class(), *pairs_of_slices(15)))
    assert (many.node, many.at_least) == (7, {"node"})
    pending = cluster(node("n1"), device_class(), *pairs_of_slices(15), claim("c", request("r", 1, "nobody")), pod("p", ("c",)))
    assert "largest claim that still fits: at least 7 a node" in ask(find("explain_pending"), pending, {}).report


def test_the_counters_bound_spares_the_search_of_mig_partitions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight cards with one partition of each in use: 144 partitions could be had alone, six of a card together."""
    monkeypatch.setattr(largest, "ALL_STEPS", 1_000)
    with as_file(files("k8s_topo_mcp") / "scenes" / "twenty-gpu-nodes") as folder:
        found = count(load([str(folder)]), name="mig.nvidia.com")
    assert (found.total, found.held, found.split, found.free, found.together) == (200, 8, 48, 144, 48)
    assert (found.node, found.numa, found.root, found.at_least) == (32, 24, 6, frozenset())


def test_devices_that_many_nodes_see_count_once() -> None:
    items = [node("n1"), node("n2"), device_class(), pool(gpus(4), "shared", allNodes=True)]
    found = count(cluster(*items))
    assert (found.total, found.node) == (4, 4)


def test_a_claim_never_gets_more_than_32_devices() -> None:
    assert count(cluster(node("n1"), device_class(), pool(gpus(40), "n1"))).node == 32


# --- claims of nobody -------------------------------------------------------------------------------------------------------------


def left_over(*items: Item) -> tuple[list[str], list[tuple[str, int]]]:
    view = cluster(*two_nodes(), *items)
    found = zombies(view, waiting_groups(view, pending_pods(view)))
    return [entry.name for entry in found.claims], [(group.pods[0].name, pods) for group, pods in found.starts]


def test_a_claim_whose_pod_is_gone_is_told_with_what_its_release_starts() -> None:
    wanting = [item for name in ("x", "y", "z") for item in (claim(f"c-{name}", request("r", 2)), pod(name, (f"c-{name}",)))]
    gone = held("old", ["gpu-0", "gpu-1", "gpu-2", "gpu-3"], "n1", "gone")
    assert left_over(gone, *used("b", ["gpu-0", "gpu-1", "gpu-2"], "n2"), *wanting) == (["old"], [("x", 2)])


def test_a_pod_of_the_same_name_with_another_uid_does_not_keep_a_claim_alive() -> None:
    again = pod("a", on="n1", metadata={"uid": "another"})
    assert left_over(held("old", ["gpu-0"], "n1", "a"), again)[0] == ["old"]
    assert left_over(held("old", ["gpu-0"], "n1", "a"), pod("a", on="n1"))[0] == []


def test_a_pod_that_has_ended_holds_nothing_but_one_that_still_names_the_claim_does() -> None:
    ended = pod("a", ("old",), on="n1", status={"phase": "Succeeded"})
    assert left_over(held("old", ["gpu-0"], "n1", "a"), ended)[0] == ["old"]
    assert left_over(held("old", ["gpu-0"], "n1", "a"), ended, pod("b", ("old",)))[0] == []


def test_a_reservation_for_something_else_than_a_pod_is_not_suspected() -> None:
    other = held("old", ["gpu-0"], "n1", "a")
    other["status"]["reservedFor"][0] |= {"resource": "podgroups", "apiGroup": "scheduling.k8s.io"}
    assert left_over(other)[0] == []


# --- pools, two owners, room ------------------------------------------------------------------------------------------------------


def test_pools_are_counted_as_the_controller_counts_them() -> None:
    items = two_nodes()
    items[3]["spec"]["devices"][0]["taints"] = TAINT
    items[4]["spec"]["pool"]["resourceSliceCount"] = 2
    view = cluster(*items, *used("a", ["gpu-0", "gpu-1"], "n1"))
    first, second = pool_statuses(view)
    assert first == PoolStatus(DRIVER, "n1", 1, "n1", 1, 4, 2, 1, 1)  # gpu-0 is held and tainted: it counts as both
    assert second.validation_error == f"pool {DRIVER}/n2 is incomplete: observed 1/2 slices at generation 1"
    assert second.total_devices is None
    assert by_importance((first, second))[0] is second


def test_only_the_newest_generation_of_a_pool_counts_and_rules_taint_too() -> None:
    old = pool(gpus(8), "n1", name="old", generation=0)
    view = cluster(*two_nodes(), old, taint_rule("bad", "broken", pool="n1"), gates={"DRADeviceTaintRules": True})
    assert [(entry.total_devices, entry.unavailable_devices) for entry in pool_statuses(view)] == [(4, 4), (4, 0)]


def plugin(count: str, *more: Item, resource: str = "example.com/gpu", **spec: Any) -> ClusterView:
    return cluster(node("n1", allocatable={resource: count}), device_class("gpu", **spec), pool(gpus(4), "n1"), *more)


def test_devices_that_a_plugin_gives_away_while_dra_counts_them_free_are_told() -> None:
    runs = pod("runs", on="n1", requests={"example.com/gpu": "2"})
    (found,) = double_uses(plugin("4", runs))
    assert (found.used, found.held, found.devices, found.pods) == (2, 0, 4, ("default/runs",))


def test_devices_of_claims_that_a_plugin_still_offers_are_told() -> None:
    (found,) = double_uses(plugin("4", *used("a", ["gpu-0", "gpu-1"], "n1")))
    assert (found.used, found.held) == (0, 2)


def test_what_may_be_other_hardware_is_not_said() -> None:
    runs = [pod("runs", on="n1", requests={"example.com/gpu": "2", "other.org/gpu": "1"})]
    assert double_uses(plugin("3", *runs)) == ()  # another number of devices
    assert double_uses(plugin("4", pod("r", on="n1", requests={"other.org/gpu": "1"}), resource="other.org/gpu")) == ()
    (named,) = double_uses(plugin("3", *runs, extendedResourceName="example.com/gpu"))  # the class says it
    assert named.used == 2


def test_room_counts_devices_and_everything_else_a_pod_asks() -> None:
    gate = {"schedulingGates": [{"name": "example.com/gate"}]}
    items = [*two_nodes(), *used("a", ["gpu-0"], "n1"), claim("c", request("r", 2))]

    def room(**more: Any) -> int | None:
        view = cluster(*items, pod("p", ("c",), **gate, **more))
        found = view.get(Pod, "p", "default")
        assert found is not None
        return headroom(view, found)

    assert room() == 3  # one on n1, two on n2
    assert room(requests={"cpu": "5"}) == 2
    assert room(requests={"cpu": "9"}) == 0


def test_a_selector_that_no_device_meets_leaves_a_class_uncounted() -> None:
    found = count(cluster(node("n1"), device_class("gpu", 'device.driver == "nobody"'), pool([gpu("g")], "n1")))
    assert (found.total, found.node) == (0, 0)
