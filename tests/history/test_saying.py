"""What objects say of their own past, each with its time."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from k8s_topo_mcp.history.events import from_events
from k8s_topo_mcp.history.saying import from_objects, stated, times
from k8s_topo_mcp.objects import decode
from k8s_topo_mcp.view import ClusterView
from k8s_topo_mcp.view.past import Effect
from tests.history.objects import CREATED, NOON, Item, claim, condition, device, edited, item, made, node, piece, pod, view

SCENES = Path(__file__).parents[1] / "scenes"
DUMPS = (SCENES / "four-h100-nodes" / "objects.json", SCENES / "gang-16.json")
LATER = "2026-11-29T11:50:00Z"
AT = NOON - 600
TAINT = {"key": "xid", "effect": "NoExecute", "timeAdded": LATER}
PLUGIN = {"ownerReferences": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "plugin", "uid": "d", "controller": True}]}
ENDED = {"containerStatuses": [{"name": "main", "restartCount": 2, "lastState": {"terminated": {"exitCode": 1, "finishedAt": LATER}}}]}
WRITTEN = [
    {"manager": "kubectl-edit", "operation": "Update", "time": LATER, "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:selectors": {}}}}
]
STATUS = [{"manager": "kubelet", "operation": "Update", "time": LATER, "subresource": "status", "fieldsV1": {"f:status": {}}}]

CASES: dict[str, tuple[Item, str, str | None, str]] = {
    "a condition": (
        node(status={"conditions": [condition("Ready", "False", "KubeletNotReady", LATER)]}),
        "status.conditions[Ready]",
        "False (KubeletNotReady)",
        "LESS",
    ),
    "a node's taint": (node(spec={"taints": [TAINT]}), "spec.taints[xid:NoExecute]", "there", "LESS"),
    "a device's taint": (piece("s", "n1", device("gpu-0", taints=[TAINT])), "spec.devices[gpu-0].taints[xid:NoExecute]", "there", "LESS"),
    "a rule's taint": (
        item("DeviceTaintRule", "r", spec={"deviceSelector": {}, "taint": TAINT}),
        "spec.taint[xid:NoExecute]",
        "there",
        "LESS",
    ),
    "an allocation": (
        edited(claim("c", "gpu-0"), "status.allocation.allocationTimestamp", LATER),
        "status.allocation.devices.results",
        "gpu.example.com/n1/gpu-0",
        "LESS",
    ),
    "a driver's end": (pod("x", metadata=PLUGIN, status=ENDED), "status.containerStatuses[main].restartCount", "2 (exit code 1)", "LESS"),
    "binding": (
        pod("x", spec={"nodeName": "n1"}, status={"conditions": [condition("PodScheduled", "True", "", LATER)]}),
        "spec.nodeName",
        "n1",
        "NOTE",
    ),
    "a deletion": (claim(metadata={"deletionTimestamp": LATER}), "metadata.deletionTimestamp", "set", "NOTE"),
    "who wrote it": (item("DeviceClass", "gpu", spec={}, metadata={"managedFields": WRITTEN}), "spec", "written by kubectl-edit", "OTHER"),
}


@pytest.mark.parametrize("case", CASES)
def test_an_object_says_when(case: str) -> None:
    source, field, value, effect = CASES[case]
    found = stated(made(source), AT - 1, AT + 1)
    assert [(change.field, change.new, change.effect.name, change.at) for change in found] == [(field, value, effect, AT)]
    assert {change.old for change in found} == {None}
    assert {change.known for change in found} == {"timestamps"}
    # And through a view, by its index.
    assert [change.field for change in from_objects(view(source), AT - 1)] == [field]


def test_a_status_that_is_written_all_the_time_is_no_change() -> None:
    assert made(node(metadata={"managedFields": STATUS})).metadata.writes == ()


def test_what_is_said_while_an_object_is_made_belongs_to_its_making() -> None:
    fresh = node(status={"conditions": [condition("Ready", "True", "KubeletReady", "2026-11-29T10:00:40Z")]})
    assert [change.field for change in stated(made(fresh), 0, NOON)] == [""]


def test_a_plain_pod_s_containers_are_not_followed() -> None:
    assert [change.field for change in stated(made(pod("x", status=ENDED)), 0, NOON)] == [""]


def test_the_index_by_time_misses_nothing_in_a_real_dump() -> None:
    for path in DUMPS:
        items = [entry for entry in json.loads(path.read_text(encoding="utf-8"))["items"] if decode(entry) is not None]
        all_of = [change for entry in items for change in stated(made(entry), 0, 4e9)]
        found = from_objects(view(*items, now=4e9), 0)
        assert len(found) == len(all_of) > 10
        for entry in items:
            assert {change.at for change in stated(made(entry), 0, 4e9)} <= set(times(made(entry)))


@pytest.mark.parametrize("least", [Effect.OTHER, Effect.LESS])
def test_what_has_weight_is_that_part_of_all_that_is_said_of_any_time(least: Effect) -> None:
    items = [made(entry) for path in DUMPS for entry in json.loads(path.read_text(encoding="utf-8"))["items"] if decode(entry) is not None]
    items += [made(source) for source, *_ in CASES.values()]
    of = ClusterView(items, now=4e9)
    moments = sorted({change.at for change in from_objects(of, 0)})
    some = 0
    for since, until in [(0.0, 4e9), *itertools.product(moments[::7], repeat=2)]:
        heavy = [change for change in from_objects(of, since, until) if change.effect >= least]
        some += bool(heavy)
        assert sorted(from_objects(of, since, until, least), key=str) == sorted(heavy, key=str)
    assert some > 2


def event(reason: str, **more: Any) -> Item:
    about = {"kind": "Node", "name": "n1", "uid": "n1"}
    return item(
        "Event", f"e-{reason}", "default", involvedObject=about, type="Warning", reason=reason, message="m", lastTimestamp=LATER, **more
    )


def test_events_count_by_reason() -> None:
    found = from_events(view(event("NodeNotReady", count=3), event("FailedScheduling"), event("Pulled")), 0, NOON)
    assert [(change.object.kind, change.object.uid, change.field, change.new, change.at) for change in found] == [
        ("Node", "", "event NodeNotReady", "3 times: m", AT)
    ]
    assert from_events(view(event("NodeNotReady")), NOON, NOON + 1) == ()


def test_changes_of_one_moment_come_in_one_order_however_long_a_time_is_asked_for() -> None:
    late = "2026-11-29T11:59:00Z"
    # The first by name speaks late alone, so its stretch is the first in the index; the other one speaks earlier too.
    first = pod("a", metadata={"creationTimestamp": late})
    other = pod("b", metadata={"creationTimestamp": CREATED, "deletionTimestamp": late})
    # So many stretches in all that a window of three hours is gone through stretch by stretch.
    rest = [pod(f"c{hour}", metadata={"creationTimestamp": f"2026-11-28T{hour:02}:00:00Z"}) for hour in range(24)]
    of = view(first, other, *rest)
    hours = from_objects(of, NOON - 3 * 3600)
    assert len({change.at for change in hours}) < len(hours)
    assert from_objects(of, 0)[-len(hours) :] == hours
