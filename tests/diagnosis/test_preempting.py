"""What an answer says of preemption: whom the scheduler evicts, whom it waits for, and whom it leaves alone."""

from __future__ import annotations

from typing import Any

import pytest

from k8s_topo_mcp.tools.asking import ask
from k8s_topo_mcp.tools.catalogue import find

from .clusters import Item, answered, asking, claim, cluster, code, device_class, explained, gpus, held, node, pod, pool, request

N1 = node("n1")
LEAVING = {"conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]}


def running(name: str, cpu: str = "6", priority: int = 0, on: str = "n1", **more: Any) -> Item:
    status = {"phase": "Running", "startTime": "2026-11-01T00:00:00Z", **more.pop("status", {})}
    return pod(name, on=on, requests={"cpu": cpu}, priority=priority, status=status, **more)


def waiting(cpu: str = "4", priority: int = 100, **more: Any) -> Item:
    return pod("p", requests={"cpu": cpu}, priority=priority, **more)


def line(*items: Item, minor: int = 37, gates: dict[str, bool] | None = None) -> str:
    """The line of preemption, or "" if there is none."""
    rows = [row for row in answered(cluster(*items, minor=minor, gates=gates)).splitlines() if row.startswith("preemption")]
    return rows[0].removeprefix("preemption").strip() if rows else ""


@pytest.mark.parametrize("minor", [34, 37])
def test_the_pods_that_make_room_are_named_with_their_node(minor: int) -> None:
    assert line(N1, running("a"), waiting(), minor=minor) == (
        "the scheduler evicts 1 pod of lower priority on n1: default/a; it waits for it to end"
    )


def test_of_several_victims_the_most_important_are_named_and_all_are_counted() -> None:
    victims = (running(name, "2", place) for place, name in enumerate("abcd"))
    assert line(N1, *victims, waiting("8")) == (
        "the scheduler evicts 4 pods of lower priority on n1: default/d, default/c and 2 more; it waits for them to end"
    )


def test_where_several_nodes_cost_as_much_no_victim_is_named() -> None:
    items = (N1, node("n2"), running("a"), running("b", on="n2"), waiting())
    assert line(*items) == "the scheduler evicts 1 pod of lower priority on one of n1, n2; it waits for it to end"


def test_of_many_equal_nodes_a_few_are_named() -> None:
    names = [f"n{place}" for place in range(1, 6)]
    items = (*map(node, names), *(running(f"on-{name}", on=name) for name in names), waiting())
    assert line(*items) == "the scheduler evicts 1 pod of lower priority on one of n1, n2, n3 and 2 more; it waits for it to end"


def test_the_structured_part_says_the_same() -> None:
    found = ask(find("explain_pending"), cluster(N1, running("a"), waiting()), {"pod": "default/p"}).structured()
    assert found["preemption"] == {"outcome": "evicts", "nodes": ["n1"], "pods": ["default/a"], "count": 1, "priority": 100}


def leaving(*others: Item) -> tuple[Item, ...]:
    """Pod a has been evicted from n1 for pod p, and ends."""
    victim = running("a", metadata={"deletionTimestamp": "2026-11-29T11:59:00Z", "finalizers": ["x/y"]}, status=LEAVING)
    return (N1, victim, *others, waiting(status={"phase": "Pending", "nominatedNodeName": "n1"}))


def test_a_pod_that_only_waits_for_its_victims_has_them_as_its_blocker() -> None:
    assert code(explained(cluster(*leaving()))) == "VICTIMS_ENDING"
    assert line(*leaving()) == ""


def test_victims_that_end_are_told_beside_what_blocks_when_they_are_gone() -> None:
    items = leaving(running("b", "5", priority=100))
    assert code(explained(cluster(*items))) == "INSUFFICIENT_RESOURCE"
    assert line(*items) == "the scheduler has evicted 1 pod of lower priority on n1: default/a; it waits for it to end"


@pytest.mark.parametrize(
    "items",
    [
        (N1, running("a", priority=100), waiting()),
        (N1, running("a"), waiting(preemptionPolicy="Never")),
        (N1, running("a"), waiting("9")),
        (node("n1", unschedulable=True), running("a"), waiting()),
        (N1, running("a", "2"), waiting()),
        (N1, running("a"), waiting(schedulerName="other")),
        (N1, running("a"), waiting(schedulingGates=[{"name": "g"}])),
    ],
)
def test_nothing_is_said_where_the_scheduler_evicts_nobody(items: tuple[Item, ...]) -> None:
    assert line(*items) == ""


def using(priority: int, **more: Any) -> tuple[Item, ...]:
    """Pod a holds the only GPU, pod p wants one."""
    other = pod("a", ("h",), on="n1", priority=priority)
    return (N1, device_class(), pool(gpus(1)), held("h", ["gpu-0"], pod="a"), other, *asking(request(), priority=100, **more))


def test_holders_of_lower_priority_keep_their_devices() -> None:
    said = "priority 100 evicts none of the holders (default/a: lower): up to 1.37 preemption never frees devices"
    assert line(*using(0)) == said
    assert line(*using(0), minor=34) == said


def test_of_holders_that_are_as_important_nothing_is_said() -> None:
    assert line(*using(100)) == ""
    assert line(*using(0, preemptionPolicy="Never")) == ""


def test_a_node_with_free_devices_is_cleared_though_others_hold_theirs() -> None:
    busy = running("b", "8", on="n2")
    wanted = (claim("c", request()), pod("p", ("c",), requests={"cpu": "4"}, priority=100))
    first = (N1, device_class(), pool(gpus(1)), held("h", ["gpu-0"], pod="a"), pod("a", ("h",), on="n1", priority=0))
    items = (*first, node("n2"), pool(gpus(1), "n2"), busy, *wanted)
    assert line(*items) == "the scheduler evicts 1 pod of lower priority on n2: default/b; it waits for it to end"


def test_where_not_every_trial_is_modelled_neither_node_nor_number_is_stated() -> None:
    member = running("a", schedulingGroup={"podGroupName": "g"})
    items = (N1, member, node("n2"), running("b", on="n2"), waiting())
    assert line(*items, gates={"GenericWorkload": True}) == (
        "the scheduler evicts pods of lower priority on a node such as n2; it waits for them to end"
    )
