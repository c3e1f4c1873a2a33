"""How many nodes it takes: in any way, and in the scheduler's."""

from __future__ import annotations

from k8s_topo_mcp.scaleup.node_counts import NodeCounts, node_counts
from k8s_topo_mcp.scaleup.template import NodeTemplate

from ..diagnosis.clusters import Item, claim, cluster, device_class, match, node, partitioned, pod, pool, request
from ..diagnosis.gangs import ON, members, pod_group
from .templates import plain, pods, template

NUMA = "resource.kubernetes.io/numaNode"


def counted(kind: NodeTemplate, *items: Item, **more: object) -> NodeCounts:
    view = cluster(device_class(), *items, **more)  # type: ignore[arg-type]
    return node_counts(view, pods(view), kind)


def test_scores_spread_small_pods_so_that_a_large_one_needs_a_node_more() -> None:
    found = counted(template(), plain("a-0", "1"), plain("a-1", "1"), plain("b", "8"))
    assert (found.least, found.exact, found.scheduler, found.tie) == (2, True, 3, False)


def test_both_numbers_agree_where_nothing_is_broken_up() -> None:
    found = counted(template(), *(plain(f"a-{number}", "4") for number in range(4)))
    assert (found.least, found.exact, found.scheduler) == (2, True, 2)


def test_room_on_nodes_that_are_there_counts() -> None:
    found = counted(template(), node("n1"), *(plain(f"a-{number}", "4") for number in range(4)))
    assert (found.least, found.scheduler) == (1, 1)
    found = counted(template(), node("n1"), plain("a", "4"))
    assert (found.least, found.exact, found.scheduler) == (0, True, 0)


def test_a_pod_that_no_such_node_takes_needs_no_number() -> None:
    found = counted(template(), plain("a", "4"), plain("b", "9"))
    assert found.least is None
    assert [pod.name for pod in found.nowhere] == ["b"]


def test_devices_count_node_by_node() -> None:
    items = [item for number in range(3) for item in (claim(f"c-{number}", request(count=3)), pod(f"p-{number}", (f"c-{number}",)))]
    found = counted(template(4), *items)
    assert (found.least, found.exact, found.scheduler) == (3, True, 3)


def test_constraints_and_other_pods_choose_devices_together() -> None:
    """Four GPUs, two a NUMA node: two pairs of one NUMA node fit on one node, a pair and two single ones too."""
    pair = [match(NUMA)]
    items = [claim("a", request(count=2), constraints=pair), pod("p-0", ("a",)), claim("b", request(count=2), constraints=pair)]
    found = counted(template(4), *items, pod("p-1", ("b",)))
    assert (found.least, found.exact, found.scheduler) == (1, True, 1)


def test_first_fit_of_devices_can_cost_a_node() -> None:
    """Three GPUs a NUMA node: the first two pods break up the first one, so that only one pair is left. One each would have left two."""
    items = [claim("a", request()), pod("p-0", ("a",)), claim("b", request()), pod("p-1", ("b",))]
    items += [claim(f"q{n}", request(count=2), constraints=[match(NUMA)]) for n in (0, 1)]
    items += [pod("q-0", ("q0",)), pod("q-1", ("q1",))]
    found = counted(template(6), *items)
    assert (found.least, found.exact, found.scheduler) == (1, True, 2)


def test_partitions_that_exclude_each_other_count() -> None:
    half = 'device.attributes["gpu.example.com"].type == "half"'
    whole = 'device.attributes["gpu.example.com"].type == "whole"'
    kind = template(0, *partitioned("t"))
    items = [claim("a", request("r", 1, half)), pod("p-0", ("a",)), claim("b", request("r", 1, whole)), pod("p-1", ("b",))]
    found = counted(kind, *items)
    assert (found.least, found.exact, found.scheduler) == (2, True, 2)


def test_anti_affinity_needs_a_node_each() -> None:
    term = {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "kubernetes.io/hostname"}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    found = counted(template(), *(plain(f"a-{n}", "1", metadata={"labels": {"app": "x"}}, affinity=apart) for n in range(3)))
    assert (found.least, found.scheduler) == (3, 3)


def test_a_gang_needs_room_for_all() -> None:
    view = cluster(device_class(), pod_group(4), *members(4, request(count=2)), gates=ON)
    found = node_counts(view, pods(view), template(4))
    assert (found.least, found.exact, found.scheduler) == (2, True, 2)


def test_a_tie_between_different_nodes_is_played_both_ways() -> None:
    """Two nodes with equal scores for the small pod, of which only one could take the large one with the GPU."""
    items = [
        node("n1"),
        node("n2"),
        pool([{"name": "gpu-0"}], "n2"),
        plain("a", "1"),
        claim("c", request()),
        pod("b", ("c",), requests={"cpu": "8"}),
    ]
    found = counted(template(1), *items)
    assert found.tie
    assert found.ways > 1
    assert found.all_ways
    assert (found.least, found.scheduler) == (0, 1)


def test_a_tie_between_nodes_that_are_alike_is_none() -> None:
    found = counted(template(), node("n1"), node("n2"), plain("a", "1"), plain("b", "8"))
    assert not found.tie
    assert found.scheduler == 0


def test_pods_of_which_nothing_is_known_are_left_out() -> None:
    kind = template(devices_known=False)
    found = counted(kind, claim("c", request()), pod("p", ("c",)), plain("a", "8"))
    assert [(pod.name, bool(why)) for pod, why in found.undecided] == [("p", True)]
    assert (found.least, found.scheduler) == (1, 1)


def test_nothing_that_waits_needs_nothing() -> None:
    assert counted(template()).scheduler == 0


def test_room_that_a_pod_keeps_by_its_nomination_counts_only_until_it_goes_elsewhere() -> None:
    """It is nominated to n1, and can go to n2 alone; the other one can go to n1 alone."""
    host = "kubernetes.io/hostname"
    stale = {"phase": "Pending", "nominatedNodeName": "n1"}
    kept = plain("b", "5", nodeSelector={host: "n2"}, status=stale)
    found = counted(template(), node("n1"), node("n2"), plain("a", "5", nodeSelector={host: "n1"}), kept)
    assert (found.nowhere, found.least, found.exact, found.scheduler) == ((), 0, True, 0)
