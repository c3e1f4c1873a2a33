"""A remedy is carried out from what the answer says alone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from fault_injection.lab import as_told
from fault_injection.lab.as_told import well
from fault_injection.lab.told import NotUnderstood, Told, changed, remedies_of
from fault_injection.scenes import Scene, request, same
from k8s_topo_mcp.sources.snapshot import load_text
from k8s_topo_mcp.tools.explain_pending import Input, answer

SPEC = {
    "devices": {
        "requests": [request("gpu.nvidia.com", 5, "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('90Gi')) >= 0")],
        "constraints": [same("resource.kubernetes.io/numaNode")],
    }
}


def after(field: str, before: str, value: str) -> dict:
    told = Told("a change", "ResourceClaim", "default", "some-claim", field, before, value)
    return changed(SPEC, "spec.", told)["devices"]


def test_what_an_answer_leaves_out_is_what_it_said_before() -> None:
    scene = Scene(seed=3)
    scene.nodes("p5.48xlarge", 2)
    claim = scene.claim(request("gpu.nvidia.com", 5), constraints=[same("resource.kubernetes.io/numaNode")])
    pod = scene.pod(claim)
    told = remedies_of(answer(load_text(scene.text()), Input(pod=pod["metadata"]["name"])))
    assert {(entry.kind, entry.name) for entry in told} == {("ResourceClaim", claim["metadata"]["name"])}
    assert all(entry.field and entry.apply for entry in told)
    count = next(entry for entry in told if entry.change == "count 5 → 4")
    assert changed(claim["spec"], "spec.", count)["devices"]["requests"][0]["exactly"]["count"] == 4


def test_a_count_is_a_number() -> None:
    assert after("spec.devices.requests[0].exactly.count", "5", "4")["requests"][0]["exactly"]["count"] == 4


def test_an_expression_is_replaced_as_a_whole() -> None:
    (selector,) = after("spec.devices.requests[0].exactly.selectors[0].cel.expression", "", "true")["requests"][0]["exactly"]["selectors"]
    assert selector == {"cel": {"expression": "true"}}


def test_nothing_in_place_of_an_entry_removes_it() -> None:
    assert after("spec.devices.requests[0].exactly.selectors[0]", "all of it", "")["requests"][0]["exactly"]["selectors"] == []
    assert after("spec.devices.constraints[0]", "resource.kubernetes.io/numaNode", "")["constraints"] == []


def test_a_constraint_takes_another_attribute() -> None:
    found = after("spec.devices.constraints[0].matchAttribute", "resource.kubernetes.io/numaNode", "resource.kubernetes.io/pcieRoot")
    assert found["constraints"] == [{"matchAttribute": "resource.kubernetes.io/pcieRoot"}]


def test_a_toleration_is_added() -> None:
    found = after("spec.devices.requests[0].exactly.tolerations", "", "{key: gpu.nvidia.com/xid, operator: Exists, effect: NoSchedule}")
    assert found["requests"][0]["exactly"]["tolerations"] == [{"key": "gpu.nvidia.com/xid", "operator": "Exists", "effect": "NoSchedule"}]


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (Told("c", "Pod", nodes=2, examples=("a", "b")), "is bound to x, which isn't among those that the answer names: a, b"),
        (Told("c", "Pod", nodes=3, examples=("x", "b", "c")), ""),
        (Told("c", "Pod", nodes=9, examples=("a", "b", "c", "d")), ""),
        (Told("c", "Node", nodes=1, examples=("a",)), ""),
        (Told("c", "ResourceQuota", checked=False), ""),
    ],
    ids=["another", "one of them", "examples of many", "a new node", "not tried"],
)
def test_a_pod_is_bound_elsewhere_only_than_on_nodes_that_are_all_named(told: Told, said: str) -> None:
    assert told.elsewhere("x") == said


def test_the_spec_that_was_given_stays() -> None:
    after("spec.devices.constraints[0]", "", "")
    assert len(SPEC["devices"]["constraints"]) == 1


def test_what_is_in_braces_is_merged() -> None:
    found = after("spec.devices.requests[0].exactly", "", "{allocationMode: All, count: 1}")["requests"][0]["exactly"]
    assert (found["deviceClassName"], found["allocationMode"], found["count"]) == ("gpu.nvidia.com", "All", 1)


def test_pods_that_are_named_end_whatever_the_blocker_is_about(monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocker of short CPUs is the node: of "pods a and b end" nothing is written there."""
    ended: list[tuple[str, str]] = []
    monkeypatch.setattr(as_told, "_end", lambda lab, pod: ended.append(pod))
    lab: Any = SimpleNamespace(client=SimpleNamespace(get=lambda version, kind, name, namespace: (namespace, name)))
    told = Told("pods x/a and y/b end", "Node", name="n", field="status.allocatable.cpu", objects=("Pod x/a", "Pod y/b"))
    as_told.carry_out(lab, {"metadata": {"name": "own"}}, told, ())
    assert ended == [("x", "a"), ("y", "b")]
    nothing = Told("a change", "Node", name="n", field="status.allocatable.cpu")
    with pytest.raises(NotUnderstood):
        as_told.carry_out(lab, {"metadata": {"name": "own"}}, nothing, ())


def test_what_would_need_a_guess_is_refused() -> None:
    with pytest.raises(NotUnderstood):
        after("spec.devices.requests[*].name", "[a, b]", "[b, a]")


def test_a_new_node_has_the_taints_of_all_its_devices_and_not_those_of_single_ones() -> None:
    every, single = {"key": "a", "effect": "NoSchedule"}, {"key": "b", "effect": "NoSchedule"}
    devices = [{"name": "x", "taints": [every]}, {"name": "y", "taints": [every, single]}]
    assert well(devices) == [{"name": "x", "taints": [every]}, {"name": "y", "taints": [every]}]
    assert well([{"name": "x"}, {"name": "y", "taints": [single]}]) == [{"name": "x"}, {"name": "y"}]
