"""What is told although a label of new nodes isn't known holds whatever its value is."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

from k8s_topo_mcp.objects import Pod
from k8s_topo_mcp.scaleup import doubts, untouched
from k8s_topo_mcp.scaleup.queue import Entry
from k8s_topo_mcp.scaleup.replay import MOST_PLAYED, Plays, play_all
from k8s_topo_mcp.scaleup.simulation import CHANCE, Simulation, simulate
from k8s_topo_mcp.scaleup.template import NodeTemplate
from k8s_topo_mcp.scheduling.node_info import effective_requests
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


NOT_MODELLED = pod_group(1, parentCompositePodGroupName="above")
"""A group below another: it isn't known whether its pods come up."""


@pytest.mark.parametrize(
    ("first", "new", "behind"),
    [
        (member(0, requests={"cpu": "6"}, nodeSelector={RACK: "x"}), dark(), "unknown"),
        (member(0, request(), requests={"cpu": "6"}), template(devices_known=False), "unknown"),
        (member(0, requests={"cpu": "6"}, nodeSelector={RACK: "x"}), known("y"), "starts"),
        (member(0, requests={"cpu": "2"}, nodeSelector={RACK: "x"}), dark(), "starts"),
    ],
    ids=["a label", "devices", "refused for certain", "room for both"],
)
def test_a_pod_whose_group_is_not_known_may_go_to_a_new_node_of_which_that_is_not_known(
    first: list[Item], new: NodeTemplate, behind: str
) -> None:
    gates = {**ON, "CompositePodGroup": True}
    view = cluster(device_class(), NOT_MODELLED, *first, plain("b", "6", priority=-1), gates=gates)
    found = {outcome.pod.name: outcome.verdict for outcome in simulate(view, pods(view), [(new, 1)]).outcomes}
    assert found == {"m-0": "unknown", "b": behind}


def test_all_that_is_played_of_a_small_queue_is_bounded_by_the_pods_that_are_placed(monkeypatch: pytest.MonkeyPatch) -> None:
    placed: list[int] = []

    def counted(view: ClusterView, entries: Sequence[Entry], *more: Any) -> Plays:
        found = play_all(view, entries, *more)
        placed.append(more[-1] * sum(len(entry.pods) for entry in entries))
        return found

    monkeypatch.setattr(doubts, "play_all", counted)
    five = [asks(f"tiny-{label}", "1m", label, 60) for label in "abcde"]
    view = cluster(*five, *(plain(f"last-{number}", "1m") for number in range(3)))
    unknown = frozenset(f"example.com/{label}" for label in "abcde")
    simulate(view, pods(view), [(template(labels=dict.fromkeys(unknown, ""), unpredictable=unknown), 1)])
    assert 0 < sum(placed) <= MOST_PLAYED


def test_room_for_pods_that_are_alike_is_asked_once_for_each_node(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(pod: Pod) -> Any:
        read.append(pod.name)
        return effective_requests(pod)

    monkeypatch.setattr(untouched, "effective_requests", counted)
    alike = [plain(f"last-{number}", "10m") for number in range(20)]
    found = told(*THREE, *MANY, *alike, labels="abcdefghi", allocatable={"cpu": "99", "pods": "99"})
    assert found["last-19"] == "starts"
    assert 0 < len(read) <= len(THREE) + len(MANY) + 1


def test_of_pods_that_ask_the_same_the_first_one_goes() -> None:
    """Whatever the label is, the second of two that ask for it has no room on a node that the first fills."""
    found = told(asks("one", "8", "a", 9), asks("two", "8", "a", 8), plain("other", "8"), labels="a")
    assert found == {"one": "unknown", "two": "no room", "other": "unknown"}


def test_it_is_told_that_not_every_way_was_played_in_which_a_node_takes_a_pod_of_which_that_is_not_known() -> None:
    """The pods find two nodes equally good again and again: with the new node refusing u every way is played, with it taking u not."""
    there = [node(name, labels={"own": name}, allocatable={"cpu": "64"}) for name in ("n1", "n2")]
    known_ones = [plain(f"p{number}", "1", priority=-number) for number in range(6)]
    view = cluster(*there, asks("u", "1", "a", 90), *known_ones, plain("q", "1", nodeSelector={"own": "n1"}, priority=-9))
    new = template(labels={"example.com/a": ""}, unpredictable=frozenset({"example.com/a"}))
    found = simulate(view, pods(view), [(new, 1)])
    assert found.after.all_ways
    assert {outcome.pod.name for outcome in found.outcomes if outcome.verdict in STARTS} == {"p0", "p1", "p2", "p3", "p4", "p5", "q"}
    (said,) = (text for text in found.assumptions if text.startswith(CHANCE))
    assert "isn't known have a node: 4, not all" in said
    few = cluster(*there, asks("u", "1", "a", 90), *known_ones[:1])
    assert not any(text.startswith(CHANCE) for text in simulate(few, pods(few), [(new, 1)]).assumptions)
