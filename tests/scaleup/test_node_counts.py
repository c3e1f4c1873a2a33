"""How many nodes it takes: in any way, and in the scheduler's."""

from __future__ import annotations

from k8s_topo_mcp.scaleup.node_counts import MOST_NODES, STEP_BY_STEP, NodeCounts, at_least, node_counts
from k8s_topo_mcp.scaleup.template import NodeTemplate

from ..diagnosis.clusters import Item, claim, cluster, device_class, gpus, match, node, partitioned, pod, pool, request
from ..diagnosis.gangs import ON, members, pod_group
from .templates import plain, pods, template

NUMA = "resource.kubernetes.io/numaNode"


def counted(kind: NodeTemplate, *items: Item, most: int = MOST_NODES) -> NodeCounts:
    view = cluster(device_class(), *items)
    return node_counts(view, pods(view), kind, most)


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


def test_of_pods_of_which_nothing_is_known_only_the_others_least_is_told() -> None:
    kind = template(devices_known=False)
    found = counted(kind, claim("c", request()), pod("p", ("c",)), plain("a", "8"))
    assert [(pod.name, bool(why)) for pod, why in found.undecided] == [("p", True)]
    assert (found.least, found.scheduler) == (1, None)
    assert found.unknown == found.undecided[0][1]


def test_nothing_that_waits_needs_nothing() -> None:
    assert counted(template()).scheduler == 0


def test_amounts_that_nobody_states_are_not_counted_on() -> None:
    found = counted(template(amounts_unknown=frozenset({"cpu"})), plain("a", "4"))
    assert found.scheduler is None
    assert "nobody states how much cpu a new node of big has" in found.unknown


def test_a_node_for_each_pod_that_is_not_enough_means_that_no_number_is() -> None:
    """Each fits on an empty node; the two can't be in one zone, and all new nodes are in the same."""
    term = {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "zone"}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    kind = template(labels={"zone": "a"})
    found = counted(kind, *(plain(f"a-{n}", "1", metadata={"labels": {"app": "x"}}, affinity=apart) for n in range(2)))
    assert (found.least, found.exact, found.scheduler, found.nowhere) == (None, True, None, ())


def test_pods_beyond_the_room_of_nodes_that_are_there_need_new_ones() -> None:
    """Two GPUs each: three of these nodes, of which one has its four free, and eight pods."""
    items = [item for number in range(3) for item in (node(f"n{number}"), pool(gpus(4 if number == 0 else 1), f"n{number}"))]
    items += [item for number in range(8) for item in (claim(f"c-{number}", request(count=2)), pod(f"p-{number}", (f"c-{number}",)))]
    found = counted(template(4), *items)
    assert (found.least, found.exact, found.scheduler) == (3, True, 3)


def test_where_many_nodes_more_are_needed_not_each_number_is_played() -> None:
    """Spread evenly over two labels of new nodes that are all the same: that no number is enough isn't proven by sums."""
    items = [plain(f"small-{number}", "1") for number in range(40)] + [plain(f"whole-{number}", "8") for number in range(24)]
    found = counted(template(), *items)
    assert found.least == 29
    assert found.scheduler is not None
    assert found.scheduler >= 29 + STEP_BY_STEP
    assert not found.fewest


def test_more_pods_than_nodes_that_are_tried_is_not_a_no() -> None:
    found = counted(template(), *(plain(f"a-{number}", "8") for number in range(5)), most=3)
    assert (found.least, found.scheduler, found.unknown) == (5, None, "more than 3 new nodes aren't tried")


def test_pods_of_different_kinds_need_at_least_one_node() -> None:
    view = cluster(device_class(), plain("a", "8"), plain("b", "7"))
    assert at_least(view, pods(view), template()) == 1
    alike = cluster(device_class(), plain("a", "7"), plain("b", "7"))
    assert at_least(alike, pods(alike), template()) == 2


def test_room_that_a_pod_keeps_by_its_nomination_counts_only_until_it_goes_elsewhere() -> None:
    """It is nominated to n1, and can go to n2 alone; the other one can go to n1 alone."""
    host = "kubernetes.io/hostname"
    stale = {"phase": "Pending", "nominatedNodeName": "n1"}
    kept = plain("b", "5", nodeSelector={host: "n2"}, status=stale)
    found = counted(template(), node("n1"), node("n2"), plain("a", "5", nodeSelector={host: "n1"}), kept)
    assert (found.nowhere, found.least, found.exact, found.scheduler) == ((), 0, True, 0)
