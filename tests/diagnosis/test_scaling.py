"""What would do, what is of no use, and what isn't known, among many kinds of nodes."""

from __future__ import annotations

from k8s_topo_mcp.diagnosis.scaling import MOST_COUNTED, MOST_OPTIONS, Scaling, scaling
from k8s_topo_mcp.scaleup.node_group import NodeGroup
from k8s_topo_mcp.scaleup.template import NodeTemplate

from ..scaleup.templates import plain, pods, template
from .clusters import Item, claim, cluster, device_class, gpus, match, node, owned_by, pod, pool, replicated, request
from .gangs import IN_1_36, ON, member, members, pod_group


def judged(*items: Item, add: tuple[NodeTemplate, int] | None = None, others: tuple[NodeTemplate, ...] = (), **more: object) -> Scaling:
    view = cluster(device_class(), *items, **more)  # type: ignore[arg-type]
    kinds = [(kind, NodeGroup(kind.name, "machine type", (kind,))) for kind in others]
    return scaling(view, pods(view), [add] if add is not None else [], kinds)


ZONE = "topology.kubernetes.io/zone"
IN_ZONES = {**ON, "TopologyAwareWorkloadScheduling": True}

WAITS = (claim("c", request(count=4)), pod("p", ("c",)))


def test_kinds_of_nodes_are_told_apart_by_whether_they_do() -> None:
    few, many, dark = template(2, name="few"), template(4, name="many"), template(name="dark", devices_known=False)
    found = judged(*WAITS, others=(few, many, dark))
    assert [(option.template.name, option.counts.scheduler) for option in found.options] == [("many", 1)]
    assert [kind.name for kind in found.tried.vain] == ["few"]
    ((unsure, why),) = found.tried.unsure
    assert unsure is dark
    assert "which devices a new node of dark will publish" in why


def test_more_kinds_than_are_counted_are_named() -> None:
    others = tuple(template(4, name=f"k{number}") for number in range(MOST_COUNTED + 3))
    found = judged(*WAITS, others=others)
    assert len(found.options) == MOST_OPTIONS
    assert len(found.further) == MOST_COUNTED - MOST_OPTIONS
    assert len(found.tried.uncounted) == 3
    assert all(option.left_over is not None for option in found.options)
    assert all(option.left_over is None for option in found.further)


def test_more_pods_than_nodes_that_are_tried_make_a_kind_unsure_and_not_useless() -> None:
    found = judged(pod_group(66), *members(66, request(count=4)), others=(template(4),), gates=ON)
    assert found.tried.vain == ()
    assert [why for _, why in found.tried.unsure] == ["more than 64 new nodes aren't tried"]


def test_what_keeps_a_pod_without_room_is_judged_with_the_others_in_place() -> None:
    """Two of three pods get the two new nodes; to the third these have too little cpu left."""
    found = judged(*(plain(f"a-{number}", "6") for number in range(3)), add=(template(), 2))
    (refused,) = found.refused
    assert (refused.template, len(refused.pods)) == (None, 1)
    assert refused.cause is not None
    assert (refused.cause.finding.code, refused.cause.nodes) == ("INSUFFICIENT_RESOURCE", 2)


def test_of_changes_only_those_of_what_the_pods_ask_are_tried_on_a_new_node() -> None:
    """That all devices of a node that is there were healthy, or a class named the resource, is no matter of the new node."""
    resource = "example.com/gpu"
    sick = node("n1", allocatable={resource: "7"})
    sick["status"]["capacity"] = {**sick["status"]["capacity"], resource: "8"}
    wants = pod("p", requests={resource: "8"})
    found = judged(sick, device_class("gpu.example.com"), wants, add=(template(allocatable={resource: "4"}), 1))
    assert [option.change.text for option in found.options if option.change is not None] == [f"{resource} 8 → 4"]


def test_of_a_group_it_is_told_how_many_fit_at_once_and_what_stops_the_next() -> None:
    found = judged(pod_group(4), *members(4, request(count=2)), add=(template(4), 1), gates=ON)
    (refused,) = found.refused
    assert refused.fit == 2
    assert refused.cause is not None
    assert refused.cause.finding.code == "DEVICES_IN_USE"


def codes(found: Scaling) -> list[tuple[int, str]]:
    return [(len(refused.pods), refused.cause.finding.code if refused.cause is not None else refused.unknown) for refused in found.refused]


def test_where_each_member_has_room_the_group_s_own_reason_is_told() -> None:
    """No new node is in a zone; two that are in different ones have room for one member each; members that are there are in two zones."""
    in_one = [pod_group(2, topology=ZONE), *members(2, request(count=2))]
    assert codes(judged(*in_one, add=(template(4), 2), gates=IN_ZONES)) == [(2, "GANG_NO_DOMAIN")]
    apart = [item for zone in "ab" for item in (node(f"n-{zone}", labels={ZONE: zone}), pool(gpus(2), f"n-{zone}"))]
    found = judged(*apart, *in_one, gates=IN_ZONES)
    assert codes(found) == [(2, "GANG_NO_DOMAIN")]
    (refused,) = found.refused
    assert refused.cause is not None
    assert (refused.cause.finding.values["domains"], refused.cause.finding.values["fit"]) == (2, 1)
    there = [item for number, zone in enumerate("ab", 5) for item in member(number, on=f"n-{zone}")]
    assert codes(judged(*apart, *there, *in_one, gates=IN_ZONES)) == [(2, "GANG_REFUSED")]


def test_gates_are_lifted_for_the_group_s_own_reason_too() -> None:
    apart = [item for zone in "ab" for item in (node(f"n-{zone}", labels={ZONE: zone}), pool(gpus(2), f"n-{zone}"))]
    gated = [pod_group(2, topology=ZONE), *members(2, request(count=2), schedulingGates=[{"name": "later"}])]
    found = judged(*apart, *gated, gates={**IN_1_36, **IN_ZONES}, minor=36)
    assert [refused.cause.finding.number("fit") for refused in found.refused if refused.cause is not None] == [1]


def test_members_that_fit_wait_for_the_one_that_does_not() -> None:
    """From 1.37 on the trial ends with the member that makes the minimum impossible, so that the others have no place though there is
    room."""
    items = [pod_group(3), *member(0, requests={"cpu": "99"}), *member(1, requests={"cpu": "1"}), *member(2, requests={"cpu": "1"})]
    assert codes(judged(*items, add=(template(), 1), gates=ON)) == [(1, "RESOURCE_TOO_LARGE"), (2, "GANG_PARTIAL_FIT")]


def test_without_new_nodes_the_nodes_there_are_refuse() -> None:
    found = judged(node("n1"), pool(gpus(3), "n1"), *WAITS)
    (refused,) = found.refused
    assert refused.cause is not None
    assert refused.cause.finding.code == "NOT_ENOUGH_DEVICES"


def test_equal_pods_of_several_owners_are_refused_as_one() -> None:
    made = [replicated("ReplicaSet", f"r{number}", app=str(number)) for number in range(6)]
    waiting = [owned_by(plain(f"p{number}", "5", metadata={"labels": {"app": str(number)}}), owner) for number, owner in enumerate(made)]
    found = judged(node("n0"), node("n1"), *made, *waiting)
    assert [(entry.example.name, len(entry.pods)) for entry in found.refused] == [("p2", 4)]


def test_a_kind_of_node_that_refuses_what_fits_elsewhere_can_still_do() -> None:
    """One pod fits on the node with the GPU; the other lacks cpu, which nodes without GPUs have."""
    items = [node("g1", allocatable={"cpu": "4"}), pool(gpus(1), "g1"), claim("c", request()), pod("a", ("c",), requests={"cpu": "4"})]
    found = judged(*items, plain("b", "5"), others=(template(name="cpu"),))
    assert [(option.template.name, option.counts.scheduler) for option in found.options] == [("cpu", 1)]
    assert found.tried.vain == ()


def test_of_a_group_of_two_kinds_the_one_that_finds_no_place_is_told() -> None:
    """3 + 3 cpu find a place on the new node of 8; 5 more don't."""
    sizes = ("3", "3", "5", "5")
    items = [entry for number, cpu in enumerate(sizes) for entry in member(number, requests={"cpu": cpu})]
    (refused,) = judged(pod_group(4), *items, add=(template(), 1), gates=ON).refused
    assert [pod.name for pod in refused.pods] == ["m-2", "m-3"]
    assert refused.fit == 2
    assert refused.cause is not None
    assert refused.cause.finding.code == "INSUFFICIENT_RESOURCE"


def changed(found: Scaling) -> list[tuple[str, int | None]]:
    return [(option.change.text, option.counts.scheduler) for option in found.options if option.change is not None]


def test_asking_for_less_is_offered_where_as_many_nodes_as_were_asked_for_then_do() -> None:
    loose = [item for number in range(4) for item in (claim(f"c{number}", request(count=3)), pod(f"p{number}", (f"c{number}",)))]
    gang = [pod_group(4), *members(4, request(count=3))]
    for items in (loose, gang):
        found = judged(*items, add=(template(4), 2), gates=ON)
        assert changed(found) == [("count 3 → 2", 2), ("count 3 → 1", 1)]
        assert [option.counts.scheduler for option in found.options if option.change is None] == [4]
        assert changed(judged(*items, add=(template(4), 1), gates=ON)) == [("count 3 → 1", 1)]
    (change, *_) = [option.change for option in judged(*gang, add=(template(4), 2), gates=ON).options if option.change is not None]
    assert "of the gang" in change.apply


def test_a_change_after_which_the_nodes_asked_for_do_not_do_is_not_offered() -> None:
    gang = [pod_group(5), *members(5, request(count=2))]
    assert changed(judged(*gang, add=(template(4), 1), gates=ON)) == []
    assert changed(judged(*gang, add=(template(4), 2), gates=ON)) == [("count 2 → 1", 2)]


def test_where_a_constraint_leaves_devices_over_it_is_the_change() -> None:
    """On each node two pods with their pair on one NUMA node; without that constraint a third takes what is left on both sides."""
    numa = [match("resource.kubernetes.io/numaNode")]
    gang = [pod_group(3), *members(3, request(count=2), constraints=numa)]
    found = judged(*gang, add=(template(6), 1), gates=ON)
    assert [text for text, _ in changed(found)][:1] == ["count 2 → 1"]
    assert any("matchAttribute" in text or "constraint" in text for text, _ in changed(found))
