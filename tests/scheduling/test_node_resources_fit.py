"""What a pod asks against what is left of a node, release by release."""

from __future__ import annotations

from typing import Any

import pytest

from k8s_topo_mcp.objects import Pod
from k8s_topo_mcp.scheduling.placement import place
from k8s_topo_mcp.scheduling.sentence import predict

from ..diagnosis.clusters import Item, answered, cluster, code, explained, node, pod


def codes(*items: Item, minor: int = 37) -> tuple[str, ...]:
    view = cluster(*items, minor=minor)
    found = view.get(Pod, "p", "default")
    assert found is not None
    return tuple(f"{entry.code} {entry.values.get('resource', '')}".strip() for entry, _ in place(view, found).nodes["n1"].plain)


def asks(*containers: dict[str, str], init: tuple[Item, ...] = (), **spec: Any) -> Item:
    made = [{"name": f"c{place}", "resources": {"requests": requests}} for place, requests in enumerate(containers)]
    return pod("p", containers=made, initContainers=list(init), **spec)


def starts(cpu: str, sidecar: bool = False) -> Item:
    return {"name": f"i{cpu}", "resources": {"requests": {"cpu": cpu}}, **({"restartPolicy": "Always"} if sidecar else {})}


N1 = node("n1")  # 8 cpus, 64Gi, 10 pods


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (asks({"cpu": "4"}, {"cpu": "4"}), ()),
        (asks({"cpu": "4"}, {"cpu": "4001m"}), ("RESOURCE_TOO_LARGE cpu",)),
        (asks({"cpu": "2"}, init=(starts("8"),)), ()),
        (asks({"cpu": "2"}, init=(starts("9"),)), ("RESOURCE_TOO_LARGE cpu",)),
        (asks({"cpu": "6"}, init=(starts("3", sidecar=True),)), ("RESOURCE_TOO_LARGE cpu",)),
        (asks({"cpu": "1"}, init=(starts("3", sidecar=True), starts("6"))), ("RESOURCE_TOO_LARGE cpu",)),
        (asks({"cpu": "1"}, init=(starts("6"), starts("3", sidecar=True))), ()),
        (asks({"cpu": "8"}, overhead={"cpu": "1m"}), ("RESOURCE_TOO_LARGE cpu",)),
        (asks({"cpu": "9"}, resources={"requests": {"cpu": "8"}}), ()),
        (asks({"cpu": "1"}, resources={"requests": {"cpu": "9"}}), ("RESOURCE_TOO_LARGE cpu",)),
        (asks({"example.com/foo": "1"}), ("RESOURCE_TOO_LARGE example.com/foo",)),
        (asks({"memory": "65Gi", "cpu": "9"}), ("RESOURCE_TOO_LARGE cpu", "RESOURCE_TOO_LARGE memory")),
        (asks({"memory": "0", "cpu": "0"}), ()),
    ],
)
def test_how_containers_add_up(wanted: Item, found: tuple[str, ...]) -> None:
    assert codes(N1, wanted) == found


def test_what_runs_is_taken_off_and_what_has_ended_is_not() -> None:
    busy = pod("a", on="n1", requests={"cpu": "5"})
    ended = pod("b", on="n1", requests={"cpu": "5"}, status={"phase": "Succeeded"})
    assert codes(N1, busy, ended, asks({"cpu": "3"})) == ()
    assert codes(N1, busy, ended, asks({"cpu": "4"})) == ("INSUFFICIENT_RESOURCE cpu",)


def resized(spec: str, allocated: str | None, actual: str | None, pending: str = "") -> Item:
    """A pod on n1 whose kubelet has said what it gives it."""
    status: Item = {"name": "main", "image": "", "imageID": "", "ready": True, "restartCount": 0}
    if allocated is not None:
        status["allocatedResources"] = {"cpu": allocated}
    if actual is not None:
        status["resources"] = {"requests": {"cpu": actual}}
    conditions = [{"type": "PodResizePending", "status": "True", "reason": pending}] if pending else []
    return pod("a", on="n1", requests={"cpu": spec}, status={"phase": "Running", "containerStatuses": [status], "conditions": conditions})


@pytest.mark.parametrize(
    ("running", "minor", "taken"),
    [
        (resized("1", "6", "6"), 37, 6),
        (resized("6", "1", "1"), 37, 6),
        (resized("6", "1", "1", "Deferred"), 37, 6),
        (resized("6", "1", "1", "Infeasible"), 37, 1),
        (resized("6", "1", "1", "Infeasible"), 34, 1),
        (resized("1", "6", None), 37, 6),
        (resized("1", "6", None), 36, 1),
        (resized("1", "6", "1"), 36, 6),
    ],
)
def test_a_resize_under_way_takes_the_most_of_what_is_asked_admitted_and_given(running: Item, minor: int, taken: int) -> None:
    assert codes(N1, running, asks({"cpu": str(8 - taken)}), minor=minor) == ()
    assert codes(N1, running, asks({"cpu": f"{8000 - taken * 1000 + 1}m"}), minor=minor) == ("INSUFFICIENT_RESOURCE cpu",)


def test_pod_slots_count_apart_from_amounts() -> None:
    view = cluster(node("n1", allocatable={"pods": "1"}), pod("a", on="n1", requests={"cpu": "8"}), asks({"cpu": "1"}))
    found = view.get(Pod, "p", "default")
    assert found is not None
    assert predict(place(view, found)).histogram == "0/1 nodes are available: 1 Insufficient cpu, 1 Too many pods."


def test_the_answer_says_how_much_is_asked_and_how_much_is_free() -> None:
    view = cluster(N1, pod("a", on="n1", requests={"cpu": "5"}), asks({"cpu": "4"}))
    assert code(explained(view)) == "INSUFFICIENT_RESOURCE"
    assert "no node left has more than 3 free (of 8)" in answered(view)
