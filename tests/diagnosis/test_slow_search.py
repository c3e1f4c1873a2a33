"""A search that the real filter cuts off after 10 s: the answer is ours all the same, and says what the scheduler will write instead."""

from __future__ import annotations

import pytest

from k8s_topo_mcp.diagnosis.report import Report

from .clusters import asking, cluster, code, device_class, explained, gpus, match, node, pool, request

NUMA = "resource.kubernetes.io/numaNode"


@pytest.mark.parametrize(("size", "slow"), [(4, False), (22, True)])
def test_it_is_said_where_the_scheduler_likely_times_out(size: int, slow: bool) -> None:
    devices = gpus(2 * size, **{NUMA: lambda number: number // size})
    report = explained(cluster(node("n1"), device_class(), pool(devices), *asking(request("r", size + 1), constraints=[match(NUMA)])))
    assert report.cause is not None
    assert report.verdict == "blocked"
    assert any("filter limit of 10 s on n1" in text for text in report.assumptions) is slow
    assert ("timed out trying to allocate devices" in report.check.predicted) is slow


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
