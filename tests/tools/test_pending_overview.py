"""The overview of all that waits, as a caller meets it: its lines, its pages, its size."""

from __future__ import annotations

import json
from typing import Any

import pytest

from k8s_topo_mcp.rendering import tokens
from k8s_topo_mcp.rendering.budget import ANSWER
from k8s_topo_mcp.sources.snapshot import load_text
from k8s_topo_mcp.tools.asking import ask
from k8s_topo_mcp.tools.catalogue import find
from k8s_topo_mcp.tools.models import Answer
from k8s_topo_mcp.view import ClusterView
from tests.diagnosis.clusters import Item, claim, cluster, device_class, gpus, held, node, pod, pool, request

HERE = (node("n1"), node("n2"), device_class(), pool(gpus(4), "n1"), pool(gpus(4), "n2"))


LABELS = ("truly short", "room", "free", "suspect", "two owners", "pools")


def asked(view: ClusterView, **arguments: Any) -> Answer:
    return ask(find("explain_pending"), view, arguments)


def size(answer: Answer) -> int:
    return tokens(json.dumps(answer.structured(), ensure_ascii=False, separators=(",", ":")))


def rows(view: ClusterView, **arguments: Any) -> dict[str, str]:
    """label -> text, of the rows that have one."""
    lines = asked(view, **arguments).report.split("\n")
    return {label: line[11:].strip() for line in lines for label in LABELS if line[:11].strip() == label}


def wants(name: str, count: int, *selectors: str, **more: Any) -> list[Item]:
    return [claim(f"c-{name}", request("r", count, *selectors)), pod(name, (f"c-{name}",), **more)]


def held_by(name: str, on: str, *, lives: bool = True) -> list[Item]:
    own = held(f"held-{name}", [f"gpu-{number}" for number in range(4)], on, name)
    return [own, pod(name, (f"held-{name}",), on=on)] if lives else [own]


def test_nothing_waits() -> None:
    report = asked(cluster(*HERE, pod("p", on="n1", status={"phase": "Pending"}))).report
    assert report.startswith("No pod waits to be scheduled. (1 more pod bound and still starting.)")


def test_what_is_short_is_kept_apart_from_what_does_not_fit() -> None:
    view = cluster(*HERE, *held_by("a", "n1"), *held_by("b", "n2"), *wants("x", 4), *wants("y", 5))
    assert asked(view).report.split("\n")[0] == "2 pods wait to be scheduled, for 2 causes."
    assert rows(view)["truly short"] == "#1 only. #2 (1 pod): more nodes of the present shapes start none of them (simulated)"


def test_what_is_free_is_told_with_the_largest_claim() -> None:
    view = cluster(*HERE, *held_by("a", "n1"), *wants("y", 5))
    assert rows(view)["free"] == (
        "8 gpu: 4 held, 4 free; largest claim that still fits: 4 a node (NUMA node, pcieRoot, NVLink domain: not published)"
    )


def test_claims_without_pods_are_told_with_what_their_release_starts() -> None:
    view = cluster(*HERE, *held_by("a", "n1", lives=False), *held_by("b", "n2"), *wants("x", 4), *wants("x2", 4))
    assert rows(view)["suspect"] == (
        "1 claim (4 devices) allocated but its pods are gone: default/held-a; releasing it starts 1 pod of #1 (checked)"
    )


def test_room_is_told_of_pods_that_wait_for_something_else() -> None:
    view = cluster(*HERE, *wants("x", 2, schedulingGates=[{"name": "g"}]))
    assert rows(view)["room"] == "#1: 4 such pods fit side by side now"


def test_hardware_with_two_owners_is_told() -> None:
    items = (
        node("n1", allocatable={"example.com/gpu": "4"}),
        *HERE[1:],
        pod("runs", on="n1", requests={"example.com/gpu": "2"}),
        *wants("y", 5),
    )
    assert rows(cluster(*items))["two owners"].startswith("example.com/gpu on n1: pods use 2 through the device plugin")


def test_pools_carry_the_names_of_the_api() -> None:
    incomplete = pool(gpus(4), "n2", count=2)
    answer = asked(cluster(*HERE[:4], incomplete, *wants("y", 5))).structured()["overview"]["pools"]
    assert {name: answer[name] for name in ("poolCount", "invalid", "totalDevices", "availableDevices")} == {
        "poolCount": 2,
        "invalid": 1,
        "totalDevices": 4,
        "availableDevices": 4,
    }
    assert answer["pools"][0]["validationError"].endswith("is incomplete: observed 1/2 slices at generation 1")


def varied(causes: int) -> ClusterView:
    """Many causes with long names, and every row that an overview can have."""
    names = [f"node-with-a-rather-long-name-{number:04}" for number in range(30)]
    nodes = [item for name in names for item in (node(name, allocatable={"example.com/gpu": "4"}), pool(gpus(4), name))]
    busy = [item for name in names[:20] for item in held_by(f"holder-with-a-long-name-{name}", name, lives=name[-1] != "3")]
    users = [pod(f"user-{name}", on=name, requests={"example.com/gpu": "1"}) for name in names[:3]]
    waiting = [
        item
        for number in range(causes)
        for item in wants(
            f"a-pod-with-quite-a-long-name-{number:04}", 4, f"device.attributes['gpu.example.com'].type == 'model-{number:03}-of-something'"
        )
    ]
    more = [*wants("gated", 4, schedulingGates=[{"name": "g"}]), *wants("five", 5), *wants("fits", 1)]
    broken = pool(gpus(4), "elsewhere", name="broken", count=3)
    return cluster(device_class(), *nodes, broken, *busy, *users, *waiting, *more)


@pytest.mark.parametrize("detail", ["short", "full"])
@pytest.mark.parametrize("causes", [1, 4, 60])
def test_the_answer_stays_small_whatever_there_is_to_say(causes: int, detail: str) -> None:
    answer = asked(varied(causes), detail=detail)
    assert size(answer) <= ANSWER
    most = "; 3 causes hold 3." if causes == 1 else "."
    assert answer.report.startswith(f"{causes + 3} pods wait to be scheduled, for {causes + 3} causes{most}\n")


def test_pages_together_show_every_group_once_and_the_first_alone_tells_of_the_cluster() -> None:
    view = varied(30)
    cursor: str | None = None
    seen: list[int] = []
    for number in range(40):
        answer = asked(view, **({"cursor": cursor} if cursor else {})).structured()
        seen += [group["number"] for group in answer["overview"]["groups"]]
        assert ("devices" in answer["overview"]) == (number == 0)
        cursor = answer.get("cursor")
        if cursor is None:
            break
    assert seen == list(range(1, 34))


def test_where_no_group_asks_for_nodes_nothing_is_said_of_more_nodes() -> None:
    view = cluster(node("n1"), device_class(), pool(gpus(1)), *wants("one", 1))
    answer = asked(view).report
    assert "FITS_NOW" in answer
    assert "truly short" not in answer


def test_nothing_is_counted_of_what_a_dump_leaves_out() -> None:
    items = [*wants("gated", 2, schedulingGates=[{"name": "g"}]), *wants("p", 2), device_class(), *held_by("h", "n1")]

    def overview(*more: Item) -> Answer:
        return asked(load_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*items, *more]})))

    without_slices, without_nodes = overview(node("n1")), overview(pool(gpus(4), "n1"))
    for answer in (without_slices, without_nodes):
        report = answer.report
        assert "waits to be scheduled" in report or "wait to be scheduled" in report
        assert "such pods fit" not in report, "how many isn't known"
        assert "more nodes of the present shapes" not in report
    assert "\nfree " not in without_slices.report
    assert "ResourceSlice (not in the snapshot)" in without_slices.report
