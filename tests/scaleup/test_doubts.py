"""What is told although a label of new nodes isn't known holds whatever its value is."""

from __future__ import annotations

import random

import pytest

from k8s_topo_mcp.scaleup.simulation import Simulation, simulate
from k8s_topo_mcp.scaleup.template import NodeTemplate
from k8s_topo_mcp.view import ClusterView

from ..diagnosis.clusters import Item, cluster, node
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
