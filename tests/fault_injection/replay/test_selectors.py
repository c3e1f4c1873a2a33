"""Label and field selectors select what the API server's would."""

from __future__ import annotations

import pytest

from fault_injection.replay.resources import BUILT_IN
from fault_injection.replay.selectors import BadSelector, matcher
from fault_injection.replay.store import Entry

from .cluster import node, pod

POD = BUILT_IN[("", "Pod")]
PODS = [
    Entry(POD, pod("x", "a", 1, node="n0", tier="gpu", size="8"), 1),
    Entry(POD, pod("y", "b", 2, phase="Pending", tier="cpu"), 2),
    Entry(POD, pod("z", "b", 3, phase="Pending"), 3),
]


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("", "xyz"),
        ("tier=gpu", "x"),
        ("tier==gpu", "x"),
        ("tier!=gpu", "yz"),
        ("tier", "xy"),
        ("!tier", "z"),
        ("tier in (gpu, cpu)", "xy"),
        ("tier notin (gpu)", "yz"),
        ("tier=gpu,size=8", "x"),
        ("tier=gpu,size=9", ""),
        ("size>7", "x"),
        ("size<7", ""),
        ("tier=", ""),
    ],
)
def test_labels(selector: str, found: str) -> None:
    match = matcher(POD, selector, "")
    assert "".join(entry.name for entry in PODS if match is None or match(entry)) == found


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("metadata.name=x", "x"),
        ("metadata.namespace=b", "yz"),
        ("metadata.namespace!=b", "x"),
        ("spec.nodeName=", "yz"),
        ("spec.nodeName!=", "x"),
        ("status.phase=Pending,metadata.name!=y", "z"),
        ("spec.hostNetwork=false", "xyz"),
    ],
)
def test_fields(selector: str, found: str) -> None:
    match = matcher(POD, "", selector)
    assert match is not None
    assert "".join(entry.name for entry in PODS if match(entry)) == found


def test_events_by_the_object_that_they_are_about() -> None:
    events = BUILT_IN[("", "Event")]
    value = {
        "metadata": {"name": "e", "namespace": "a"},
        "involvedObject": {"kind": "Pod", "name": "x", "uid": "u"},
        "source": {"component": "kubelet"},
        "type": "Warning",
    }
    entry = Entry(events, value, 1)
    for selector, wanted in (("involvedObject.name=x,involvedObject.uid=u", True), ("type!=Normal", True), ("source=scheduler", False)):
        match = matcher(events, "", selector)
        assert match is not None
        assert match(entry) is wanted


def test_nodes_by_whether_they_are_cordoned() -> None:
    nodes = BUILT_IN[("", "Node")]
    cordoned = node("n") | {"spec": {"unschedulable": True}}
    match = matcher(nodes, "", "spec.unschedulable=true")
    assert match is not None
    assert match(Entry(nodes, cordoned, 1))
    assert not match(Entry(nodes, node("m"), 1))


@pytest.mark.parametrize("selector", ["a b c", "=x", "a in", "a in (b", "a>x", ",", "a=b,,"])
def test_label_selectors_that_are_none(selector: str) -> None:
    with pytest.raises(BadSelector):
        matcher(POD, selector, "")


def test_fields_that_a_kind_has_not() -> None:
    with pytest.raises(BadSelector, match=r"field label not supported: spec\.priority"):
        matcher(POD, "", "spec.priority=1")
    with pytest.raises(BadSelector, match="is not a known field selector"):
        matcher(BUILT_IN[("apps", "DaemonSet")], "", "spec.x=1")
