"""Pods placed one after another: what one that was taken leaves to the others."""

from __future__ import annotations

from dataclasses import replace

from k8s_topo_mcp.objects import Pod
from k8s_topo_mcp.scheduling.assumed import Assumed
from k8s_topo_mcp.scheduling.kinds_of_pods import Kinds
from k8s_topo_mcp.scheduling.placement import place
from k8s_topo_mcp.scheduling.placing import Known, Placing
from k8s_topo_mcp.view import ClusterView

from ..diagnosis.clusters import Item, claim, cluster, device_class, gpus, node, pod, pool


def waiting(view: ClusterView) -> list[Pod]:
    return [found for found in view.all(Pod) if found.is_pending]


def take(placing: Placing, wanted: Pod) -> str:
    """The node that the pod takes."""
    places = placing.places(wanted)
    here = placing.choose(wanted, places)
    assert here is not None
    placing.take(wanted, here, places.placement)
    return here.node.name


def test_a_node_that_was_left_out_stays_so_once_all_nodes_are_judged_again() -> None:
    """Its devices are seen by both nodes, so that after the first pod everything is looked at anew."""
    view = cluster(
        device_class(), node("n1"), node("n2"), pool(gpus(2), "n1", allNodes=True), *(claim(name) for name in ("c-a", "c-b")),
        pod("a", ("c-a",)), pod("b", ("c-b",), nodeSelector={"kubernetes.io/hostname": "n2"}),
    )  # fmt: skip
    a, b = waiting(view)
    kinds = Kinds.of(view, [a, b])
    known = {kinds.signatures[id(each)]: place(view, each) for each in (a, b)}
    without = known[kinds.signatures[id(b)]]
    known[kinds.signatures[id(b)]] = replace(without, nodes={"n1": without.nodes["n1"]})
    placing = Placing(view, [a, b], known=known, kinds=kinds)
    take(placing, a)
    assert placing.everywhere
    assert placing.places(b).fitting == ()


def nominated(name: str, to: str, only: str, **more: object) -> Item:
    """It fits on `only`, though it is nominated `to` another node."""
    return pod(
        name, requests={"cpu": "5"}, status={"phase": "Pending", "nominatedNodeName": to},
        nodeSelector={"kubernetes.io/hostname": only}, **more,
    )  # fmt: skip


AFAR = {
    "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "kubernetes.io/hostname", "labelSelector": {}}]}
}
NEEDS_N1 = {"requests": {"cpu": "5"}, "nodeSelector": {"kubernetes.io/hostname": "n1"}}


def test_a_pod_that_was_taken_keeps_no_room_where_it_was_nominated() -> None:
    view = cluster(node("n1"), node("n2"), nominated("a", "n1", "n2"), pod("b", **NEEDS_N1))
    a, b = waiting(view)
    for asked_before in (False, True):
        placing = Placing(view, [a, b])
        if asked_before:
            assert placing.places(b).fitting == ()
        mark = placing.mark()
        assert take(placing, a) == "n2"
        assert placing.places(b).fitting == ("n1",)
        placing.back_to(mark)
        assert placing.places(b).fitting == ()


def test_nor_does_it_where_pods_look_at_each_other() -> None:
    view = cluster(node("n1"), node("n2"), nominated("a", "n1", "n2", affinity=AFAR), pod("b", **NEEDS_N1))
    a, b = waiting(view)
    placing = Placing(view, [a, b])
    assert placing.places(b).fitting == ()
    assert take(placing, a) == "n2"
    assert placing.places(b).fitting == ("n1",)


def test_a_pod_takes_the_node_that_it_is_nominated_to_whatever_the_scores() -> None:
    small = pod("a", requests={"cpu": "5"}, status={"phase": "Pending", "nominatedNodeName": "n1"})
    view = cluster(node("n1"), node("n2", allocatable={"cpu": "64"}), small)
    (a,) = waiting(view)
    assert take(Placing(view, [a]), a) == "n1"


def test_a_port_that_is_taken_is_told_with_the_pod_that_has_it_in_each_play() -> None:
    ports = [{"name": "main", "ports": [{"containerPort": 80, "hostPort": 80}], "resources": {"requests": {"cpu": "1"}}}]
    view = cluster(node("n1"), node("n2"), *(pod(name, containers=ports) for name in "abc"))
    a, b, c = waiting(view)
    kinds, known = Kinds.of(view, [a, b, c]), Known()

    def holders(*on: str) -> dict[str, str]:
        """Who keeps c away, by node, once a and b are there."""
        placing = Placing(view, [a, b, c], known=known, kinds=kinds)
        for one, name in zip((a, b), on, strict=True):
            places = placing.places(one)
            placing.take(one, places.entries[name], places.placement)
        return {name: str(entry.plain[0][0].values["holder"]) for name, entry in placing.places(c).entries.items()}

    assert holders("n1", "n2") == {"n1": "default/a", "n2": "default/b"}
    assert holders("n2", "n1") == {"n1": "default/b", "n2": "default/a"}


def test_places_that_go_on_in_another_play_leave_the_first_as_they_were() -> None:
    view = cluster(node("n1"), node("n2"), *(pod(name, requests={"cpu": "5"}) for name in "ab"))
    a, b = waiting(view)
    kinds, known = Kinds.of(view, [a, b]), Known()
    first = Placing(view, [a, b], known=known, kinds=kinds).places(a)
    object.__setattr__(first, "found_out_later", "kept")
    assert vars(first.copy(Assumed(view), lambda name: 0))["found_out_later"] == "kept"
    again = Placing(view, [a, b], known=known, kinds=kinds)
    assert (take(again, a), again.places(b).fitting) == ("n1", ("n2",))
    assert (sorted(first.entries), first.fitting, first.equally_good(), first.stale) == (["n1", "n2"], ("n1", "n2"), ("n1", "n2"), set())
