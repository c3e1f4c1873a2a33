"""One more node of a kind that is here: which kinds are tried, and what of a node isn't copied."""

from __future__ import annotations

import pytest

from k8s_topo_mcp.diagnosis.growth import more_nodes_start
from k8s_topo_mcp.diagnosis.triage import waiting_groups
from k8s_topo_mcp.objects import Pod
from k8s_topo_mcp.scheduling.placement import place
from k8s_topo_mcp.view import ClusterView

from .clusters import Item, answered, asking, cluster, device_class, explained, gpus, held, helping, node, pod, pool, request, vain

XID = {"key": "gpu.example.com/xid", "value": "79", "effect": "NoSchedule"}
THIS = "more nodes of this shape"
NEW = "another-node-like-"
PRODUCTS = "abcdefgh"
OWN = 'device.attributes["gpu.example.com"].type == '


def tainted(devices: list[Item], *numbers: int) -> list[Item]:
    """The devices, some of them with the taint that a driver sets on a broken one."""
    return [{**device, "taints": [XID]} if place in numbers else device for place, device in enumerate(devices)]


def starts(view: ClusterView, name: str = "p") -> tuple[str, bool | None]:
    """What the overview says of a pod: its verdict, and whether more nodes start it."""
    found = view.get(Pod, name, "default")
    assert found is not None
    judged = waiting_groups(view, [found])[0].judged
    return judged.word, judged.starts


def grows(view: ClusterView) -> bool | None:
    """The same of a pod that waits for a component, of which the overview says nothing."""
    found = view.get(Pod, "p", "default")
    assert found is not None
    return more_nodes_start(view, found, place(view, found))


@pytest.mark.parametrize("wanted", PRODUCTS)
def test_the_kind_whose_devices_match_is_tried_whatever_its_place(wanted: str) -> None:
    nodes = [item for kind in PRODUCTS for item in (node(kind), pool(gpus(2, type=kind), kind))]
    full = (held("h", ["gpu-0"], wanted, "old"), pod("old", ("h",), on=wanted))
    view = cluster(device_class(), *nodes, *full, *asking(request("r", 2, f"{OWN}'{wanted}'")))
    report = explained(view)
    assert helping(report)[f"more nodes like {wanted}"] == (f"{NEW}{wanted}",)
    assert starts(view) == ("short", True)
    assert "or 3 other kinds" in next(text for text in vain(report) if text.startswith("more nodes like"))


def test_a_node_that_only_what_runs_there_keeps_closed_is_a_kind_too() -> None:
    busy = pod("busy", ("h",), on="n2", requests={"cpu": "8"})
    here = (node("n1"), node("n2"), pool(gpus(1), "n1"), pool(gpus(4), "n2"), held("h", ["gpu-0"], "n2", "busy"), busy)
    view = cluster(device_class(), *here, *asking(request("r", 4), requests={"cpu": "1"}))
    assert helping(explained(view))["more nodes like n2"] == (f"{NEW}n2",)
    assert starts(view)[1] is True


def test_more_nodes_are_shown_even_behind_other_fixes() -> None:
    nodes = [item for on in ("n1", "n2", "n3") for item in (node(on), pool(gpus(4), on))]
    holders = [
        item for on in ("n1", "n2", "n3") for item in (held(f"h-{on}", ["gpu-0"], on, f"r-{on}"), pod(f"r-{on}", (f"h-{on}",), on=on))
    ]
    text = answered(cluster(device_class(), *nodes, *holders, *asking(request("r", 4))))
    assert f"{THIS}     a new node like n1" in text
    assert NEW not in text, "the name that an imagined node has isn't the user's"


def test_a_taint_on_one_broken_device_is_not_copied() -> None:
    broken = (node("n1", labels={"team": "x"}), pool(tainted(gpus(4), 1), "n1"))
    claim, waiting = asking(request("r", 4), nodeSelector={"team": "x"})
    alone = cluster(device_class(), *broken, claim, waiting)
    among_others = cluster(device_class(), *broken, node("n2"), pool(gpus(4), "n2"), claim, waiting)
    for view in (alone, among_others):
        assert helping(explained(view))[THIS] == (f"{NEW}n1",)
        assert starts(view) == ("short", True)


def test_a_taint_that_every_node_of_the_shape_has_on_that_device_is_copied() -> None:
    items = [item for on in ("n1", "n2") for item in (node(on), pool(tainted(gpus(4), 1), on))]
    view = cluster(device_class(), *items, *asking(request("r", 4)))
    assert THIS in vain(explained(view))
    assert starts(view) == ("misfit", False)
    reserved = cluster(device_class(), node("n1"), pool(tainted(gpus(2), 0, 1), "n1"), *asking(request("r", 2)))
    assert THIS in vain(explained(reserved)), "there is nothing that it could be told from"


def test_an_incomplete_pool_is_not_copied_but_that_of_a_node_like_it() -> None:
    broken = (node("n1", labels={"team": "x"}), pool(gpus(4), "n1", count=2))
    claim, waiting = asking(request("r", 4), nodeSelector={"team": "x"})
    view = cluster(device_class(), *broken, node("n2"), pool(gpus(4), "n2"), claim, waiting)
    assert helping(explained(view))[THIS] == (f"{NEW}n1",)
    assert grows(view) is True


def test_of_a_kind_without_a_whole_pool_nothing_is_said() -> None:
    view = cluster(device_class(), node("n1"), pool(gpus(4), "n1", count=2), *asking(request("r", 4)))
    report = explained(view)
    assert THIS not in helping(report)
    assert THIS not in vain(report)
    assert grows(view) is None
