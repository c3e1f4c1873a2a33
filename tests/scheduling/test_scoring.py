"""What the score plugins give: rows with the numbers of upstream's own tables where it has them."""

from __future__ import annotations

from typing import Any

import pytest

from k8s_topo_mcp.objects import Node, Pod
from k8s_topo_mcp.scheduling import dynamic_resources, scoring
from k8s_topo_mcp.scheduling.node_info import node_info
from k8s_topo_mcp.scheduling.placement import place
from k8s_topo_mcp.scheduling.scoring import (
    Candidate,
    inter_pod_affinity,
    node_affinity,
    node_resources_balanced_allocation,
    node_resources_fit,
    pod_topology_spread,
    taint_toleration,
)
from k8s_topo_mcp.scheduling.scoring.candidate import normalized
from k8s_topo_mcp.view import ClusterView

from ..diagnosis.clusters import Item, claim, cluster, device_class, either, exactly, gpus, node, owned_by, pod, pool, replicated

HOST = "kubernetes.io/hostname"


def sized(name: str, cpu: str, memory: str) -> Item:
    return node(name, allocatable={"cpu": cpu, "memory": memory})


def waiting(view: ClusterView) -> Pod:
    found = view.get(Pod, "p", "default")
    assert found is not None
    return found


def of_each(view: ClusterView, score: Any) -> list[int]:
    return [score(waiting(view), node_info(view, there)) for there in view.all(Node)]


def candidates(view: ClusterView) -> list[Candidate]:
    return [Candidate(node_info(view, there)) for there in view.all(Node)]


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([sized("n1", "4000", "10000"), sized("n2", "6000", "10000"), pod("p", requests={"cpu": "3000", "memory": "5000"})], [37, 50]),
        ([sized("n1", "4000", "10000000000"), sized("n2", "4000", "10000000000"), pod("p")], [98, 98]),
        (
            [
                sized("n1", "10000", "20000000000"),
                pod("a", on="n1", requests={"cpu": "3000", "memory": "0"}),
                pod("b", on="n1", requests={"cpu": "3000", "memory": "5000000000"}),
                pod("p", requests={"cpu": "0", "memory": "0"}),
            ],
            [57],
        ),
    ],
)
def test_what_is_left_of_cpu_and_memory_counts(items: list[Item], expected: list[int]) -> None:
    view = cluster(*items)
    assert of_each(view, lambda own, info: node_resources_fit.score(own, info, view.release)) == expected


def test_containers_that_ask_for_nothing_count_as_a_little() -> None:
    view = cluster(pod("p", containers=[{"name": "a", "resources": {"requests": {"cpu": "1"}}}, {"name": "b"}]))
    assert node_resources_fit.non_zero_requests(waiting(view)) == (1100, 2 * 200 * 2**20)


@pytest.mark.parametrize(("minor", "expected"), [(35, [75, 100]), (36, [62, 87]), (37, [62, 87])])
def test_balance_is_of_the_node_before_1_36_and_of_the_change_since(minor: int, expected: list[int]) -> None:
    view = cluster(
        sized("n1", "10", "10Gi"),
        sized("n2", "10", "20Gi"),
        pod("a", on="n2", requests={"memory": "10Gi"}),
        pod("p", requests={"cpu": "5"}),
        minor=minor,
    )
    assert of_each(view, lambda own, info: node_resources_balanced_allocation.score(own, info, minor)) == expected


def test_a_pod_that_asks_for_neither_has_no_balance() -> None:
    view = cluster(sized("n1", "10", "10Gi"), pod("p"))
    assert of_each(view, lambda own, info: node_resources_balanced_allocation.score(own, info, 37)) == [0]


def test_preferring_taints_are_counted_in_reverse() -> None:
    soft = {"key": "dear", "effect": "PreferNoSchedule"}
    view = cluster(node("n1"), node("n2", taints=[soft]), node("n3", taints=[soft, {**soft, "key": "old"}]), pod("p"))
    state = taint_toleration.prepare(view)
    assert state is False
    assert taint_toleration.score(state, waiting(view), candidates(view)) == [100, 50, 0]


def test_preferred_terms_add_up() -> None:
    def term(weight: int, key: str) -> Item:
        return {"weight": weight, "preference": {"matchExpressions": [{"key": key, "operator": "Exists"}]}}

    wishes = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term(2, "a"), term(5, "b")]}}
    view = cluster(node("n1", labels={"a": ""}), node("n2", labels={"a": "", "b": ""}), node("n3"), pod("p", affinity=wishes))
    assert node_affinity.score(waiting(view), candidates(view)) == [28, 100, 0]


def spread(view: ClusterView) -> list[int]:
    own = waiting(view)
    state = pod_topology_spread.prepare(view, own)
    assert isinstance(state, pod_topology_spread.SoftSpread)
    return pod_topology_spread.score(state, view, own, candidates(view), ())


@pytest.mark.parametrize(("skew", "expected"), [(1, [20, 60, 100, 0]), (2, [33, 66, 100, 16])])
def test_soft_spread_prefers_domains_with_fewer_pods(skew: int, expected: list[int]) -> None:
    constraint = {
        "maxSkew": skew,
        "topologyKey": HOST,
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchExpressions": [{"key": "foo", "operator": "Exists"}]},
    }
    foo = {"labels": {"foo": ""}}
    items = [node(name) for name in ("a", "b", "c", "d")]
    items += [pod(f"x-{on}-{place}", on=on, metadata=foo) for on, count in (("a", 2), ("b", 1), ("d", 3)) for place in range(count)]
    view = cluster(*items, pod("p", metadata=foo, topologySpreadConstraints=[constraint]))
    assert spread(view) == expected


def test_pods_of_a_replica_set_are_spread_by_default() -> None:
    made = replicated("ReplicaSet", "r", app="r")
    here, next_one = (owned_by(pod(name, on=on, metadata={"labels": {"app": "r"}}), made) for name, on in (("a", "n1"), ("p", "")))
    first, second = spread(cluster(node("n1"), node("n2"), made, here, next_one))
    assert first < second


def test_wishes_of_pods_that_are_there_count_for_the_one_that_comes() -> None:
    term = {"labelSelector": {"matchLabels": {"app": "p"}}, "topologyKey": HOST}
    apart = {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 10, "podAffinityTerm": term}]}}
    near = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    view = cluster(
        *(node(name) for name in ("n1", "n2", "n3")),
        pod("a", on="n1", affinity=apart),
        pod("b", on="n2", affinity=near),
        pod("p", metadata={"labels": {"app": "p"}}),
    )
    worth = inter_pod_affinity.prepare(view, waiting(view), ())
    assert isinstance(worth, dict)
    assert worth == {(HOST, "n1"): -10, (HOST, "n2"): 1}
    assert inter_pod_affinity.score(worth, candidates(view)) == [0, 100, 90]


@pytest.mark.parametrize(("minor", "expected"), [(34, [0, 0]), (35, [200, 174]), (37, [200, 174])])
def test_earlier_alternatives_win(minor: int, expected: list[int]) -> None:
    asked = claim("c", either("r", exactly(4), exactly(2)))
    gates = {"DRAPrioritizedList": True}
    view = cluster(
        node("n1"), pool(gpus(4), "n1"), node("n2"), pool(gpus(2), "n2"), device_class(), asked, pod("p", ("c",)), minor=minor, gates=gates
    )
    own = waiting(view)
    placement = place(view, own)
    found = [Candidate(node_info(view, entry.node), entry.outcome) for entry in placement.fitting]
    assert scoring.among(view, own, dynamic_resources.prepare(view, own), found) == expected


def test_normalized_counts_reach_a_hundred() -> None:
    assert normalized([1, 2, 4]) == [25, 50, 100]
    assert normalized([0, 0]) == [0, 0]
    assert normalized([0, 0], reverse=True) == [100, 100]
