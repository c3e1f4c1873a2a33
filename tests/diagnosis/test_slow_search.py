"""A search that the real filter cuts off after 10 s: the answer is ours all the same, and says what the scheduler will write instead."""

from __future__ import annotations

from typing import Any

import pytest

from k8s_topo_mcp.diagnosis.report import Report
from k8s_topo_mcp.diagnosis.triage import waiting_groups
from k8s_topo_mcp.dra.effort import FILTER_LIMIT, Effort
from k8s_topo_mcp.objects import Pod
from k8s_topo_mcp.scheduling.filter_timeout import limit_by
from k8s_topo_mcp.view import ClusterView

from .clusters import answered, asking, cluster, code, device_class, explained, gpus, helping, match, node, pool, request

NUMA = "resource.kubernetes.io/numaNode"


@pytest.mark.parametrize(("size", "slow"), [(4, False), (22, True)])
def test_it_is_said_where_the_scheduler_likely_times_out(size: int, slow: bool) -> None:
    devices = gpus(2 * size, **{NUMA: lambda number: number // size})
    report = explained(cluster(node("n1"), device_class(), pool(devices), *asking(request("r", size + 1), constraints=[match(NUMA)])))
    assert report.cause is not None
    assert report.verdict == "blocked"
    assert any("filter limit of 10 s on n1" in text for text in report.assumptions) is slow
    assert ("timed out trying to allocate devices" in report.check.predicted) is slow


FREE = gpus(24, **{NUMA: 0})
NIC = pool([{"name": "nic-0", "attributes": {NUMA: {"int": 1}}}], driver="nic.example.com")
TIMED_OUT = 'running "DynamicResources" filter plugin: node n1: timed out trying to allocate devices'


def beside_a_port(count: int, said: str = "", minor: int = 37, **more: Any) -> ClusterView:
    """So many of 24 GPUs of n1 are wanted beside its NIC, which is on another NUMA node; of `said` is the pod's condition."""
    condition = {"type": "PodScheduled", "status": "False", "reason": "SchedulerError", "message": said}
    status = {"phase": "Pending", **({"conditions": [condition]} if said else {})}
    classes = (device_class(), device_class("nic", 'device.driver == "nic.example.com"'))
    asked = asking(request("gpus", count), request("nic", of="nic"), constraints=[match(NUMA)], status=status)
    return cluster(node("n1"), *classes, pool(FREE), NIC, *asked, minor=minor, **more)


def test_a_search_that_the_scheduler_said_to_run_out_of_time_comes_before_what_it_would_have_found() -> None:
    view = beside_a_port(8, TIMED_OUT)
    report = explained(view)
    assert (report.verdict, code(report)) == ("aborted by an error", "FILTER_TIMEOUT")
    assert [found.code for found in report.behind] == ["CONSTRAINT_UNSATISFIABLE"]
    assert "constraint removed" in helping(report)
    assert report.check.match == "agrees"
    first = answered(view).split("\n")[0]
    assert "on n1 the scheduler's time for it runs out (2,007,097 steps) before it finds that nothing fits" in first


def test_without_a_word_of_the_scheduler_a_large_search_may_run_out_of_time() -> None:
    report = explained(beside_a_port(8))
    assert (report.verdict, code(report)) == ("blocked", "CONSTRAINT_UNSATISFIABLE")
    (told,) = report.assumptions
    assert told == "the scheduler may exceed its filter limit of 10 s on n1 (2 007 097 steps, 7 s or more) and then says that it timed out"


@pytest.mark.parametrize(
    ("count", "said"),
    [(2, TIMED_OUT), (8, TIMED_OUT.replace("n1", "n9")), (8, "0/1 nodes are available: 1 cannot allocate all claims.")],
)
def test_a_word_that_cannot_be_of_the_present_search_is_not_believed(count: int, said: str) -> None:
    assert code(explained(beside_a_port(count, said))) == "CONSTRAINT_UNSATISFIABLE"


def test_a_search_that_takes_as_long_as_one_that_ran_out_of_time_runs_out_of_it_too() -> None:
    """A new node whose search is the same ends the attempt as the old one does; a smaller question doesn't."""
    report = explained(beside_a_port(8, TIMED_OUT))
    offered = {trial.change.text for trial in report.remedies}
    assert not any(text.startswith("more nodes") or "node" in text for text in offered)
    assert any(trial.change.text.startswith("more nodes") for trial in report.not_helping)


@pytest.mark.parametrize(
    ("steps", "complete", "limit"), [(50_000_000, True, FILTER_LIMIT), (60_000, False, FILTER_LIMIT), (2_000_000, True, 6)]
)
def test_a_search_that_ran_out_of_time_gives_the_others_no_more_of_it_than_the_limit(steps: int, complete: bool, limit: float) -> None:
    """Nor does one that wasn't counted to its end tell how little is enough."""
    assert limit_by({"n1": Effort(steps, complete)}) == pytest.approx(limit)


def test_up_to_1_35_running_out_of_time_ends_no_attempt() -> None:
    assert code(explained(beside_a_port(8, TIMED_OUT, minor=35))) == "CONSTRAINT_UNSATISFIABLE"


def test_without_the_feature_the_search_has_no_limit() -> None:
    report = explained(beside_a_port(8, gates={"DRASchedulerFilterTimeout": False}))
    assert report.assumptions == ()
    assert report.check.predicted.startswith("0/1 nodes are available: 1 cannot allocate all claims.")


def test_pods_that_run_out_of_time_are_a_group_of_their_own() -> None:
    view = beside_a_port(8, TIMED_OUT)
    (group,) = waiting_groups(view, view.all(Pod))
    assert (group.judged.word, group.code) == ("error", "FILTER_TIMEOUT")


def slow_beside(minor: int, wanted: int = 2) -> Report:
    """n1 has enough NICs for request a and no GPU for b, which is found out once for each of many sets of NICs; n2 has both."""
    nics = [{"name": f"nic-{number}"} for number in range(24)]
    items = (
        *(node(name) for name in ("n1", "n2")),
        device_class("gpu"),
        device_class("nic", 'device.driver == "nic.example.com"'),
        pool(nics, "n1", driver="nic.example.com"),
        pool(nics[:12], "n2", driver="nic.example.com"),
        pool(gpus(1), "n1"),
        pool(gpus(2), "n2"),
    )
    return explained(cluster(*items, *asking(request("a", 12, of="nic"), request("b", wanted)), minor=minor))


def test_a_slow_node_ends_the_attempt_of_a_pod_that_fits_elsewhere() -> None:
    report = slow_beside(37)
    assert report.verdict == "aborted by an error"
    assert code(report) == "FILTER_TIMEOUT"
    assert report.cause is not None
    assert report.cause.finding.values["nodes"] == ("n1",)
    assert "timed out trying to allocate devices" in report.check.predicted


def test_up_to_1_35_a_slow_node_is_only_one_that_it_does_not_fit() -> None:
    report = slow_beside(35)
    assert report.verdict == "fits now"
    assert report.fits_on == ("n2",)


@pytest.mark.parametrize(("minor", "helps"), [(35, True), (36, False), (37, False)])
def test_a_change_that_fits_beside_a_slow_node_helps_only_where_that_node_does_not_end_the_attempt(minor: int, helps: bool) -> None:
    report = slow_beside(minor, wanted=3)
    offered = {trial.change.text: trial.nodes for trial in report.remedies}
    vain = {trial.change.text for trial in report.not_helping}
    assert ("count 3 → 2" in offered) is helps, (offered, vain)
    assert ("count 3 → 2" in vain) is not helps
