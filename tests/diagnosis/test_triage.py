"""All pods that wait: each group's verdict is that of its pods one by one, whatever is shared between them."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from k8s_topo_mcp.diagnosis.node_kinds import node_kinds
from k8s_topo_mcp.diagnosis.pending import explain_pending
from k8s_topo_mcp.diagnosis.triage import Waiting, judge, waiting_groups
from k8s_topo_mcp.objects import Pod
from k8s_topo_mcp.scheduling.dynamic_resources import prepare
from k8s_topo_mcp.scheduling.looks import looks_around
from k8s_topo_mcp.tools import wording
from k8s_topo_mcp.view import ClusterView
from k8s_topo_mcp.view.indices import pending_pods

from .clusters import (
    DRIVER,
    STANDARD,
    Item,
    asking,
    claim,
    cluster,
    device_class,
    distinct,
    gpu,
    gpus,
    held,
    match,
    node,
    partitioned,
    pod,
    pool,
    request,
)

WORDS = {
    "fits now": {"fits now"},
    "unknown": {"unknown"},
    "held": {"held before scheduling"},
    "error": {"aborted by an error"},
    "waits": {"waits"},
    "short": {"blocked", "blocked by holders", "missed by this release"},
    "misfit": {"blocked", "missed by this release"},
}


def groups(view: ClusterView) -> tuple[Waiting, ...]:
    return waiting_groups(view, pending_pods(view))


def only(view: ClusterView) -> Waiting:
    found = groups(view)
    assert len(found) == 1, [group.code for group in found]
    return found[0]


Choice = Callable[[random.Random], Any]


def random_node(chance: random.Random, name: str) -> list[Item]:
    labels = {"zone": chance.choice("ab"), "tier": chance.choice(("x", "y"))}
    cpu = chance.choice(("4", "8", "1500m"))
    taints = [{"key": "dedicated", "value": "ml", "effect": "NoSchedule"}] if chance.random() < 0.3 else []
    more: dict[str, Any] = {"taints": taints} if taints else {}
    if chance.random() < 0.1:
        more["unschedulable"] = True
    items = [node(name, labels=labels, allocatable={"cpu": cpu, "pods": chance.choice(("3", "10"))}, **more)]
    if chance.random() < 0.15:
        return [*items, *partitioned(name)]
    if chance.random() < 0.85:
        devices = [
            gpu(
                f"gpu-{number}",
                {
                    f"{STANDARD}/numaNode": number // 2,
                    f"{STANDARD}/pcieRoot": f"pci{number}",
                    "model": chance.choice(("a", "b")),
                    "serial": f"{name}{number}",
                },
                memory=chance.choice(("40Gi", "80Gi")),
            )
            for number in range(chance.choice((1, 2, 4)))
        ]
        if chance.random() < 0.2:
            devices[0]["taints"] = [{"key": "sick", "effect": "NoSchedule", "timeAdded": "2026-11-01T00:00:00Z"}]
        if chance.random() < 0.1:
            devices[0]["attributes"].pop("model")
        items.append(pool(devices, name, count=2 if chance.random() < 0.07 else 1))
    return items


def random_claim(chance: random.Random, name: str) -> Item:
    selectors = chance.choice(
        (
            (),
            (),
            (f"device.attributes['{DRIVER}'].model == 'a'",),
            (f"device.attributes['{DRIVER}'].model == 'z'",),
            (f"device.capacity['{DRIVER}'].memory.compareTo(quantity('60Gi')) >= 0",),
            (f"device.capacity['{DRIVER}'].memory.compareTo(quantity('90Gi')) >= 0",),
            (f"device.attributes['{DRIVER}'].nothing == 1",),
        )
    )
    constraints = chance.choice(
        (None, None, None, [match(f"{STANDARD}/numaNode")], [match(f"{STANDARD}/pcieRoot")], [distinct(f"{STANDARD}/pcieRoot")])
    )
    of = "gpu" if chance.random() < 0.95 else "gpus"
    return claim(name, request("r", chance.choice((1, 1, 2, 2, 3, 4, 9, None)), *selectors, of=of), constraints=constraints)


def random_pod(chance: random.Random, name: str, on: str = "", claims: tuple[str, ...] = ()) -> Item:
    more: dict[str, Any] = {"metadata": {"labels": {"app": chance.choice("pq")}}}
    if chance.random() < 0.2:
        more["nodeSelector"] = {"zone": chance.choice("abc")}
    if chance.random() < 0.1:
        more["affinity"] = {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [{"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["x"]}]}]
                }
            }
        }
    if chance.random() < 0.1:
        term = {"labelSelector": {"matchLabels": {"app": "p"}}, "topologyKey": chance.choice(("zone", "kubernetes.io/hostname"))}
        kind = chance.choice(("podAntiAffinity", "podAffinity"))
        more["affinity"] = {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    if chance.random() < 0.5:
        more["tolerations"] = [{"key": "dedicated", "operator": "Exists"}]
    if chance.random() < 0.05:
        more["schedulingGates"] = [{"name": "example.com/gate"}]
    if chance.random() < 0.1:
        more["topologySpreadConstraints"] = [
            {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "p"}}}
        ]
    requests = {"cpu": chance.choice(("500m", "1", "3", "5", "20"))} if chance.random() < 0.7 else {}
    return pod(name, claims, on=on, requests=requests, **more)


def random_cluster(seed: int) -> ClusterView:
    """A few nodes of different shapes, pods and claims that hold some of it, and pods that wait, several of them alike."""
    chance = random.Random(seed)
    names = [f"n{number}" for number in range(chance.choice((2, 5, 9)))]
    items: list[Item] = [device_class("gpu", f"device.driver == '{DRIVER}'")]
    for name in names:
        made = random_node(chance, name)
        items += made
        for number in range(chance.choice((0, 1, 2))):
            items.append(random_pod(chance, f"runs-{name}-{number}", name))
        devices = [device["name"] for piece in made if piece["kind"] == "ResourceSlice" for device in piece["spec"].get("devices", ())]
        for device in devices:
            if chance.random() < 0.4:
                items.append(held(f"held-{name}-{device}", [device], name, f"runs-{name}-0"))
    for number in range(12):
        chosen = random.Random(chance.choice((seed, seed + 1, seed + 2, seed * 7 + number)))
        items += [
            random_claim(chosen, f"c{number}"),
            random_pod(chosen, f"p{number}", claims=(f"c{number}",) if chosen.random() < 0.85 else ()),
        ]
    return cluster(*items, minor=chance.choice((35, 36, 37, 37, 37)))


@pytest.mark.parametrize("seed", range(40))
def test_every_pod_gets_the_verdict_that_it_gets_alone(seed: int) -> None:
    view = random_cluster(seed)
    for waiting in pending_pods(view):
        report, judged = explain_pending(view, waiting), judge(view, waiting)
        assert (report.cause.finding.code if report.cause else "") == (judged.cause.finding.code if judged.cause else ""), waiting.name
        assert report.verdict in WORDS[judged.word], (waiting.name, report.verdict, judged)
        alone = judge(view.under(), waiting).cause  # nothing is shared with other pods
        if report.cause is not None and alone is not None:
            assert wording.wanted_and_found(alone.finding, alone) == wording.wanted_and_found(report.cause.finding, report.cause)
        helps = any(trial.change.after == "1 more" and trial.nodes for trial in report.remedies)
        assert not helps or judged.starts in (True, None), waiting.name
    assert sum(len(group.pods) for group in groups(view)) == len(pending_pods(view))


HERE: tuple[Item, ...] = (node("n1"), node("n2"), device_class(), pool(gpus(4), "n1"), pool(gpus(4), "n2"))


def busy(on: str, count: int = 4) -> list[Item]:
    return [held(f"held-{on}", [f"gpu-{number}" for number in range(count)], on, f"r-{on}"), pod(f"r-{on}", (f"held-{on}",), on=on)]


def wants(name: str, count: int, *selectors: str, **more: Any) -> list[Item]:
    return [claim(f"c-{name}", request("r", count, *selectors)), pod(name, (f"c-{name}",), **more)]


def test_pods_that_more_nodes_would_start_are_short_and_the_others_misfits() -> None:
    found = groups(cluster(*HERE, *busy("n1"), *busy("n2"), *wants("a", 4), *wants("b", 5)))
    assert {(group.code, group.judged.word, group.judged.starts) for group in found} == {
        ("DEVICES_IN_USE", "short", True),
        ("NOT_ENOUGH_DEVICES", "misfit", False),
    }


def test_a_pod_too_large_for_what_is_left_is_short_and_one_too_large_for_a_node_is_not() -> None:
    runs = pod("runs", on="n1", requests={"cpu": "6"})
    large, huge = pod("large", requests={"cpu": "4"}), pod("huge", requests={"cpu": "9"})
    found = groups(cluster(node("n1"), runs, large, huge))
    assert {(group.code, group.judged.starts) for group in found} == {("INSUFFICIENT_RESOURCE", True), ("RESOURCE_TOO_LARGE", False)}


def test_a_new_node_is_not_born_cordoned_or_under_pressure() -> None:
    pressure = [{"key": "node.kubernetes.io/memory-pressure", "effect": "NoSchedule"}]
    assert only(cluster(node("n1", taints=pressure), pod("p"))).judged.starts
    assert only(cluster(node("n1", unschedulable=True), pod("p"))).judged.starts
    meant = [{"key": "dedicated", "value": "x", "effect": "NoSchedule"}]
    assert only(cluster(node("n1", taints=meant), pod("p"))).judged.starts is False


def test_more_nodes_are_tried_with_the_labels_of_nodes_that_the_pod_selects() -> None:
    here = (node("n1", labels={"pool": "x"}), node("n2", labels={"pool": "y"}), device_class(), pool(gpus(4), "n1"), pool(gpus(4), "n2"))
    full = only(cluster(*here, *busy("n2"), *wants("a", 4, nodeSelector={"pool": "y"})))
    assert (full.judged.word, full.judged.starts) == ("short", True)


def test_pods_that_differ_in_what_a_filter_reads_are_judged_apart() -> None:
    volume = {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "gone"}}]}
    found = groups(cluster(node("n1"), pod("a"), pod("b", **volume)))
    assert {group.code for group in found} == {"FITS_NOW", "VOLUME_CLAIM_MISSING"}
    spread = [{"maxSkew": 1, "topologyKey": "nowhere", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}]
    found = groups(cluster(node("n1"), pod("a"), pod("b", topologySpreadConstraints=spread)))
    assert {group.code for group in found} == {"FITS_NOW", "SPREAD_KEY_MISSING"}


def test_a_gang_is_one_group_and_another_namespace_has_another_gang() -> None:
    def member(name: str, namespace: str) -> Item:
        made = pod(name, schedulingGroup={"podGroupName": "g"})
        made["metadata"]["namespace"] = namespace
        return made

    view = cluster(node("n1"), member("a", "default"), member("b", "default"), member("c", "team"), gates={"GenericWorkload": True})
    assert [(group.gang, len(group.pods)) for group in groups(view)] == [("default/g", 2), ("team/g", 1)]
    plain = cluster(node("n1"), member("a", "default"), member("b", "default"), gates={"GenericWorkload": False})
    assert [(group.gang, group.code) for group in groups(plain)] == [("", "FITS_NOW")]


def test_alike_nodes_are_judged_once_and_the_one_with_most_left_speaks_for_them() -> None:
    names = [f"n{number}" for number in range(30)]
    loads = [pod(f"runs-{name}", on=name, requests={"cpu": f"{4000 + number}m"}) for number, name in enumerate(names)]
    view = cluster(*(node(name) for name in names), *loads, pod("p", requests={"cpu": "5"}))
    waiting = pending_pods(view)[0]
    kinds = node_kinds(view, waiting, prepare(view, waiting))
    assert kinds is not None
    assert [(kind.first.name, len(kind.members)) for kind in kinds] == [("n0", 30)]
    cause = judge(view, waiting).cause
    assert cause is not None
    assert cause.finding.text("free") == "4"


def test_pods_that_ask_for_other_devices_are_not_one_group() -> None:
    kind = 'device.attributes["gpu.example.com"].model == '
    devices = gpus(4, model=lambda number: "big" if number < 2 else "small")
    here = (node("n1"), device_class(), pool(devices), *busy("n1"))
    found = groups(cluster(*here, *wants("a", 2, f"{kind}'big'"), *wants("b", 2, f"{kind}'small'"), *wants("c", 2, f"{kind}'small'")))
    assert [(group.code, len(group.pods)) for group in found] == [("DEVICES_IN_USE", 2), ("DEVICES_IN_USE", 1)]


@pytest.mark.parametrize(("action", "around"), [("ScheduleAnyway", False), ("DoNotSchedule", True)])
def test_a_spread_that_is_only_wished_for_lets_nodes_be_judged_by_kind(action: str, around: bool) -> None:
    spread = {"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": action, "labelSelector": {}}
    items = (node("n1"), node("n2"), device_class(), pool(gpus(2), "n1"), pool(gpus(2), "n2"))
    view = cluster(*items, *asking(request("r", 4), topologySpreadConstraints=[spread]))
    (waiting,) = view.all(Pod)
    assert looks_around(waiting) is around
    assert (node_kinds(view, waiting, prepare(view, waiting)) is None) is around


def test_a_gate_that_is_off_in_the_scheduler_alone_counts_for_pods_that_say_so() -> None:
    """Two pods that ask alike, of which one has been told that the feature is off: each is judged as it is alone."""
    refusal = (
        'running "DynamicResources" filter plugin: claim default/c, request r: has capacity requests, but the '
        "DRAConsumableCapacity feature is disabled"
    )
    said = {"type": "PodScheduled", "status": "False", "reason": "SchedulerError", "message": refusal}
    told = pod("told", ("c",), status={"phase": "Pending", "conditions": [said]})
    asked = claim("c", request("r", capacity={"requests": {"memory": "10Gi"}}))
    shared = pool([gpu("gpu-0", allowMultipleAllocations=True)])
    view = cluster(node("n1"), device_class(), shared, asked, told, pod("new", ("c",)), minor=34)
    for name, word, code in (("new", "fits now", ""), ("told", "error", "FEATURE_OFF"), ("new", "fits now", "")):
        own = view.get(Pod, name, "default")
        assert own is not None
        judged = judge(view, own)
        assert (judged.word, judged.cause.finding.code if judged.cause is not None else "") == (word, code)
        report = explain_pending(view, own)
        assert (report.cause.finding.code if report.cause is not None else "") == code


def test_pods_of_one_kind_are_judged_by_what_was_said_of_each() -> None:
    """A search that ran out of time is told of the one pod of which the scheduler said so, whichever is asked about first."""
    numa = "resource.kubernetes.io/numaNode"
    nic = pool([{"name": "nic-0", "attributes": {numa: {"int": 1}}}], driver="nic.example.com")
    classes = (device_class(), device_class("nic", 'device.driver == "nic.example.com"'))
    asked = claim("c", request("gpus", 8), request("nic", of="nic"), constraints=[match(numa)])
    message = 'running "DynamicResources" filter plugin: node n1: timed out trying to allocate devices'
    said = {"type": "PodScheduled", "status": "False", "reason": "SchedulerError", "message": message}
    told = pod("told", ("c",), status={"phase": "Pending", "conditions": [said]})
    view = cluster(node("n1"), *classes, pool(gpus(24, **{numa: 0})), nic, asked, told, pod("new", ("c",)))
    words = {name: judge(view, own).word for name in ("new", "told") if (own := view.get(Pod, name, "default")) is not None}
    assert words == {"new": "misfit", "told": "error"}
