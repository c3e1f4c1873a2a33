"""explain_pending as a caller meets it: finding the pod, the words, the groups of all that wait, the budgets."""

from __future__ import annotations

import json
from typing import Any

import pytest

from k8s_topo_mcp.rendering import tokens
from k8s_topo_mcp.rendering.budget import ANSWER
from k8s_topo_mcp.tools.asking import ask
from k8s_topo_mcp.tools.catalogue import find
from k8s_topo_mcp.tools.errors import Ambiguous, NotFound, ToolInputError
from k8s_topo_mcp.tools.models import Answer
from k8s_topo_mcp.view import ClusterView
from tests.diagnosis.clusters import STANDARD, Item, asking, claim, cluster, device_class, gpus, held, match, node, pod, pool, request

HERE = (node("n1"), node("n2"), device_class(), pool(gpus(4), "n1"), pool(gpus(4), "n2"))
MOST = 450
"""Tokens of a text about one pod, with everything there is to say."""


def asked(view: ClusterView, **arguments: Any) -> Answer:
    return ask(find("explain_pending"), view, arguments)


def headline(view: ClusterView, **arguments: Any) -> str:
    return asked(view, **arguments).report.split("\n")[0]


def size(answer: Answer) -> int:
    return tokens(json.dumps(answer.structured(), ensure_ascii=False, separators=(",", ":")))


def other(name: str, namespace: str) -> Item:
    item = pod(name)
    item["metadata"]["namespace"] = namespace
    return item


def test_a_pod_that_does_not_exist_names_the_nearest() -> None:
    with pytest.raises(NotFound, match=r'pod "default/trainer" not found\. Nearest: default/trainer-0 \(Pending\)'):
        asked(cluster(*HERE, pod("trainer-0")), pod="default/trainer")


def test_a_name_in_two_namespaces_is_ambiguous_and_says_how_to_ask() -> None:
    with pytest.raises(Ambiguous, match=r'exists in 2 namespaces: .*Call explain_pending\(pod="default/p"\)'):
        asked(cluster(*HERE, pod("p"), other("p", "team")), pod="p")


def test_a_namespace_beside_another_in_the_name_is_refused() -> None:
    with pytest.raises(NotFound, match="give one of the two"):
        asked(cluster(*HERE, pod("p")), pod="default/p", namespace="team")


def test_a_pod_that_runs_is_said_to_run() -> None:
    assert (
        headline(cluster(*HERE, pod("p", on="n1")), pod="p")
        == "default/p is not pending: it is running on node n1, not ready. No problem found."
    )


def test_the_first_line_says_what_is_wanted_and_what_there_is() -> None:
    line = headline(cluster(*HERE, *asking(request("r", 5))), pod="p")
    assert line.startswith(
        "default/p is blocked on every node: claim default/c wants 5 devices of class gpu on one node; no node has more than 4"
    )


def test_requests_of_several_claims_that_compete_are_the_pods_and_not_those_of_one_claim() -> None:
    claims = (claim("a", request("r", 3)), claim("b", request("r", 2)))
    said = headline(cluster(*HERE, *claims, pod("p", ("a", "b"))), pod="p")
    assert said == (
        "default/p is blocked on every node: it wants requests r of a, r of b on one node; each fits alone, but not all of them together."
    )


def test_a_release_that_misses_a_solution_says_so_first() -> None:
    numa = f"{STANDARD}/numaNode"
    use = {"consumesCounters": [{"counterSet": "card", "counters": {"m": {"value": "10"}}}]}
    devices = gpus(3, STD__numaNode=lambda number: number % 2)
    devices[1] |= use
    devices[2] |= use
    counters = pool([], name="sets", count=2, sharedCounters=[{"name": "card", "counters": {"m": {"value": "10"}}}])
    items = (node("n1"), device_class(), pool(devices, count=2), counters, *asking(request("r", 2), constraints=[match(numa)]))
    view = cluster(*items, minor=35, gates={"DRAPartitionableDevices": True})
    assert headline(view, pod="p").startswith("default/p: a solution exists, but this release misses it. A candidate that a taint")


def owned(name: str, count: int) -> list[Item]:
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "uid-train", "controller": True}
    return [claim(f"c-{name}", request("r", count)), pod(name, (f"c-{name}",), metadata={"ownerReferences": [owner]})]


JOB: Item = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train", "namespace": "default", "uid": "uid-train"}, "spec": {}}


def test_a_workload_with_one_pod_is_that_pod() -> None:
    assert headline(cluster(*HERE, JOB, *owned("a", 5)), workload="Job/default/train").startswith("default/a is blocked")


def test_a_workload_with_several_pods_is_grouped() -> None:
    report = asked(cluster(*HERE, JOB, *owned("a", 5), *owned("b", 5)), workload="Job/default/train").report
    assert report.startswith("2 pods wait to be scheduled, for 1 cause.")


def test_a_workload_without_pods_says_so() -> None:
    assert headline(cluster(*HERE, JOB, pod("x")), workload="Job/train") == (
        "Job default/train: no pod has been made for it: its controller has said nothing of it."
    )


def test_a_workload_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(NotFound, match="no pod names it as its owner either"):
        asked(cluster(*HERE, pod("x")), workload="Job/default/nope")


def test_a_misspelt_workload_names_the_nearest_of_its_kind_and_namespace_first() -> None:
    other = {**JOB, "metadata": {"name": "train", "namespace": "team", "uid": "u2"}}
    with pytest.raises(NotFound, match=r"Nearest: Job/default/train, Job/team/train\.$"):
        asked(cluster(*HERE, other, JOB, pod("x")), workload="Job/default/trian")


@pytest.mark.parametrize("kind", ["job", "jobs", "Jobs", "JOB"])
def test_the_kind_of_a_workload_is_taken_in_any_case(kind: str) -> None:
    assert headline(cluster(*HERE, JOB, pod("x")), workload=f"{kind}/default/train").startswith("Job default/train: no pod")


def test_a_pod_beside_a_workload_is_refused() -> None:
    with pytest.raises(ToolInputError, match="pod and workload are both given; give one"):
        asked(cluster(*HERE, JOB, pod("x")), workload="Job/default/train", pod="x")


@pytest.mark.parametrize("given", ["a/b/c", "/c", "default/"])
def test_a_pod_of_another_form_is_told_the_form(given: str) -> None:
    with pytest.raises(NotFound, match=r'pod must be "NAME" or "NAMESPACE/NAME", not'):
        asked(cluster(*HERE, pod("c")), pod=given)


def test_pods_that_wait_for_one_cause_are_one_group() -> None:
    items = [
        item for place in range(6) for item in (claim(f"c{place}", request("r", 5 if place < 4 else 1)), pod(f"p{place}", (f"c{place}",)))
    ]
    answer = asked(cluster(*HERE, *items)).structured()
    assert [(group["pods"], group["code"]) for group in answer["overview"]["groups"]] == [(4, "NOT_ENOUGH_DEVICES"), (2, "FITS_NOW")]


def test_names_from_the_cluster_are_cleaned_of_what_does_not_show() -> None:
    gate = "evil\u202e\x1b[31m/gate"
    report = asked(cluster(*HERE, *asking(request("r", 5), schedulingGates=[{"name": gate}])), pod="p").report
    assert "\u202e" not in report
    assert "\x1b" not in report


def crowded() -> ClusterView:
    """Long names, many holders, two constraints, several requests."""
    devices = gpus(8, STD__numaNode=lambda number: number // 4, STD__pcieRoot=lambda number: f"pci{number // 2}")
    names = [f"node-with-a-rather-long-name-{place:04}" for place in range(24)]
    nodes = [item for name in names for item in (node(name), pool(devices, name))]
    holders = [
        held(f"claim-with-a-long-name-{name}-{place}", [f"gpu-{place}"], name, f"pod-{name}-{place}")
        for name in names
        for place in range(4)
    ]
    pods = [pod(f"pod-{name}-{place}", (f"claim-with-a-long-name-{name}-{place}",), on=name) for name in names for place in range(4)]
    claims = asking(
        request("first", 3),
        request("second", 2),
        constraints=[match(f"{STANDARD}/numaNode"), match(f"{STANDARD}/pcieRoot", "second")],
    )
    return cluster(device_class(), *nodes, *holders, *pods, *claims)


@pytest.mark.parametrize("detail", ["short", "full"])
def test_the_budgets_hold_with_everything_there_is_to_say(detail: str) -> None:
    answer = asked(crowded(), pod="p", detail=detail)
    assert size(answer) <= ANSWER
    assert detail == "full" or tokens(answer.report) <= MOST, answer.report
