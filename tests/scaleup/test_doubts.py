"""What is told although a label of new nodes isn't known holds whatever its value is."""

from __future__ import annotations

import random
from typing import Any

import pytest

from k8s_topo_mcp.scaleup.simulation import Simulation, simulate
from k8s_topo_mcp.scaleup.template import NodeTemplate
from k8s_topo_mcp.view import ClusterView

from ..diagnosis.clusters import Item, claim, cluster, device_class, node, pod, request
from ..diagnosis.gangs import ON, member, pod_group
from .templates import plain, pods, template

RACK = "example.com/rack"
STARTS = ("starts", "starts now")


def of_a_seed(draw: random.Random) -> ClusterView:
    """Loose pods of several priorities and mostly a group; some ask about the rack."""

    def rack() -> Item:
        return {"nodeSelector": {RACK: "x"}} if draw.random() < 0.4 else {}

    items: list[Item] = [node("n1", allocatable={"cpu": str(draw.choice([2, 4, 8]))})] if draw.random() < 0.4 else []
    loose = range(draw.randint(1, 6))
    items += [plain(f"p{number}", str(draw.choice([2, 4, 6, 8])), priority=draw.randint(0, 3), **rack()) for number in loose]
    if draw.random() < 0.6:
        count = draw.randint(2, 4)
        items.append(pod_group(draw.randint(1, count)))
        for number in range(count):
            items += member(number, requests={"cpu": str(draw.choice([2, 4, 8, 99]))}, **rack())
    return cluster(*items, gates=ON)


def dark() -> NodeTemplate:
    return template(name="dark", labels={RACK: ""}, unpredictable=frozenset({RACK}))


def known(value: str) -> NodeTemplate:
    return template(name=f"rack-{value}", labels={RACK: value})


@pytest.mark.parametrize("seed", range(40))
def test_what_is_known_holds_for_each_value(seed: int) -> None:
    draw = random.Random(seed)
    view = of_a_seed(draw)
    count = draw.randint(1, 2)
    more = [(known("x"), 1)] if draw.random() < 0.4 else []

    def played(*added: tuple[NodeTemplate, int]) -> Simulation:
        return simulate(view, pods(view), [*added, *more])

    told = played((dark(), count))
    worlds = [played((known(value), count)) for value in "xy"]
    if count == 2:
        worlds.append(played((known("x"), 1), (known("y"), 1)))
    for world in worlds:
        if told.after.tie or world.after.tie:  # chance decides, too
            continue
        for said, real in zip(told.outcomes, world.outcomes, strict=True):
            if said.verdict != "unknown":
                assert (said.verdict in STARTS) == (real.verdict in STARTS)


def asks(name: str, cpu: str, label: str, priority: int) -> Item:
    return plain(name, cpu, priority=priority, nodeSelector={f"example.com/{label}": "x"})


THREE = (asks("u", "3", "a", 90), asks("v", "6", "b", 80), asks("w", "1", "c", 70))
"""On 8 cpu two more have room if all of them come, as v doesn't fit behind u then, and beside each alone; not beside v and w."""


def told(*items: Item, labels: str, **more: Any) -> dict[str, str]:
    view = cluster(*items)
    unknown = [f"example.com/{label}" for label in labels]
    found = simulate(view, pods(view), [(template(labels=dict.fromkeys(unknown, ""), unpredictable=frozenset(unknown), **more), 1)])
    return {outcome.pod.name: outcome.verdict for outcome in found.outcomes}


def test_what_two_of_several_labels_decide_together_is_not_known() -> None:
    assert told(*THREE, plain("last", "2"), labels="abc")["last"] == "unknown"
    assert told(*THREE, plain("last", "1"), labels="abc")["last"] == "starts"


MANY = [asks(f"tiny-{label}", "1m", label, 60) for label in "defghi"]


def test_what_is_not_played_is_not_known() -> None:
    found = told(
        *THREE, *MANY, plain("last", "2"), plain("first", "4", priority=100), labels="abcdefghi", allocatable={"cpu": "12", "pods": "99"}
    )
    assert (found["first"], found["last"]) == ("starts", "unknown")


def test_what_meets_none_of_those_that_are_not_known_is_known_however_many_they_are() -> None:
    there = [node("n1", labels={"own": "1"}, allocatable={"cpu": "4", "pods": "9"})]
    elsewhere = [plain(f"there-{number}", "3", nodeSelector={"own": "1"}, priority=-number) for number in range(2)]
    huge = plain("huge", "99")
    found = told(*there, *THREE, *MANY, *elsewhere, huge, plain("last", "5"), labels="abcdefghi")
    assert (found["there-0"], found["there-1"], found["huge"]) == ("starts now", "refused", "refused")
    assert found["last"] == "unknown"


def test_where_there_is_room_for_all_it_makes_no_difference_what_is_not_known() -> None:
    def last(cpu: str) -> str:
        return told(*THREE, *MANY, plain("last", "2"), labels="abcdefghi", allocatable={"cpu": cpu, "pods": "99"})["last"]

    assert (last("13"), last("12")) == ("starts", "unknown")


def test_devices_are_no_room_for_all_where_two_ask_for_them() -> None:
    gpu = [claim("c-gpu", request()), pod("gpu", ("c-gpu",)), claim("c-last", request()), pod("last", ("c-last",), priority=-1)]
    found = told(device_class(), *THREE, *MANY, *gpu, labels="abcdefghi", devices=1, allocatable={"cpu": "13", "pods": "99"})
    assert {found["gpu"], found["last"]} == {"unknown"}


def test_of_pods_that_ask_the_same_the_first_one_goes() -> None:
    """Whatever the label is, the second of two that ask for it has no room on a node that the first fills."""
    found = told(asks("one", "8", "a", 9), asks("two", "8", "a", 8), plain("other", "8"), labels="a")
    assert found == {"one": "unknown", "two": "no room", "other": "unknown"}
