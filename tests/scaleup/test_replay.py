"""The queue played through: the ways through ties."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from k8s_topo_mcp.objects import ResourceClaim
from k8s_topo_mcp.scaleup.alike import Alike
from k8s_topo_mcp.scaleup.node_counts import first_looks
from k8s_topo_mcp.scaleup.play import Player
from k8s_topo_mcp.scaleup.queue import queue_of
from k8s_topo_mcp.scaleup.replay import Plays, play_all
from k8s_topo_mcp.scheduling.kinds_of_pods import Kinds
from k8s_topo_mcp.scheduling.placement import place
from k8s_topo_mcp.view import ClusterView

from ..diagnosis.clusters import Item, claim, cluster, device_class, gpu, gpus, match, node, pod, pool, request
from ..diagnosis.gangs import IN_1_36, ON, member, members, pod_group
from .templates import plain, pods

IN_ZONES = {**ON, "TopologyAwareWorkloadScheduling": True}


def played(view: ClusterView, most: int) -> Plays:
    waiting = pods(view)
    kinds = Kinds.of(view, waiting)
    return play_all(view, queue_of(view, waiting), kinds, first_looks(view, waiting, kinds), {}, most)


def zones(*sizes: int) -> list[Item]:
    """So many nodes in each zone, none of them like another."""
    return [
        node(f"n{zone}{number}", labels={"zone": f"z{zone}", "own": f"{zone}{number}"})
        for zone, size in enumerate(sizes)
        for number in range(size)
    ]


def test_ways_through_the_domains_of_a_gang_choose_the_domain_first_and_then_nodes_in_it() -> None:
    """One member, so that each node is a way: four zones, of which each has a tie of its own size; the largest comes first."""
    items = [pod_group(1, topology="zone"), *zones(2, 1, 3, 2), *member(0, requests={"cpu": "3"})]
    found = played(cluster(device_class(), *items, gates=IN_ZONES), 100)
    assert (found.ways, found.all_ways) == (2 + 1 + 3 + 2, True)
    assert found.first.choices == (4, 3)
    assert [node for _, node in found.first.placed] == ["n20"]


def test_members_of_a_gang_stay_together_on_every_way() -> None:
    items = [pod_group(2, topology="zone"), *zones(2, 2, 2, 2)]
    items += [entry for number in range(2) for entry in member(number, requests={"cpu": "3"})]
    found = played(cluster(device_class(), *items, gates=IN_ZONES), 100)
    assert found.all_ways
    assert found.ways > 4
    for play in (found.first, found.worst):
        assert len({name[:2] for _, name in play.placed}) == 1
        assert play.complete


def test_a_domain_that_does_not_do_with_some_ties_leaves_the_others() -> None:
    """The second member needs a special node: in the first zone there is one, which the first member may take by chance."""
    items = [pod_group(2, topology="zone"), *zones(3, 2)]
    for entry in items:
        if entry["metadata"]["name"] in ("n01", "n10", "n11"):
            entry["metadata"]["labels"]["special"] = ""
    items += [*member(0, requests={"cpu": "5"}), *member(1, requests={"cpu": "5"}, nodeSelector={"special": ""})]
    found = played(cluster(device_class(), *items, gates=IN_ZONES), 100)
    assert found.all_ways
    assert found.worst.complete


ASKS = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 5), st.booleans()), min_size=1, max_size=5)


@given(ASKS, st.lists(st.integers(2, 5), min_size=1, max_size=3))
@settings(max_examples=30, deadline=None)
def test_what_is_kept_of_earlier_plays_changes_nothing_and_no_play_takes_more_than_there_is(
    asked: list[tuple[int, int, bool]], devices: list[int]
) -> None:
    """Each pod wants so many devices and cpus, on one NUMA node or anywhere; each play by itself, and all with what the others left."""
    items: list[Item] = [device_class()]
    for number, count in enumerate(devices):
        name = f"n{number}"
        items += [node(name, labels={"own": name}), pool(gpus(count, STD__numaNode=lambda at: at % 2), name)]
    for number, (count, cpu, together) in enumerate(asked):
        constraints = [match("resource.kubernetes.io/numaNode")] if together else None
        items += [claim(f"c{number}", request("r", count), constraints=constraints)]
        items += [pod(f"p{number}", (f"c{number}",), requests={"cpu": str(cpu)})]
    view = cluster(*items)
    waiting = pods(view)
    entries, kinds = queue_of(view, waiting), Kinds.of(view, waiting)

    def told(plays: Plays) -> object:
        return [([(one.name, on) for one, on in play.placed], play.choices) for play in (plays.first, plays.worst)], plays.ways

    def play(kinds: Kinds) -> object:
        return told(play_all(view, entries, kinds, first_looks(view, waiting, kinds), {}, 12))

    cold = play(kinds)
    assert play(kinds) == cold == play(Kinds.of(view, waiting))
    plays = play_all(view, entries, kinds, first_looks(view, waiting, kinds), {}, 12)
    for one in (plays.first, plays.worst):
        end = view.with_edits(*one.edits)
        held = [result.id for each in end.all(ResourceClaim) if each.allocation for result in each.allocation.results]
        assert len(held) == len(set(held)) == sum(asked[int(placed.name[1:])][0] for placed, _ in one.placed)
        for number in range(len(devices)):
            assert sum(asked[int(placed.name[1:])][1] for placed, on in one.placed if on == f"n{number}") <= 8
        for left, _ in one.left:
            assert not place(end, left).fitting


def test_a_group_that_gives_everything_back_may_have_depended_on_the_order() -> None:
    """One GPU can be used from both nodes, the other from a alone: the group starts if its first member goes to b."""

    def usable(*names: str) -> Item:
        return {"nodeSelectorTerms": [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": list(names)}]}]}

    shared = [
        pool([gpu("x")], "both", name="both", nodeSelector=usable("a", "b")),
        pool([gpu("y")], "one", name="one", nodeSelector=usable("a")),
    ]
    for order in ("ab", "ba"):
        items = [*(node(name, allocatable={"cpu": "1"}) for name in order), *shared, pod_group(2), *members(2, requests={"cpu": "1"})]
        found = played(cluster(device_class(), *items, gates=ON), 100)
        assert (found.first.independent, found.tie, found.ways) == (False, True, 2)


NEAR_WEB = {
    "podAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "kubernetes.io/hostname"}
        ]
    }
}
WEB = {"metadata": {"labels": {"app": "web"}}}


def test_when_a_refused_pod_comes_up_again_is_not_certain() -> None:
    """At once after the pod that it waits for, or after all others: then it finds no room, or they don't."""
    waiting = [plain("db", "3", affinity=NEAR_WEB), plain("web", "1", **WEB), *(plain(f"x{number}", "1") for number in range(3))]
    found = played(cluster(node("n1", allocatable={"cpu": "4"}), *waiting), 100)
    assert (found.tie, found.all_ways) == (True, False)
    assert [pod.name for pod, _ in found.first.placed] == ["web", "x0", "x1", "x2"]
    assert [pod.name for pod, _ in found.worst.placed] == ["web", "db"]


def test_what_comes_up_again_after_all_others_in_any_case_is_certain() -> None:
    waiting = [plain("db", "3", affinity=NEAR_WEB), plain("m", "1"), plain("web", "1", **WEB)]
    found = played(cluster(node("n1", allocatable={"cpu": "5"}), *waiting), 100)
    assert (found.tie, found.ways, found.all_ways) == (False, 1, True)
    assert [pod.name for pod, _ in found.worst.placed] == ["m", "web", "db"]


def test_refused_pods_that_come_up_in_another_order_may_leave_others_no_room() -> None:
    """Each has its own backoff: the large one first leaves the small ones none."""
    small = (plain(f"s{number}", "1", affinity=NEAR_WEB) for number in range(3))
    waiting = [*small, plain("zbig", "3", affinity=NEAR_WEB), plain("zzweb", "1", **WEB)]
    found = played(cluster(node("n1", allocatable={"cpu": "4"}), *waiting), 100)
    assert (found.tie, found.all_ways) == (True, False)
    assert [pod.name for pod, _ in found.first.placed] == ["zzweb", "s0", "s1", "s2"]
    assert [pod.name for pod, _ in found.worst.placed] == ["zzweb", "zbig"]


def test_at_once_is_in_the_order_of_the_queue_too() -> None:
    waiting = [plain(name, cpu, affinity=NEAR_WEB) for name, cpu in (("k1", "1"), ("k2", "1"), ("l1", "2"))]
    view = cluster(node("n1", allocatable={"cpu": "4"}), *waiting, plain("web", "1", **WEB))
    entries = queue_of(view, pods(view))
    kinds = Kinds.of(view, pods(view))
    alike = Alike(view, pods(view), {})
    play = Player(view, entries, kinds, first_looks(view, pods(view), kinds), alike, (), "at once").run()
    assert [pod.name for pod, _ in play.placed] == ["web", "k1", "k2"]


def test_where_the_other_ends_are_not_played_it_is_not_said_that_all_were() -> None:
    waiting = [plain("db", "3", affinity=NEAR_WEB), plain("web", "1", **WEB), *(plain(f"x{number}", "1") for number in range(3))]
    view = cluster(node("n1", allocatable={"cpu": "4"}), *waiting)
    kinds = Kinds.of(view, pods(view))
    found = play_all(view, queue_of(view, pods(view)), kinds, first_looks(view, pods(view), kinds), {}, while_complete=True)
    assert not found.first.complete
    assert not found.all_ways


def test_a_kind_between_two_others_of_one_kind_may_come_up_first() -> None:
    waiting = [plain(name, cpu, affinity=NEAR_WEB) for name, cpu in (("a", "1"), ("b", "3"), ("c", "1"))]
    found = played(cluster(node("n1", allocatable={"cpu": "4"}), *waiting, plain("web", "1", **WEB)), 100)
    assert (found.tie, found.all_ways) == (True, False)
    assert [pod.name for pod, _ in found.worst.placed] == ["web", "b"]


def test_of_more_than_two_kinds_not_every_order_is_played() -> None:
    waiting = [plain(f"p{cpu}", cpu, affinity=NEAR_WEB) for cpu in ("1", "2", "3")]
    found = played(cluster(node("n1", allocatable={"cpu": "7"}), *waiting, plain("web", "1", **WEB)), 100)
    assert found.first.complete
    assert (found.tie, found.all_ways) == (True, False)


def test_which_of_two_groups_of_one_kind_of_pods_starts_is_chance() -> None:
    """In 1.35 a pod's group isn't part of its kind."""
    items: list[Item] = [node("n1", allocatable={"cpu": "3"})]
    for name in ("wa", "wb"):
        groups = [{"name": "g", "policy": {"gang": {"minCount": 2}}}]
        workload = {"apiVersion": "scheduling.k8s.io/v1alpha1", "kind": "Workload", "spec": {"podGroups": groups}}
        items.append({**workload, "metadata": {"name": name, "namespace": "default"}})
        items += [plain(f"{name}{number}", "1", affinity=NEAR_WEB, workloadRef={"name": name, "podGroup": "g"}) for number in range(2)]
    found = played(cluster(*items, plain("zweb", "1", **WEB), gates=IN_1_36, minor=35), 100)
    assert [pod.name for pod, _ in found.first.placed] == ["zweb", "wa0", "wa1"]
    assert (found.tie, found.all_ways) == (True, False)


def test_the_second_way_through_a_tie_is_played_whatever_the_ends_took() -> None:
    nodes = [node(name, allocatable={"cpu": "8"}, labels={"own": name}) for name in ("n1", "n2")]
    waiting = [plain("db", "1", affinity=NEAR_WEB), plain("web", "1", **WEB), plain("x", "1")]
    view = cluster(*nodes, *waiting)
    kinds = Kinds.of(view, pods(view))
    found = play_all(view, queue_of(view, pods(view)), kinds, first_looks(view, pods(view), kinds), {}, 2)
    assert found.ways > 2
