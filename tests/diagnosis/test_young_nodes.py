"""A node that registered a moment ago: what it will publish, as far as the others of its group tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from k8s_topo_mcp.diagnosis import trials
from k8s_topo_mcp.diagnosis.feasibility import Feasibility, claim_feasibility
from k8s_topo_mcp.diagnosis.report import Change, Report
from k8s_topo_mcp.diagnosis.trials import Subject, fitting, fitting_anywhere
from k8s_topo_mcp.objects import Node, ResourceClaim

from .clusters import DRIVER, Item, answered, asking, cluster, code, device_class, explained, gpus, held, helping, node, pod, pool, request
from .layers.objects import daemon_set, of

TYPE = "node.kubernetes.io/instance-type"
GROUP = "eks.amazonaws.com/nodegroup"
RESOURCE = "example.com/gpu"
SOON = f"{DRIVER} publishes on young, registered 40 s ago, as on n1"
CLASS = device_class("gpu", f"device.driver == '{DRIVER}'")
PLUGIN = daemon_set("plugin", "dra", path=f"/var/lib/kubelet/plugins/{DRIVER}")


def at(item: Item, created: str) -> Item:
    return {**item, "metadata": {**item["metadata"], "creationTimestamp": created}}


def young(created: str = "2026-11-29T11:59:20Z", name: str = "young", *, labels: Mapping[str, str] | None = None, **more: Any) -> Item:
    return at(node(name, labels={GROUP: "train", TYPE: "x9", **(labels or {})}, **more), created)


def sibling(name: str = "n1", **more: Any) -> Item:
    return node(name, labels={GROUP: "train", TYPE: "x9"}, **more)


FULL = (CLASS, sibling(), pool(gpus(4), "n1"), held("h", [f"gpu-{number}" for number in range(4)], "n1", "q"), pod("q", ("h",), on="n1"))


def report(*items: Item, count: int = 4) -> Report:
    return explained(cluster(*FULL, *asking(request("r", count)), *items))


def soon(found: Report) -> dict[str, tuple[str, ...]]:
    """What is told of young nodes."""
    return {text: nodes for text, nodes in helping(found).items() if "registered" in text}


def test_a_node_that_registered_a_moment_ago_is_what_to_wait_for_before_anything_else() -> None:
    found = report(young())
    assert (found.verdict, code(found)) == ("blocked by holders", "DEVICES_IN_USE")
    first = found.remedies[0]
    assert (first.change.text, first.nodes) == (SOON, ("young",))
    assert first.change.apply == "nothing is to be changed: wait for young"


@pytest.mark.parametrize(
    "items",
    [
        (young("2026-11-29T11:44:00Z"),),  # 16 minutes: it isn't through with its start, or has none of these devices
        (young(), pool(gpus(4), "young"), held("k", ["gpu-0"], "young", "p2")),  # it has published
        (young(labels={GROUP: "other"}),),
        (young(labels={TYPE: "x1"}),),
        (young(), sibling("n2")),  # as many settled nodes of the kind publish nothing
        (young(), sibling("n2"), pool(gpus(2), "n2")),  # they differ: which of them it will be like isn't known
        (young(unschedulable=True),),
        (young(), pool(gpus(4), "young", count=2)),  # it has begun
    ],
    ids=["old", "published", "another group", "another type", "others are silent", "others differ", "cordoned", "begun"],
)
def test_of_a_node_of_which_it_is_not_known_nothing_is_told(items: tuple[Item, ...]) -> None:
    assert soon(report(*items)) == {}


@pytest.mark.parametrize(
    ("labels", "annotations", "told"),
    [
        ({TYPE: "x9"}, {}, True),
        ({"karpenter.sh/nodepool": "train"}, {}, True),
        ({}, {"cluster.x-k8s.io/owner-name": "train-abc"}, True),
        ({}, {}, False),
        ({"gpu": "yes"}, {}, False),
    ],
)
def test_which_nodes_are_made_alike_is_told_by_labels_of_those_who_make_them(
    labels: dict[str, str], annotations: dict[str, str], told: bool
) -> None:
    nodes = [node("n1", labels=labels), at(node("young", labels=labels), "2026-11-29T11:59:20Z")]
    for item in nodes:
        item["metadata"]["annotations"] = annotations
    rest = [item for item in FULL if item["kind"] != "Node"]
    found = explained(cluster(*nodes, *rest, *asking(request("r", 4))))
    assert (SOON in helping(found)) is told


def test_one_silent_node_among_several_that_publish_does_not_matter() -> None:
    silent = sibling("n3", unschedulable=True)
    assert SOON in soon(report(young(), silent, sibling("n2"), pool(gpus(4), "n2"), held("k", ["gpu-0"], "n2")))


def test_a_young_node_with_too_few_devices_for_the_claim_is_not_told() -> None:
    assert soon(report(young(), count=5)) == {}


def test_of_several_those_that_fit_are_named() -> None:
    second = young("2026-11-29T11:54:00Z", "younger")
    told = f"{DRIVER} publishes on young and younger, registered 40 s ago, as on n1"
    found = report(young(), second, PLUGIN)
    assert soon(found) == {told: ("young", "younger")}
    waiting = "nothing is to be changed: wait for young and younger; DaemonSet dra/plugin has no pod on young yet"
    assert found.remedies[0].change.apply == waiting


def test_a_taint_that_goes_with_its_start_is_no_obstacle_and_another_is() -> None:
    assert soon(report(young(taints=[{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]))) == {SOON: ("young",)}
    assert soon(report(young(taints=[{"key": "team", "effect": "NoSchedule"}]))) == {}


def test_another_driver_that_has_published_there_already_stays_as_it_is() -> None:
    nic = [{"name": "nic-0"}]
    items = (young(), pool(nic, "n1", driver="dra.net"), pool(nic, "young", driver="dra.net"))
    assert soon(report(*items)) == {SOON: ("young",)}


@pytest.mark.parametrize(
    ("items", "told"),
    [
        ((PLUGIN,), "; DaemonSet dra/plugin has no pod there yet"),
        ((PLUGIN, of(PLUGIN, "plugin-a", "young", ready=False)), "; pod dra/plugin-a of DaemonSet dra/plugin is Running there"),
        ((PLUGIN, of(PLUGIN, "plugin-a", "young")), "; pod dra/plugin-a of DaemonSet dra/plugin is ready there"),
        (
            (daemon_set("plugin", "dra", path=f"/var/lib/kubelet/plugins/{DRIVER}", nodeSelector={"gpu": "yes"}),),
            "; DaemonSet dra/plugin has no pod there: it asks for gpu=yes, and the node isn't so labelled",
        ),
    ],
)
def test_what_is_seen_of_the_driver_there_is_told(items: tuple[Item, ...], told: str) -> None:
    assert report(young(), *items).remedies[0].change.apply == f"nothing is to be changed: wait for young{told}"
    assert told.removeprefix("; ") in answered(cluster(*FULL, *asking(request("r", 4)), young(), *items))


def test_what_a_device_plugin_will_offer_is_told_likewise() -> None:
    has = sibling(allocatable={RESOURCE: "4"})
    user = pod("q", on="n1", requests={RESOURCE: "4"})
    found = explained(cluster(has, user, young(), pod("p", requests={RESOURCE: "2"})))
    assert (found.remedies[0].change.text, found.remedies[0].nodes) == (
        f"{RESOURCE} publishes on young, registered 40 s ago, as on n1",
        ("young",),
    )


def test_it_is_judged_as_in_the_whole_changed_cluster() -> None:
    found = report(young())
    change = found.remedies[0].change
    view = cluster(*FULL, *asking(request("r", 4)), young())
    placement = explained(view).placement
    assert placement is not None
    problem = placement.devices.problem
    assert problem is not None
    subject = Subject(view, placement.pod, problem.claims, problem, tuple(entry.node for entry in placement.opened))
    assert fitting_anywhere(subject, change) == ("young",)


def test_of_claims_by_themselves_only_nodes_that_they_are_judged_on_count() -> None:
    assert told_of_the_claim(young()) == [("young",)]
    assert told_of_the_claim(young(unschedulable=True)) == []
    assert told_of_the_claim(young(), young(name="younger", unschedulable=True)) == [("young",)]


def told_of_the_claim(*items: Item) -> list[tuple[str, ...]]:
    view = cluster(*FULL, asking(request("r", 4))[0], *items)
    wanted = view.get(ResourceClaim, "c", "default")
    assert wanted is not None
    found: Feasibility = claim_feasibility(view, (wanted,), view.all(Node))
    return [trial.nodes for trial in found.remedies if "registered" in trial.change.text]


def test_of_many_kinds_of_young_nodes_the_first_that_help_are_told() -> None:
    kinds: list[Item] = []
    for number in range(4):
        group = {GROUP: f"g{number}", TYPE: "x9"}
        kinds += [node(f"s{number}", labels=group), pool(gpus(4), f"s{number}"), held(f"h{number}", ["gpu-0"], f"s{number}", "q")]
        kinds.append(young(name=f"y{number}", labels=group))
    assert list(soon(report(*kinds)).values()) == [("y0",), ("y1",)]


@pytest.mark.parametrize("spread", ["DoNotSchedule", "ScheduleAnyway"])
def test_a_node_that_gets_devices_and_loses_a_taint_is_judged_alone_where_no_spread_counts_taints(
    spread: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    constraint = {"maxSkew": 9, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": spread, "labelSelector": {}}
    starting = young(taints=[{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}])
    view = cluster(*FULL, *asking(request("r", 4), topologySpreadConstraints=[constraint]), starting)
    found = explained(view)
    assert soon(found) == {SOON: ("young",)}
    placement = found.placement
    assert placement is not None
    problem = placement.devices.problem
    assert problem is not None
    subject = Subject(view, placement.pod, problem.claims, problem, tuple(entry.node for entry in placement.opened))
    everywhere: list[str] = []

    def counted(subject: Subject, change: Change) -> tuple[str, ...]:
        everywhere.append(change.text)
        return fitting_anywhere(subject, change)

    monkeypatch.setattr(trials, "fitting_anywhere", counted)
    assert fitting(subject, found.remedies[0].change) == ("young",)
    assert everywhere == ([SOON] if spread == "DoNotSchedule" else [])
