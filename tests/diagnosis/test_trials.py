"""The short cuts of a trial give what the whole changed cluster gives."""

from __future__ import annotations

from itertools import islice

import pytest

from k8s_topo_mcp.diagnosis.growth import more_nodes_start
from k8s_topo_mcp.diagnosis.node_changes import more_nodes
from k8s_topo_mcp.diagnosis.pending import explain_pending
from k8s_topo_mcp.diagnosis.report import Report, Trial
from k8s_topo_mcp.diagnosis.trials import Subject, fitting, fitting_anywhere
from k8s_topo_mcp.objects import Node, Pod
from k8s_topo_mcp.scheduling.placement import place
from k8s_topo_mcp.view import ClusterView
from tests.oracle.generate import problems

from .clusters import (
    STANDARD,
    asking,
    claim,
    cluster,
    device_class,
    explained,
    gpus,
    held,
    helping,
    match,
    node,
    pod,
    pool,
    request,
    taint_rule,
    trials,
)
from .random_pods import view_of


def agrees(view: ClusterView, owner: Pod, trial: Trial) -> bool:
    whole = fitting_anywhere(Subject(view, owner, (), None, ()), trial.change)
    return set(trial.nodes) == set(whole)


def all_agree(view: ClusterView, report: Report) -> None:
    for trial in trials(report):
        if not trial.change.text.startswith("releasing any single"):
            assert agrees(view, report.pod, trial), trial.change.text


@pytest.mark.parametrize("minor", [34, 35, 36, 37])
def test_on_random_problems(minor: int) -> None:
    for row in islice(problems(5, f"1.{minor}"), 40):
        view, owner = view_of(row, minor)
        all_agree(view, explain_pending(view, owner))


def test_on_several_nodes_of_several_kinds() -> None:
    devices = gpus(4, STD__numaNode=lambda number: number // 2)
    nodes = [node(f"n{place}", labels={"kind": "ab"[place % 2]}) for place in range(6)]
    holders = [held(f"h{place}", ["gpu-0", "gpu-2"], f"n{place}", f"q{place}") for place in range(6)]
    pods = [pod(f"q{place}", (f"h{place}",), on=f"n{place}") for place in range(5)]
    claims = asking(request("r", 2), constraints=[match(f"{STANDARD}/numaNode")])
    view = cluster(device_class(), *nodes, *(pool(devices, f"n{place}") for place in range(6)), *holders, *pods, *claims)
    report = explained(view)
    assert len(report.remedies) > 3
    all_agree(view, report)


def test_a_new_node_is_tainted_by_the_rules_that_are_there() -> None:
    items = (node("n1"), device_class(), pool(gpus(2)), taint_rule("drain", "bad", driver="gpu.example.com"), *asking())
    view = cluster(*items, gates={"DRADeviceTaintRules": True})
    all_agree(view, explained(view))


def test_a_new_node_counts_for_a_pod_that_must_not_be_beside_others() -> None:
    apart = {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "kubernetes.io/hostname"}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}}
    items = (node("n1"), device_class(), pool(gpus(1)), held("h", ["gpu-0"], "n1", "q"), pod("q", ("h",), on="n1"))
    view = cluster(*items, *asking(request(), affinity=affinity))
    all_agree(view, explained(view))


def test_a_new_node_sees_that_a_shared_pool_has_a_newer_generation_elsewhere() -> None:
    row = next(islice(problems(770867008, "1.37"), 578, 579))
    generations = {(entry["spec"]["pool"]["name"], entry["spec"]["pool"]["generation"]) for entry in row["slices"]}
    assert len(generations) > len({name for name, _ in generations})  # one pool in two generations
    view, owner = view_of(row, 37)
    report = explain_pending(view, owner)
    assert any(trial.change.text == "more nodes of this shape" and not trial.nodes for trial in trials(report))
    all_agree(view, report)


@pytest.mark.parametrize("holding", ["n1", "n2"])
def test_nodes_that_are_alike_without_holders_are_judged_apart_with_them(holding: str) -> None:
    nodes = (node("n1"), node("n2"), pool(gpus(8), "n1"), pool(gpus(8), "n2"))
    view = cluster(*nodes, device_class(), held("h", [f"gpu-{place}" for place in range(6)], holding), *asking(request("r", 9)))
    report = explained(view)
    (less,) = [trial for trial in report.remedies if trial.change.text == "count 9 → 8"]
    assert less.nodes == (("n2",) if holding == "n1" else ("n1",))
    all_agree(view, report)


def test_nothing_helps_while_another_node_ends_every_attempt() -> None:
    slices = (pool(gpus(2), "n1"), pool(gpus(2), "n2", count=2))
    view = cluster(node("n1"), node("n2"), *slices, device_class(), held("h", ["gpu-0"], "n1"), *asking(request("r", None)))
    report = explained(view)
    assert {trial.change.text for trial in report.not_helping} >= {"more nodes of this shape"}
    assert not any(trial.change.releases for trial in report.remedies)
    all_agree(view, report)


def test_a_claim_that_is_allocated_already_keeps_the_pod_from_new_nodes_and_no_longer_when_it_is_released() -> None:
    nodes = (node("n1"), node("n2"), pool(gpus(8), "n1"), pool(gpus(8), "n2"), device_class())
    shared = (held("both", ["gpu-0"], "n1", "q"), pod("q", ("both",), on="n1"))
    holder = (held("h", [f"gpu-{place}" for place in range(1, 7)], "n1", "o"), pod("o", ("h",), on="n1"))
    view = cluster(*nodes, *shared, *holder, claim("own", request("r", 4)), pod("p", ("both", "own")))
    report = explained(view)
    assert "more nodes of this shape" in {trial.change.text for trial in report.not_helping}
    assert helping(report)["releasing claim default/both (pod default/q)"] == ("n2",)
    all_agree(view, report)


@pytest.mark.parametrize("spread", [False, True], ids=["alone", "spread over zones"])
def test_where_every_node_is_full_only_what_a_new_one_brings_counts(spread: bool) -> None:
    """Two kinds of nodes, one of them without devices; spread over more zones than there are, a new one may open those that are here."""
    constraint = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "minDomains": 3}
    rules = {"topologySpreadConstraints": [{**constraint, "labelSelector": {"matchLabels": {"app": "x"}}}]} if spread else {}
    items = [device_class(), *asking(request(), requests={"cpu": "6"}, **rules)]
    for at in range(4):
        name = f"n{at}"
        items += [node(name, labels={"zone": "ab"[at % 2], "kind": "ab"[at // 2]}), pod(f"q{at}", on=name, requests={"cpu": "4"})]
    items += [pool(gpus(2), "n0"), pool(gpus(2), "n1")]
    view = cluster(*items)
    report = explained(view)
    more = [trial for trial in trials(report) if any(type(edit).__name__ == "Add" for edit in trial.change.edits)]
    assert more
    assert spread or any(trial.helps for trial in more)
    all_agree(view, report)


@pytest.mark.parametrize("minor", [34, 35, 36, 37])
def test_a_new_node_sees_a_broken_pool_that_the_release_shows_to_every_node(minor: int) -> None:
    """1.35 and 1.36 take a slice with counter sets for one of every node; a pool that is incomplete ends a request for all devices."""
    counters = pool([], "n2", name="n2-counters", count=2, sharedCounters=[{"name": "card", "counters": {"a": {"value": "1"}}}])
    pools = (pool(gpus(2), "n1"), held("h", ["gpu-0"], "n1"), counters)
    asked = (device_class(), *asking(request("r", None)))
    view = cluster(node("n1"), node("n2"), *pools, *asked, minor=minor, gates={"DRAPartitionableDevices": True})
    owner = view.get(Pod, "p", "default")
    assert owner is not None
    placement = place(view, owner)
    problem = placement.devices.problem
    assert problem is not None
    (change,) = more_nodes(view, view.all(Node)[:1], False, problem)
    alone = Subject(view, None, problem.claims, problem, ())
    assert fitting(alone, change) == fitting_anywhere(alone, change) == (() if minor in (35, 36) else ("another-node-like-n1",))
    assert more_nodes_start(view, owner, placement) is False  # n2 ends every attempt
