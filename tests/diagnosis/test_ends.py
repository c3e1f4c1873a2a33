"""Pods that end: what goes with them, and which two of one node are enough together."""

from __future__ import annotations

import pytest

from k8s_topo_mcp.diagnosis.ends import NODES, PAIRS, ended_by, pairs
from k8s_topo_mcp.diagnosis.report import Report
from k8s_topo_mcp.objects import Pod
from k8s_topo_mcp.scheduling.placement import place
from k8s_topo_mcp.view import ClusterView

from .clusters import Item, answered, asking, cluster, code, device_class, explained, gpus, held, helping, node, pod, pool, vain
from .test_trials import all_agree

HERE = (node("n1"), device_class(), pool(gpus(2)))
"""Eight CPUs and two devices."""


def ends(report: Report) -> dict[str, tuple[str, ...]]:
    return {text: nodes for text, nodes in helping(report).items() if text.endswith(" end")}


def holding(name: str, devices: list[str], cpu: str, on: str = "n1") -> tuple[Item, Item]:
    return held(f"c-{name}", devices, on, name), pod(name, (f"c-{name}",), on=on, requests={"cpu": cpu})


def test_where_one_pod_has_the_cpu_and_another_the_devices_both_have_to_end() -> None:
    view = cluster(*HERE, *holding("b", ["gpu-0", "gpu-1"], "2"), pod("a", on="n1", requests={"cpu": "5"}), *asking(requests={"cpu": "5"}))
    report = explained(view)
    assert (report.verdict, code(report)) == ("blocked by holders", "INSUFFICIENT_RESOURCE")
    assert ends(report) == {"pods default/b and default/a end": ("n1",)}
    assert "pod default/a ends (5 cpu)" in vain(report)
    assert {(holder.pods, holder.devices) for holder in report.holders} == {(("default/a",), 0), (("default/b",), 2)}
    assert "held by    pod default/b (2 devices)" in answered(view)
    all_agree(view, report)


def test_two_pods_that_have_half_of_what_lacks_each_end_together() -> None:
    halves = [pod(name, on="n1", requests={"cpu": "3"}) for name in ("a", "b")]
    report = explained(cluster(node("n1"), *halves, pod("c", on="n1", requests={"cpu": "1"}), pod("p", requests={"cpu": "7"})))
    assert ends(report) == {"pods default/a and default/b end": ("n1",)}
    assert report.verdict == "blocked by holders"


def test_two_pods_that_have_half_of_what_lacks_on_different_nodes_are_not_enough() -> None:
    items = [item for on in ("n1", "n2") for item in (node(on), *(pod(f"{on}-{name}", on=on, requests={"cpu": "2"}) for name in "abcd"))]
    report = explained(cluster(*items, pod("p", requests={"cpu": "5"})))
    assert (report.verdict, ends(report), report.holders) == ("blocked", {}, ())


def test_where_the_end_of_one_pod_is_enough_no_two_are_told() -> None:
    pods = [pod(name, on="n1", requests={"cpu": amount}) for name, amount in (("a", "4"), ("b", "2"), ("c", "2"))]
    report = explained(cluster(node("n1"), *pods, pod("p", requests={"cpu": "4"})))
    assert "pod default/a ends (4 cpu)" in helping(report)
    assert ends(report) == {}


def test_with_a_pod_go_the_devices_of_its_claim() -> None:
    view = cluster(*HERE, *holding("a", ["gpu-0", "gpu-1"], "6"), *asking(requests={"cpu": "5"}))
    report = explained(view)
    assert helping(report)["pod default/a ends (6 cpu)"] == ("n1",)
    all_agree(view, report)


def test_a_claim_that_another_pod_has_too_keeps_its_devices() -> None:
    claim, first = holding("a", ["gpu-0", "gpu-1"], "6")
    claim["status"]["reservedFor"].append({"resource": "pods", "name": "b", "uid": "uid-b"})
    both = (claim, first, pod("b", ("c-a",), on="n1"))
    report = explained(cluster(*HERE, *both, *asking(requests={"cpu": "5"})))
    assert "pod default/a ends (6 cpu)" in vain(report)
    assert ends(report) == {"pods default/a and default/b end": ("n1",)}


@pytest.mark.parametrize("kind", ["DaemonSet", "Node"])
def test_a_pod_that_comes_back_on_its_node_is_in_no_pair(kind: str) -> None:
    taking = pod("a", on="n1", requests={"cpu": "5"})
    taking["metadata"]["ownerReferences"] = [{"apiVersion": "v1", "kind": kind, "name": "owner", "uid": "u1", "controller": True}]
    report = explained(cluster(*HERE, *holding("b", ["gpu-0", "gpu-1"], "2"), taking, *asking(requests={"cpu": "5"})))
    assert (report.verdict, ends(report)) == ("blocked", {})


def test_a_pod_that_has_the_port_and_one_that_has_the_cpu_end_together() -> None:
    def with_port(name: str, **more: object) -> Item:
        item = pod(name, **more)  # type: ignore[arg-type]
        item["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80}]
        return item

    items = (node("n1"), with_port("a", on="n1"), pod("b", on="n1", requests={"cpu": "6"}), with_port("p", requests={"cpu": "4"}))
    view = cluster(*items)
    report = explained(view)
    assert ends(report) == {"pods default/a and default/b end": ("n1",)}
    all_agree(view, report)


def test_no_pair_is_told_where_the_node_is_closed_for_more_than_its_pods() -> None:
    taint = {"key": "team", "value": "b", "effect": "NoSchedule"}
    halves = [pod(name, on="n1", requests={"cpu": "3"}) for name in ("a", "b")]
    report = explained(cluster(node("n1", taints=[taint]), *halves, pod("p", requests={"cpu": "7"})))
    assert ends(report) == {}


def test_of_pairs_that_are_enough_the_one_that_frees_the_least_of_what_lacks_is_the_first() -> None:
    amounts = {"large": ("6", "1Gi"), "a": ("1", "1Gi"), "b": ("1", "1025Mi")}
    there = [pod(name, on="n1", requests={"cpu": cpu, "memory": memory}) for name, (cpu, memory) in amounts.items()]
    big = node("n1", allocatable={"cpu": "8", "memory": "3073Mi"})
    report = explained(cluster(big, *there, pod("p", requests={"cpu": "2", "memory": "2Gi"})))
    assert next(iter(ends(report))) == "pods default/b and default/a end"


def test_as_many_pairs_as_the_bounds_say_are_tried_at_most() -> None:
    view = crowded(nodes=12, pods=20)
    waiting = view.get(Pod, "p", "default")
    assert waiting is not None
    assert len(list(pairs(view, waiting, tuple(place(view, waiting).nodes.values())))) == NODES * PAIRS


def crowded(nodes: int, pods: int) -> ClusterView:
    """Nodes with many pods of a CPU each, any two of which are enough."""
    big = {"cpu": str(pods), "pods": "110"}
    there = [node(f"n{place}", allocatable=big) for place in range(nodes)]
    running = [pod(f"r{place}-{number}", on=f"n{place}", requests={"cpu": "1"}) for place in range(nodes) for number in range(pods)]
    return cluster(*there, *running, pod("p", requests={"cpu": "2"}))


def test_of_a_pod_that_is_ending_already_it_is_told_to_wait_for_it() -> None:
    going = {"metadata": {"name": "a", "namespace": "default", "uid": "uid-a", "deletionTimestamp": "2026-11-29T12:10:00Z"}}
    first = pod("a", on="n1", requests={"cpu": "3"}) | going
    second = pod("b", on="n1", requests={"cpu": "3"})
    report = explained(cluster(node("n1"), first, second, pod("p", requests={"cpu": "4"})))
    assert [trial.change.apply for trial in report.remedies if ended_by(trial.change)] == [
        "nothing is to be changed: wait for pod default/a, ending already",
        "end or move pod default/b",
    ]
    told = answered(cluster(node("n1"), first, second, pod("p", requests={"cpu": "7"})))
    assert "end or move pod default/b; wait for pod default/a, ending already" in told


def test_a_finalizer_is_no_reason_not_to_wait_for_a_pod_while_its_grace_period_lasts() -> None:
    head = {"deletionTimestamp": "2026-11-29T12:10:00Z", "finalizers": ["example.com/x"]}
    gone = pod("a", on="n1", requests={"cpu": "6"}, metadata=head)
    told = answered(cluster(node("n1"), gone, pod("p", requests={"cpu": "4"})))
    assert "nothing is to be changed: wait for pod default/a, ending already" in told
    assert "finalizers" not in told


@pytest.mark.parametrize(
    ("more", "why"), [({"finalizers": ["example.com/x"]}, "its finalizers, or its node's kubelet"), ({}, "its node's kubelet")]
)
def test_of_a_pod_that_is_deleted_and_does_not_end_it_is_not_told_to_wait_for_it(more: Item, why: str) -> None:
    more = {"deletionTimestamp": "2026-11-28T12:00:00Z", **more}
    gone = pod("a", on="n1", requests={"cpu": "6"}) | {"metadata": {"name": "a", "namespace": "default", "uid": "uid-a", **more}}
    told = answered(cluster(node("n1"), gone, pod("p", requests={"cpu": "4"})))
    assert f"see why pod default/a is deleted and doesn't end: {why}" in told
    assert "nothing is to be changed" not in told
