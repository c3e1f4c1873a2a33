"""A group and an autoscaler that judges its pods one by one."""

from __future__ import annotations

from k8s_topo_mcp.objects import Pod
from k8s_topo_mcp.scaleup.gang_gap import GangGap, gang_gap
from k8s_topo_mcp.scheduling.gang_scheduling import Gang, gang_of

from ..diagnosis.clusters import Item, cluster, device_class, gpus, node, request
from ..diagnosis.gangs import ON, member, members, nodes, pod_group
from .templates import template


def gap(*items: Item, devices: int = 4, limit: int | None = None) -> GangGap:
    view = cluster(device_class(), *items, gates=ON)
    gang = gang_of(view, next(found for found in view.all(Pod) if found.name == "m-0"))
    assert isinstance(gang, Gang)
    return gang_gap(view, gang, template(devices), limit)


def test_members_that_look_placeable_get_no_nodes() -> None:
    found = gap(*nodes(1, gpus(4)), pod_group(4), *members(4, request(count=2)))
    assert (found.placeable, found.added, found.starts, found.waiting) == (2, 1, True, 0)
    assert (found.atomic.least, found.atomic.scheduler) == (1, 1)
    assert not found.avoided


def test_a_limit_leaves_the_group_waiting_and_its_nodes_idle() -> None:
    found = gap(pod_group(4), *members(4, request(count=4)), limit=2)
    assert (found.placeable, found.added, found.starts) == (0, 2, False)
    assert (found.bound, found.waiting) == (0, 4)
    assert found.idle.empty == 2
    assert found.idle.drivers["gpu.example.com"].held == 0
    assert found.avoided


def test_no_node_helps_members_that_none_takes() -> None:
    found = gap(node("n1"), pod_group(2), *members(2, request(count=5)))
    assert (found.added, found.starts, found.atomic.least) == (0, False, None)
    assert not found.avoided


def test_a_group_that_fits_now_needs_nothing() -> None:
    found = gap(*nodes(2, gpus(4)), pod_group(2), *members(2, request(count=4)))
    assert (found.placeable, found.added, found.starts) == (2, 0, True)


def test_a_node_that_helps_nobody_does_not_end_the_growth() -> None:
    """Two take half a node each: of two nodes one each, so that the one that needs a whole one gets none before the third is there."""
    halves = [*one(0, "4"), *one(1, "4")]
    found = gap(pod_group(3), *halves, *one(2, "8"), devices=0)
    assert (found.placeable, found.added, found.starts, found.idle.empty) == (0, 3, True, 0)
    short = gap(pod_group(3), *halves, *one(2, "8"), devices=0, limit=2)
    assert (short.added, short.starts) == (1, False)
    none = gap(pod_group(3), *halves, *one(2, "99"), devices=0)
    assert (none.added, none.starts) == (1, False)


def one(number: int, cpu: str) -> list[Item]:
    return member(number, requests={"cpu": cpu})


def test_what_is_not_known_of_a_new_node_is_not_called_avoided() -> None:
    view = cluster(device_class(), pod_group(2), *members(2, request(count=4)), gates=ON)
    gang = gang_of(view, next(found for found in view.all(Pod) if found.name == "m-0"))
    assert isinstance(gang, Gang)
    found = gang_gap(view, gang, template(devices_known=False))
    assert found.unknown
    assert not found.avoided
