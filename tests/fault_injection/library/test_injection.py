"""Steps carried out at an API server that only remembers: order, marks, moments, events, kinds that have to be served first."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from fault_injection.lab.errors import LabError
from fault_injection.library.declared import Fault
from fault_injection.library.injection import Injection, NotThere
from fault_injection.library.shelf import entry
from fault_injection.library.signs import Sign
from fault_injection.library.variants import ACCELERATORS, Variant
from fault_injection.library.world import World

FAULT = Fault.model_validate_json(
    """{"title": "t", "family": "F9", "symptom_text": "s", "layers": ["nodes"], "releases": "1.37",
    "sources": [{"repo": "a/b", "issue": 1}], "symptom": [{"bound": true}]}"""
)


class Memory:
    """Keeps objects; nodes are ready and pods run as soon as they have a node."""

    def __init__(self) -> None:
        self.objects: dict[tuple[str, str, str], dict[str, Any]] = {}
        self.calls: list[str] = []
        self.known = {"v1", "resource.k8s.io/v1", "apiextensions.k8s.io/v1", "apps/v1", "batch/v1", "scheduling.k8s.io/v1"}

    def create(self, item: dict[str, Any]) -> dict[str, Any]:
        metadata = item["metadata"]
        self.calls.append(f"{item['kind']} {metadata['name']}")
        made = {**item, "metadata": {**metadata, "uid": f"real-{len(self.calls)}"}}
        if item["kind"] == "Pod":
            made["status"] = {"phase": "Running" if item["spec"].get("nodeName") else "Pending"}
        if item["kind"] == "CustomResourceDefinition":
            self.known.add(f"{item['spec']['group']}/{item['spec']['versions'][0]['name']}")
        self.objects[item["kind"], metadata.get("namespace") or "default", metadata["name"]] = made
        return made

    def status(self, item: dict[str, Any], status: dict[str, Any]) -> dict[str, Any]:
        return item

    def find(self, version: str, kind: str, name: str, namespace: str = "default") -> dict[str, Any] | None:
        return self.objects.get((kind, namespace, name))

    def list(self, version: str, kind: str, namespace: str | None = None, **parameters: str) -> list[dict[str, Any]]:
        return [item for (found, _, _), item in self.objects.items() if found == kind]

    def patch(self, item: dict[str, Any], change: dict[str, Any], subresource: str = "") -> None:
        self.calls.append(f"patch {item['metadata']['name']} {subresource}".rstrip())

    def delete(self, item: dict[str, Any], grace: int | None = None) -> None:
        self.calls.append(f"delete {item['metadata']['name']}")
        self.objects.pop((item["kind"], item["metadata"].get("namespace") or "default", item["metadata"]["name"]), None)

    def serves(self, version: str, kind: str) -> bool:
        return version in self.known

    def is_ready(self, version: str, kind: str) -> bool:
        return self.serves(version, kind)


class Here:
    """A place without patience."""

    def __init__(self) -> None:
        self.client = Memory()

    def wait(self, what: str, until: Callable[[], Any], seconds: float = 30.0, every: float = 0.05) -> Any:
        found = until()
        if not found:
            raise LabError(f"waited {seconds:.0f} s for {what}")
        return found

    def component(self, name: str, up: bool) -> None:
        self.client.calls.append(f"{name} {'up' if up else 'down'}")

    def hold(self, name: str, namespace: str) -> None:
        self.client.calls.append(f"hold {name}")


def world(**variant: Any) -> World:
    return World("a-fault", FAULT, Variant(1, ACCELERATORS[0], **{"innocents": 0, **variant}))


def test_hardware_and_what_runs_comes_before_what_waits() -> None:
    made, here = world(), Here()
    waiting = made.scene.pod(name="waits")
    (node,) = made.scene.plain_nodes(1)
    made.scene.running(node)
    made.role(pod=waiting)
    made.finish()
    with pytest.raises(NotThere, match="waited 30 s for pod: bound; Pod default/waits says nothing"):
        Injection(made, here).run()
    kinds = [call.partition(" ")[0] for call in here.client.calls]
    assert kinds[:2] == ["Node", "Pod"]
    assert here.client.calls[-1] == "Pod waits"


def test_steps_come_in_the_order_in_which_they_were_said() -> None:
    made, here = world(), Here()
    (node,) = made.scene.plain_nodes(1)
    pod = made.scene.running(node)
    made.role(pod=pod)
    made.stop("kube-scheduler")
    made.patch(node, {"spec": {"unschedulable": True}})
    made.start("kube-scheduler")
    later = made.scene.running(node)
    made.hold(later)
    made.delete(later)
    made.finish()
    Injection(made, here).run()
    name, other = pod["metadata"]["name"], later["metadata"]["name"]
    assert here.client.calls[1:] == [
        f"Pod {name}",
        "kube-scheduler down",
        f"patch {node['metadata']['name']}",
        "kube-scheduler up",
        f"hold {other}",
        f"Pod {other}",
        f"delete {other}",
    ]


def test_moments_and_marks_are_put_in_when_an_object_is_made() -> None:
    made, here = world(), Here()
    made.scene.add("v1", "ConfigMap", "c", data={"text": f"time: {made.moment(60)} {made.moment(5, micro=True)}"})
    made.scene.add("karpenter.sh/v1", "NodePool", "p", namespaced=False, spec={})
    (node,) = made.scene.plain_nodes(1)
    made.role(pod=made.scene.running(node))
    made.finish()
    Injection(made, here, mark=lambda item: {**item, "metadata": {**item["metadata"], "labels": {"run": "r"}}}).run()
    (found,) = here.client.list("v1", "ConfigMap")
    assert re.fullmatch(r"time: \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", found["data"]["text"])
    assert all(item["metadata"]["labels"] == {"run": "r"} for item in here.client.objects.values())


def test_an_event_is_about_the_object_as_it_is_at_the_api_server() -> None:
    made, here = world(distractors=3), Here()
    (node,) = made.scene.plain_nodes(1)
    pod = made.scene.running(node)
    made.role(pod=pod)
    made.said(pod, "Pulling", "Pulling image", "kubelet", type="Normal", count=3, age=60)
    made.finish()
    Injection(made, here).run()
    events = here.client.list("v1", "Event")
    (own,) = [event for event in events if event["reason"] == "Pulling"]
    assert own["involvedObject"]["uid"] == here.client.find("v1", "Pod", pod["metadata"]["name"])["metadata"]["uid"]  # type: ignore[index]
    assert (own["count"], own["source"]) == (3, {"component": "kubelet"})
    assert own["firstTimestamp"] < own["lastTimestamp"]
    assert {event["reason"] for event in events} == {"Pulling", "FailedScheduling", "FailedCreate"}


def test_a_kind_that_is_not_served_is_defined_first_and_one_that_nobody_knows_refused() -> None:
    made, here = world(), Here()
    made.scene.add("karpenter.sh/v1", "NodePool", "p", namespaced=False, spec={})
    (node,) = made.scene.plain_nodes(1)
    made.role(pod=made.scene.running(node))
    made.finish()
    Injection(made, here).run()
    assert here.client.calls[0] == "CustomResourceDefinition nodepools.karpenter.sh"
    other = world()
    other.scene.add("unheard.example.com/v1", "Thing", "t")
    other.finish()
    with pytest.raises(LabError, match=r"nobody knows unheard.example.com/v1 Thing"):
        Injection(other, Here()).run()


def test_a_neighbour_and_innocents_stand_where_the_variant_has_them() -> None:
    found = entry("one-device-lacks-the-attribute")
    for seed in range(20):
        made = found.world(seed, 4)
        items = [item for step in made.steps for item in getattr(step, "items", ())]
        nodes = [item for item in items if item["kind"] == "Node"]
        assert len(nodes) == 2 + 4
        assert ("neighbour" in made.named()) is made.variant.neighbour


def test_a_sign_that_must_not_be_seen_is_an_error_when_it_is() -> None:
    made, here = world(), Here()
    made.fault = FAULT.model_copy(update={"symptom": (Sign(bound=True, absent=True, seconds=0.1),)})
    (node,) = made.scene.plain_nodes(1)
    made.role(pod=made.scene.running(node))
    made.finish()
    with pytest.raises(NotThere, match=r"seen, but must not be: pod: no bound within 0.1 s"):
        Injection(made, here).run()


def test_what_must_not_be_seen_of_an_object_takes_the_object() -> None:
    made, here = world(), Here()
    (node,) = made.scene.plain_nodes(1)
    pod = made.scene.running(node)
    made.role(pod=pod)
    made.delete(pod)
    made.fault = FAULT.model_copy(update={"symptom": (Sign(condition="PodScheduled", absent=True, seconds=0.1),)})
    made.finish()
    with pytest.raises(NotThere, match=r"no condition PodScheduled within 0.1 s: Pod default/\S+ isn't there at all"):
        Injection(made, here).run()
    gone = Sign(exists=True, absent=True, seconds=0.1)
    Injection(made, here)._see(gone, NotThere)
