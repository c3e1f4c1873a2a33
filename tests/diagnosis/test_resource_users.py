"""Pods that have what a node lacks: which of them are named, and in which order."""

from __future__ import annotations

import pytest

from .clusters import answered, cluster, code, explained, helping, node, pod
from .test_counted_devices import counting, using


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
