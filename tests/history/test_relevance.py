"""What can concern a pod: its own, its classes, the devices and nodes it could use, its queue and quota, its drivers; and nothing else."""

from __future__ import annotations

import pytest

from k8s_topo_mcp.history.recent import recent
from k8s_topo_mcp.history.relevance import likely_causes, ranked, scope_of_object, scope_of_pod, stuck_at
from k8s_topo_mcp.objects import Node, ObjectRef, Pod, ResourceClaim
from k8s_topo_mcp.view import ClusterView, FieldChange
from tests.history.objects import NOON, Item, claim, condition, device, edited, item, made, node, piece, pod, view, watched
from tests.history.watching import Watched

CLASS = item("DeviceClass", "gpu", spec={"selectors": [{"cel": {"expression": "device.driver == 'gpu.example.com'"}}]})
OTHER_CLASS = item("DeviceClass", "nic", spec={"selectors": [{"cel": {"expression": "device.driver == 'nic.example.com'"}}]})
NIC = edited(piece("n1-nic"), "spec.driver", "nic.example.com")
STUCK = [condition("PodScheduled", "False", "Unschedulable", "2026-11-29T11:50:00Z")]
POD = edited(edited(pod("p", "c"), "status.conditions", STUCK), "spec.nodeSelector", {"zone": "a"})
POD = edited(POD, "spec.priorityClassName", "high")
HERE, THERE = node("n1", metadata={"labels": {"zone": "a"}}), node("n2", metadata={"labels": {"zone": "b"}})
PLUGIN = item(
    "DaemonSet",
    "plugin",
    "drivers",
    spec={"template": {"spec": {"containers": []}}},
    status={"desiredNumberScheduled": 2, "numberReady": 2},
)
PLUGIN_REF = ObjectRef("DaemonSet", "drivers", "plugin")
OWNED = {
    "ownerReferences": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "plugin", "uid": "d", "controller": True}],
}
DRIVER_POD = edited(pod("plugin-x7k2p", metadata=OWNED), "metadata.namespace", "drivers")
QUOTA = item("ResourceQuota", "q", "default", status={"hard": {"pods": "8"}})
HIGH = item("PriorityClass", "high", value=10)

WORLD = (
    CLASS, OTHER_CLASS, NIC, POD, HERE, THERE, PLUGIN, DRIVER_POD, QUOTA, HIGH, claim("c"), claim("held", "gpu-0"), piece(),
    piece("n2-gpu", "n2"),
)  # fmt: skip


def world(*changes: FieldChange) -> ClusterView:
    return view(*WORLD).with_past(Watched(changes, (NOON - 7200, NOON)))


def changed(before: Item, path: str, value: object, at: float = NOON - 700) -> tuple[FieldChange, ...]:
    return watched(before, edited(before, path, value), at)


RELEVANT: dict[str, tuple[tuple[FieldChange, ...], str]] = {
    "its claim": (changed(claim("c"), "metadata.deletionTimestamp", "2026-11-29T12:00:00Z"), "its claim"),
    "its class": (changed(CLASS, "spec.selectors", []), "a class it asks for"),
    "a device it could use": (changed(piece(), "spec.devices", [device("gpu-0")]), "devices it could use"),
    "a slice that is gone": (watched(piece("old", "n1"), None, NOON - 700), "devices it could use"),
    "a node it could use": (changed(HERE, "spec.unschedulable", True), "a node it could use"),
    "a label it selects by, of any node": (changed(THERE, "metadata.labels.zone", "a"), "a label it selects by"),
    "a node that is gone": (watched(node("n9"), None, NOON - 700), "a node it could have used"),
    "who took a device": (changed(claim("held"), "status", claim("held", "gpu-0")["status"]), "holds such devices"),
    "its driver": (changed(PLUGIN, "status.numberReady", 1), "the driver of its devices"),
    "its driver's pod": (changed(DRIVER_POD, "status.phase", "Failed"), "runs the driver of its devices"),
    "its quota": (changed(QUOTA, "status.hard", {"pods": "4"}), "of its namespace"),
    "its priority class": (changed(HIGH, "preemptionPolicy", "Never"), "its priority class"),
}
IRRELEVANT: dict[str, tuple[FieldChange, ...]] = {
    "another class": changed(OTHER_CLASS, "spec.selectors", []),
    "devices of another driver": changed(NIC, "spec.devices", []),
    "a node it doesn't select": changed(THERE, "spec.unschedulable", True),
    "devices of a node it doesn't select": changed(piece("n2-gpu", "n2"), "spec.devices", []),
    "another's claim that holds nothing": changed(claim("idle"), "metadata.deletionTimestamp", "2026-11-29T12:00:00Z"),
    "another namespace's quota": changed(edited(QUOTA, "metadata.namespace", "lab"), "status.hard", {"pods": "4"}),
    "a pod without devices": changed(pod("web"), "spec.nodeName", "n1"),
}


def own(seen: ClusterView) -> Pod:
    found = seen.get(Pod, "p", "default")
    assert found is not None
    return found


@pytest.mark.parametrize("case", RELEVANT)
def test_it_concerns_the_pod_and_says_why(case: str) -> None:
    changes, why = RELEVANT[case]
    seen = world(*changes)
    listed = ranked(recent(seen, NOON - 3600), scope_of_pod(seen, own(seen), [PLUGIN_REF]), stuck_at(own(seen)))
    assert [(entry.change, entry.why, entry.before) for entry in listed if entry.change in changes] == [(changes[0], why, True)]


@pytest.mark.parametrize("case", IRRELEVANT)
def test_it_does_not_concern_the_pod(case: str) -> None:
    changes = IRRELEVANT[case]
    assert changes
    seen = world(*changes)
    listed = ranked(recent(seen, NOON - 3600), scope_of_pod(seen, own(seen), [PLUGIN_REF]), stuck_at(own(seen)))
    assert [entry for entry in listed if entry.change in changes] == []


def test_what_came_shortly_before_it_got_stuck_is_first_then_what_is_nearer_and_heavier() -> None:
    early = changed(CLASS, "spec.selectors", [], NOON - 3000)
    late = changed(HERE, "spec.unschedulable", True, NOON - 60)
    light = changed(HERE, "status.allocatable", {"cpu": "9", "example.com/gpu": "2"}, NOON - 900)
    heavy = changed(piece(), "spec.devices", [device("gpu-0")], NOON - 1000)
    seen = world(*early, *late, *light, *heavy)
    listed = ranked(recent(seen, NOON - 3600), scope_of_pod(seen, own(seen)), stuck_at(own(seen)))
    assert [entry.change for entry in listed if entry.change.known == "watched"] == [*heavy, *light, *early, *late]


def test_likely_causes_took_something_or_altered_a_rule() -> None:
    changes = [change for changes, _ in RELEVANT.values() for change in changes]
    seen = world(*changes, *changed(HERE, "status.allocatable", {"cpu": "9", "example.com/gpu": "2"}))
    found = likely_causes(seen, own(seen), scope_of_pod(seen, own(seen), [PLUGIN_REF]))
    assert {entry.why for entry in found} == {
        "a class it asks for", "devices it could use", "a node it could use", "a label it selects by", "a node it could have used",
        "the driver of its devices", "runs the driver of its devices", "of its namespace", "its priority class",
    }  # fmt: skip
    assert all(entry.change.effect.name in ("LESS", "OTHER") for entry in found)


def test_nothing_is_likely_where_only_things_came_or_it_was_long_ago() -> None:
    long_ago = changed(CLASS, "spec.selectors", [], NOON - 3000)
    after = changed(HERE, "spec.unschedulable", True, NOON - 60)
    came = watched(None, edited(piece("new", "n1"), "metadata.creationTimestamp", "2026-11-29T11:49:00Z"), NOON)
    seen = world(*long_ago, *after, *came)
    assert likely_causes(seen, own(seen), scope_of_pod(seen, own(seen))) == ()


def test_a_pod_is_stuck_since_the_scheduler_says_so_or_since_it_was_bound_or_made() -> None:
    def since(source: Item) -> float | None:
        found = made(source)
        assert isinstance(found, Pod)
        return stuck_at(found)

    assert since(POD) == NOON - 600
    assert since(pod()) == NOON - 7200
    bound = pod(
        spec={"nodeName": "n1"}, status={"phase": "Pending", "conditions": [condition("PodScheduled", "True", "", "2026-11-29T11:59:00Z")]}
    )
    assert since(bound) == NOON - 60
    assert since(pod(status={"phase": "Running"})) is None


def test_without_a_driver_in_the_class_any_device_may_concern_it() -> None:
    anything = edited(CLASS, "spec.selectors.0.cel.expression", "device.attributes['x'].y == 1")
    changes = changed(NIC, "spec.devices", [])
    seen = view(*(anything if entry is CLASS else entry for entry in WORLD)).with_past(Watched(changes, (NOON - 7200, NOON)))
    listed = ranked(recent(seen, NOON - 3600), scope_of_pod(seen, own(seen)))
    assert [entry.why for entry in listed if entry.change in changes] == ["devices it could use"]


def test_an_object_s_own_changes_come_first_then_those_of_what_hangs_on_it() -> None:
    seen = world(
        *changed(HERE, "spec.unschedulable", True),
        *changed(piece(), "spec.devices", [device("gpu-0")]),
        *changed(claim("held"), "status", claim("held", "gpu-0")["status"]),
        *changed(THERE, "spec.unschedulable", True),
    )
    here = seen.get(Node, "n1")
    assert here is not None
    listed = ranked(recent(seen, NOON - 3600), scope_of_object(seen, here.ref, here))
    assert [entry.why for entry in listed] == ["the object itself", "its devices", "holds its devices"]
    held = seen.get(ResourceClaim, "held", "default")
    assert held is not None
    listed = ranked(recent(seen, NOON - 3600), scope_of_object(seen, held.ref, held))
    assert [entry.why for entry in listed] == ["the object itself", "its devices"]


def test_an_object_that_is_gone_still_has_a_history() -> None:
    gone = node("n9")
    seen = world(*watched(gone, None, NOON - 700), *watched(piece("n9-gpu", "n9"), None, NOON - 701))
    listed = ranked(recent(seen, NOON - 3600), scope_of_object(seen, ObjectRef("Node", "", "n9"), None))
    assert [entry.why for entry in listed] == ["the object itself", "its devices"]
