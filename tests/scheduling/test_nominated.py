"""Pods that the scheduler has given a node to already count there, for pods that aren't more important."""

from __future__ import annotations

from typing import Any

import pytest

from ..diagnosis.clusters import Item, node, pod
from .placing import refusals

AFAR = {
    "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "kubernetes.io/hostname", "labelSelector": {}}]}
}


def nominated(name: str = "q", cpu: str = "6", **more: Any) -> Item:
    return pod(name, requests={"cpu": cpu}, status={"phase": "Pending", "nominatedNodeName": "n1"}, **more)


NODES = (node("n1"), node("n2"))


def test_their_requests_are_taken_from_the_node() -> None:
    waiting = pod("p", requests={"cpu": "4"})
    assert refusals(*NODES, nominated(), waiting) == {"n1": ("INSUFFICIENT_RESOURCE",), "n2": ()}


def test_a_more_important_pod_does_not_yield_to_them() -> None:
    waiting = pod("p", requests={"cpu": "4"}, priority=5)
    assert refusals(*NODES, nominated(), waiting) == {"n1": (), "n2": ()}
    assert refusals(*NODES, nominated(priority=5), waiting) == {"n1": ("INSUFFICIENT_RESOURCE",), "n2": ()}


def test_a_pod_does_not_yield_to_itself() -> None:
    waiting = pod("p", requests={"cpu": "6"}, status={"phase": "Pending", "nominatedNodeName": "n1"})
    assert refusals(*NODES, waiting) == {"n1": (), "n2": ()}


def test_their_host_ports_count() -> None:
    port = {"name": "main", "ports": [{"hostPort": 80, "containerPort": 80, "protocol": "TCP"}]}
    assert refusals(*NODES, nominated(containers=[port]), pod("p", containers=[port]))["n1"] == ("HOST_PORT_TAKEN",)


LONELY = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "none"}}}
        ]
    }
}


@pytest.mark.parametrize("minor", [34, 35, 36, 37])
def test_their_anti_affinity_counts_only_where_the_plugin_has_something_to_do_without_them(minor: int) -> None:
    """PreFilter of interpodaffinity sees running pods alone; if it returns Skip, nominated pods aren't told to it."""
    assert refusals(*NODES, nominated(affinity=AFAR), pod("p"), minor=minor)["n1"] == ()
    assert refusals(*NODES, nominated(affinity=AFAR), pod("p", affinity=LONELY), minor=minor)["n1"] == ("REFUSED_BY_POD",)
    guard = pod("guard", on="n2", affinity=AFAR)
    assert refusals(*NODES, guard, nominated(affinity=AFAR), pod("p"), minor=minor)["n1"] == ("REFUSED_BY_POD",)


def test_it_does_not_count_either_where_another_plugin_reads_all_pods() -> None:
    spread = [{"topologyKey": "kubernetes.io/hostname", "maxSkew": 9, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}]
    assert refusals(*NODES, nominated(affinity=AFAR), pod("p", topologySpreadConstraints=spread))["n1"] == ()


def test_with_the_fast_path_a_term_over_host_names_keeps_the_plugin_awake() -> None:
    idle = pod("idle", on="n2", affinity=LONELY)
    on = {"InterPodAffinityHostnameFastPath": True}
    assert refusals(*NODES, idle, nominated(affinity=AFAR), pod("p"))["n1"] == ()
    assert refusals(*NODES, idle, nominated(affinity=AFAR), pod("p"), gates=on)["n1"] == ("REFUSED_BY_POD",)
    assert refusals(*NODES, nominated(affinity=AFAR), pod("p"), gates=on)["n1"] == ()


def test_a_pod_that_has_to_be_near_one_does_not_fit_before_that_one_runs() -> None:
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "q"}}}
    near = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    chosen = nominated(cpu="1", metadata={"labels": {"app": "q"}})
    assert refusals(*NODES, chosen, pod("p", affinity=near)) == {"n1": ("POD_AFFINITY_UNMET",), "n2": ("POD_AFFINITY_UNMET",)}
