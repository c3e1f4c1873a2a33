"""Pods that have what a node lacks: which of them are named, and in which order."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest

from k8s_topo_mcp.diagnosis.resource_users import MOST, users
from k8s_topo_mcp.findings import Finding, finding
from k8s_topo_mcp.objects import Node, Pod, Quantity
from k8s_topo_mcp.view import ClusterView, Delete, Replace
from k8s_topo_mcp.view.indices import pods_on

from .clusters import Item, answered, cluster, code, explained, helping, node, pod
from .test_counted_devices import RESOURCE, counting, using


def test_the_smallest_pod_that_frees_enough_by_itself_is_the_first_to_end() -> None:
    pods = (using("large", 5, on="n1"), using("enough", 2, on="n1"), using("little", 1, on="n1"))
    report = explained(cluster(counting("n1", 8, 8), *pods, using("p", 2)))
    assert [holder.pods for holder in report.holders] == [("default/enough",), ("default/large",), ("default/little",)]
    assert "pod default/little ends" not in helping(report)


def test_of_cpu_only_pods_whose_end_is_enough_are_named() -> None:
    pods = (
        pod("large", on="n1", requests={"cpu": "4"}),
        pod("enough", on="n1", requests={"cpu": "2500m"}),
        pod("little", on="n1", requests={"cpu": "1"}),
    )
    view = cluster(node("n1"), *pods, pod("p", requests={"cpu": "2500m"}))  # of 8 CPUs half a one is left
    report = explained(view)
    assert (report.verdict, code(report)) == ("blocked by holders", "INSUFFICIENT_RESOURCE")
    assert [holder.pods for holder in report.holders] == [("default/enough",), ("default/large",)]
    assert helping(report)["pod default/enough ends (2500m cpu)"] == ("n1",)
    assert "held by    pod default/enough" in answered(view)


@pytest.mark.parametrize("kind", ["DaemonSet", "Node"])
def test_a_pod_that_comes_back_on_its_node_is_no_holder(kind: str) -> None:
    owner = {"apiVersion": "v1", "kind": kind, "name": "owner", "uid": "u1", "controller": True}
    taking = pod("a", on="n1", requests={"cpu": "6"})
    taking["metadata"]["ownerReferences"] = [owner]
    report = explained(cluster(node("n1"), taking, pod("p", requests={"cpu": "4"})))
    assert (report.verdict, report.holders) == ("blocked", ())


def test_where_the_end_of_no_pod_is_enough_cpu_has_no_holders() -> None:
    taking = pod("a", on="n1", requests={"cpu": "6"})
    waiting = pod("p", requests={"cpu": "4"}, nodeSelector={"zone": "x"})
    report = explained(cluster(node("n1"), taking, waiting))
    assert (report.verdict, report.holders) == ("blocked", ())


def test_a_pod_of_a_pair_that_is_none_of_the_first_users_is_told_with_what_it_has() -> None:
    full, nearer = (node(name, allocatable={"pods": "110", RESOURCE: offered}) for name, offered in (("n1", "48"), ("n2", "5")))
    large = [using(f"large-{number}", 3, on="n1") for number in range(MOST)]
    small = [using(f"small-{number}", 1, on="n2") for number in range(3)]
    report = explained(cluster(full, nearer, *large, *small, using("p", 4)))
    assert code(report) == "INSUFFICIENT_RESOURCE"
    assert helping(report)["pods default/small-0 and default/small-1 end"] == ("n2",)
    assert {holder.pods[0]: holder.devices for holder in report.holders if "small" in holder.pods[0]} == {
        f"default/small-{number}": 1 for number in range(3)
    }


AMOUNTS = {"cpu": ("0", "100m", "250m", "1", "1500m", "2", "3"), "example.com/gpu": ("0", "1", "2", "4")}


def expected(view: ClusterView, found: Finding) -> list[tuple[str, bool]]:
    """By the definition: every pod of every node looked at, and sorted."""
    resource, counted = found.text("resource"), "/" in found.text("resource")
    asked, ranked = Quantity.parse(found.text("asked")).value, list[tuple[tuple[bool, int | Fraction], str, bool]]()
    for place in view.all(Node):
        own = [(entry, entry.requests()[resource].value) for entry in pods_on(view, place.name) if resource in entry.requests()]
        free = place.allocatable[resource].value - sum(amount for _, amount in own)
        for entry, amount in own:
            alone = free + amount >= asked
            if amount and entry.metadata.controller is None and (alone or counted):
                ranked.append(((not alone, amount if alone else -amount), entry.name, alone))
    return [(name, alone) for _, name, alone in sorted(ranked, key=lambda row: row[0])[:MOST]]


@pytest.mark.parametrize("resource", AMOUNTS)
@pytest.mark.parametrize("seed", range(20))
def test_users_are_those_that_looking_at_every_pod_finds_also_after_pods_came_and_went(seed: int, resource: str) -> None:
    draw, daemon = Random(seed), [{"apiVersion": "v1", "kind": "DaemonSet", "name": "d", "uid": "u", "controller": True}]

    def placed(on: str, number: int) -> Item:
        made = pod(f"{on}-{number}", on=on, requests={resource: draw.choice(AMOUNTS[resource])})
        return made if draw.random() < 0.7 else {**made, "metadata": {**made["metadata"], "ownerReferences": daemon}}

    nodes = [node(f"n{number}", allocatable={resource: "8"}) for number in range(4)]
    view = cluster(*nodes, *(placed(f"n{number}", other) for number in range(4) for other in range(draw.randint(0, 7))))
    for _ in range(4):
        asked = draw.choice(AMOUNTS[resource][1:])
        found = finding("INSUFFICIENT_RESOURCE", None, "", resource=resource, asked=asked, free="0", allocatable="8")
        assert [(user.pod.name, user.alone) for user in users(view, found, view.all(Node))] == expected(view, found)
        there = view.all(Pod)
        if there:
            gone, other = draw.choice(there), draw.choice(there)
            moved = replace(other, node_name=f"n{draw.randrange(4)}")
            view = view.with_edits(Delete(gone), *((Replace(moved),) if other is not gone else ()))
