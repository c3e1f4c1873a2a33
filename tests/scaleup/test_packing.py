"""The search against every assignment there is."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from k8s_topo_mcp.scaleup.alike import Alike
from k8s_topo_mcp.scaleup.node_counts import Counting, first_looks, node_counts
from k8s_topo_mcp.scaleup.play import Player
from k8s_topo_mcp.scaleup.queue import queue_of
from k8s_topo_mcp.scaleup.replay import play_all
from k8s_topo_mcp.scheduling.kinds_of_pods import Kinds

from ..diagnosis.clusters import claim, cluster, device_class, gpus, node, pod, pool, request
from ..diagnosis.gangs import ON, pod_group
from .templates import plain, pods, template


@given(st.lists(st.integers(1, 8), min_size=1, max_size=5), st.lists(st.integers(1, 8), max_size=2))
@settings(max_examples=40, deadline=None)
def test_the_fewest_nodes_are_those_of_the_best_assignment(asked: list[int], there: list[int]) -> None:
    old = [node(f"n{number}", allocatable={"cpu": str(cpu)}) for number, cpu in enumerate(there)]
    view = cluster(*old, *(plain(f"p-{number}", str(cpu)) for number, cpu in enumerate(asked)))
    found = node_counts(view, pods(view), template())

    def possible(new: int) -> bool:
        rooms = [*there, *[8] * new]
        for places in product(range(len(rooms)), repeat=len(asked)):
            sums = [0] * len(rooms)
            for place, cpu in zip(places, asked, strict=True):
                sums[place] += cpu
            if all(total <= room for total, room in zip(sums, rooms, strict=True)):
                return True
        return False

    assert found.exact
    assert found.least == next(new for new in range(len(asked) + 1) if possible(new))
    assert found.scheduler is None or found.scheduler >= (found.least or 0)


@given(st.lists(st.integers(1, 8), min_size=1, max_size=6), st.integers(0, 4))
@settings(max_examples=40, deadline=None)
def test_no_way_of_the_scheduler_gives_a_node_more_than_it_has(asked: list[int], count: int) -> None:
    view = cluster(node("n0", allocatable={"cpu": "5"}), *(plain(f"p-{number}", str(cpu)) for number, cpu in enumerate(asked)))
    counting = Counting(view, pods(view), template(), 6)
    play = counting.play(count).plays.worst
    used: dict[str, int] = {}
    for placed, on in play.placed:
        used[on] = used.get(on, 0) + int(placed.containers[0].requests["cpu"].value)
    assert all(total <= (5 if on == "n0" else 8) for on, total in used.items())
    assert len(play.placed) + len(play.left) == len(asked)


@given(st.lists(st.tuples(st.integers(1, 8), st.integers(0, 3)), min_size=1, max_size=6), st.integers(0, 4))
@settings(max_examples=40, deadline=None)
def test_with_fewer_nodes_than_the_least_the_scheduler_never_places_all(asked: list[tuple[int, int]], free: int) -> None:
    """Pods with cpu and some with GPUs, on a node that has some free and on new ones of four."""
    items = [device_class(), node("n0", allocatable={"cpu": "5"}), *([pool(gpus(free), "n0")] if free else [])]
    for number, (cpu, count) in enumerate(asked):
        claims = (f"c-{number}",) if count else ()
        items += [claim(f"c-{number}", request(count=count))] if count else []
        items.append(pod(f"p-{number}", claims, requests={"cpu": str(cpu)}))
    view = cluster(*items)
    kind = template(4)
    found = node_counts(view, pods(view), kind)
    counting = Counting(view, pods(view), kind)
    assert found.least is not None
    for count in range(min(found.least, counting.most + 1)):
        assert not counting.play(count).plays.first.complete


@given(st.integers(1, 7), st.integers(1, 4), st.lists(st.integers(0, 5), min_size=1, max_size=3), st.booleans())
@settings(max_examples=30, deadline=None)
def test_ways_that_count_as_one_end_alike(many: int, count: int, free: list[int], grouped: bool) -> None:
    """Pods that ask the same, on nodes that differ in what is free: every way through the ties places as many."""
    items = [device_class(), *([pod_group(many)] if grouped else [])]
    for number, own in enumerate(free):
        items += [node(f"n{number}", labels={"own": str(number)}), *([pool(gpus(own), f"n{number}")] if own else [])]
    for number in range(many):
        group = {"schedulingGroup": {"podGroupName": "g"}} if grouped else {}
        items += [claim(f"c-{number}", request(count=count)), pod(f"p-{number}", (f"c-{number}",), **group)]
    view = cluster(*items, gates=ON)
    waiting = pods(view)
    kinds, entries = Kinds.of(view, waiting), queue_of(view, waiting)
    known = first_looks(view, waiting, kinds)
    found = play_all(view, entries, kinds, known, {})
    assert found.first.independent
    assert (found.ways, found.all_ways, found.tie) == (1, True, False)
    alike = Alike(view, waiting, {})
    paths = [()] + [(way,) for turn in found.first.choices[:1] for way in range(1, turn)]
    for path in paths:
        assert len(Player(view, entries, kinds, known, alike, path).run().placed) == len(found.first.placed)
