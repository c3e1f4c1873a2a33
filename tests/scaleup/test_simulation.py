"""What pods would do with new nodes: verdicts, funnels, what isn't known, what is left over."""

from __future__ import annotations

import pytest

from k8s_topo_mcp.dra.outcome import Unallocatable
from k8s_topo_mcp.objects import ResourceClaim
from k8s_topo_mcp.scaleup.simulation import Simulation, simulate
from k8s_topo_mcp.scaleup.template import NodeTemplate
from k8s_topo_mcp.view import ClusterView, Replace

from ..diagnosis.clusters import Item, claim, cluster, device_class, gpus, match, node, pod, pool, request
from ..diagnosis.gangs import ON, member, members, pod_group
from .templates import plain, pods, template

ZONE = "topology.kubernetes.io/zone"
NUMA = "resource.kubernetes.io/numaNode"


def simulated(*items: Item, add: NodeTemplate, count: int = 1, **more: object) -> Simulation:
    view = cluster(device_class(), *items, **more)  # type: ignore[arg-type]
    return simulate(view, pods(view), [(add, count)])


def verdicts(found: Simulation) -> dict[str, str]:
    return {outcome.pod.name: outcome.verdict for outcome in found.outcomes}


def asking(name: str, count: int = 1, **more: object) -> list[Item]:
    return [claim(f"c-{name}", request(count=count), **more), pod(name, (f"c-{name}",))]  # type: ignore[arg-type]


def test_pods_start_now_on_new_nodes_or_find_no_room() -> None:
    found = simulated(node("n1"), plain("a", "8"), plain("b", "8"), plain("c", "8"), add=template())
    assert sorted(verdicts(found).values()) == ["no room", "starts", "starts now"]
    new = [outcome.node for outcome in found.starting if outcome.on_new]
    assert new == ["new-big-0001"]
    assert found.helps
    assert not found.all_start


def test_a_pod_that_new_nodes_refuse_has_its_funnel_as_of_a_real_node() -> None:
    found = simulated(*asking("p", 5), add=template(4))
    (outcome,) = found.outcomes
    assert outcome.verdict == "refused"
    (on,) = outcome.on_new_nodes
    assert on.verdict == "refused"
    assert isinstance(on.node.outcome, Unallocatable)
    assert on.placement.devices.problem is not None
    assert not found.helps


def test_daemons_of_a_new_node_take_their_share() -> None:
    daemon = pod("daemon-t", on="t", requests={"cpu": "1"})
    assert verdicts(simulated(plain("a", "8"), add=template(0, daemon))) == {"a": "refused"}
    assert verdicts(simulated(plain("a", "7"), add=template(0, daemon))) == {"a": "starts"}


def test_devices_that_nobody_knows_are_unknown() -> None:
    found = simulated(*asking("p"), plain("a", "1"), add=template(devices_known=False))
    assert verdicts(found) == {"p": "unknown", "a": "starts"}
    why = next(outcome.why for outcome in found.outcomes if outcome.pod.name == "p")
    assert why == "nothing says which devices a new node of big will publish"


def test_what_refuses_a_pod_whatever_the_devices_are_is_known() -> None:
    items = [claim("c", request()), pod("p", ("c",), requests={"cpu": "9"})]
    assert verdicts(simulated(*items, add=template(devices_known=False))) == {"p": "refused"}


def reading(kind: str) -> Item:
    term = {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": ZONE}
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    expression = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["a"]}]}
    spread = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "x"}}}
    return {
        "nodeSelector": {"nodeSelector": {ZONE: "a"}},
        "node affinity": {"affinity": {"nodeAffinity": {required: {"nodeSelectorTerms": [expression]}}}},
        "topology spread": {"topologySpreadConstraints": [spread]},
        "affinity to other pods": {"affinity": {"podAffinity": {required: [term]}}},
        "anti-affinity": {"affinity": {"podAntiAffinity": {required: [term]}}},
    }[kind]


@pytest.mark.parametrize("kind", ["nodeSelector", "node affinity", "topology spread", "affinity to other pods", "anti-affinity"])
def test_a_label_whose_value_nobody_knows_is_unknown(kind: str) -> None:
    add = template(unpredictable=frozenset({ZONE}), labels={ZONE: "a"})
    found = simulated(plain("a", "1", **reading(kind)), plain("b", "1"), add=add)
    assert verdicts(found) == {"a": "unknown", "b": "starts"}
    why = next(outcome.why for outcome in found.outcomes if outcome.pod.name == "a")
    assert why == f"which {ZONE} a new node of big will have isn't known, and the pod's {kind} depends on it"


def test_a_pod_that_runs_and_wants_to_be_alone_in_its_zone_makes_it_unknown() -> None:
    there = pod("w", on="n1", affinity=reading("anti-affinity")["affinity"])
    full = node("n1", labels={ZONE: "a"}, allocatable={"pods": "1"})
    add = template(unpredictable=frozenset({ZONE}))
    found = simulated(full, there, plain("a", "1", metadata={"labels": {"app": "x"}}), add=add)
    assert verdicts(found) == {"a": "unknown"}


def test_what_refuses_a_pod_whatever_the_label_is_is_known() -> None:
    add = template(unpredictable=frozenset({ZONE}), spec={"taints": [{"key": "k", "effect": "NoSchedule"}]})
    assert verdicts(simulated(plain("a", "1", **reading("nodeSelector")), add=add)) == {"a": "refused"}
    other = plain("a", "1", nodeSelector={ZONE: "a", "tier": "gold"})
    assert verdicts(simulated(other, add=template(unpredictable=frozenset({ZONE})))) == {"a": "refused"}


def test_whether_the_label_is_there_is_known() -> None:
    expression = {"matchExpressions": [{"key": ZONE, "operator": "Exists"}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [expression]}}}
    add = template(unpredictable=frozenset({ZONE}), labels={ZONE: ""})
    assert verdicts(simulated(plain("a", "1", affinity=affinity), add=add)) == {"a": "starts"}


def test_a_verdict_that_the_allocator_cannot_give_is_unknown() -> None:
    asked = claim("c", {"name": "r", "exactly": {"deviceClassName": "gpu", "allocationMode": "Newer"}})
    found = simulated(asked, pod("p", ("c",)), add=template(2))
    assert verdicts(found)["p"] in ("unknown", "refused")


def test_a_gang_starts_together_or_not() -> None:
    found = simulated(pod_group(4), *members(4, request(count=2)), add=template(4), gates=ON)
    assert set(verdicts(found).values()) == {"waits for its group"}
    (gang,) = found.gangs
    assert (gang.now, gang.then, gang.starts, gang.fit) == (0, 0, False, 2)
    found = simulated(pod_group(4), *members(4, request(count=2)), add=template(4), count=2, gates=ON)
    assert set(verdicts(found).values()) == {"starts"}
    assert found.gangs[0].starts


def test_a_gang_that_does_not_start_gives_its_room_back() -> None:
    found = simulated(pod_group(3), *members(3, request(count=2)), plain("z", "8"), add=template(4), gates=ON)
    assert verdicts(found)["z"] == "starts"


def test_a_gang_without_enough_members_is_held() -> None:
    found = simulated(pod_group(5), *members(3, request()), add=template(4), gates=ON)
    assert {outcome.verdict for outcome in found.outcomes} == {"held"}
    assert {outcome.held.code for outcome in found.outcomes if outcome.held is not None} == {"GANG_WAITS_FOR_MEMBERS"}


def test_what_is_left_over_is_told_by_resource_driver_and_class() -> None:
    found = simulated(*asking("p", 3), plain("a", "2"), add=template(4), count=2)
    (left,) = found.left_over
    assert left.nodes == ("new-big-0001", "new-big-0002")
    assert left.resources["cpu"].value == 14
    assert (left.drivers["gpu.example.com"].total, left.drivers["gpu.example.com"].held) == (8, 3)
    assert left.classes == {"gpu": 5}


def test_names_of_new_nodes_are_nobodys() -> None:
    found = simulated(node("new-big-0001", allocatable={"cpu": "1"}), plain("a", "8"), add=template())
    assert [outcome.node for outcome in found.outcomes] == ["new-big-0002"]


def test_a_change_can_be_tried_in_the_same_simulation() -> None:
    found = simulated(*asking("p", 3, constraints=[match(NUMA)]), add=template(4))
    assert verdicts(found) == {"p": "refused"}
    after = cluster(device_class(), *asking("p", 3)).get(ResourceClaim, "c-p", "default")
    assert after is not None
    again = simulate(found.base.with_edits(Replace(after)), found.pods, found.additions)
    assert verdicts(again) == {"p": "starts"}
    assert verdicts(found) == {"p": "refused"}


def test_the_fewest_nodes_are_told_for_the_same_question() -> None:
    found = simulated(*(plain(f"a-{number}", "8") for number in range(3)), add=template())
    (counts,) = found.counts()
    assert (counts.least, counts.scheduler) == (3, 3)


def test_no_new_nodes_is_the_cluster_as_it_is() -> None:
    view: ClusterView = cluster(device_class(), node("n1"), plain("a", "8"), plain("b", "8"))
    found = simulate(view, pods(view), [])
    assert sorted(verdicts(found).values()) == ["refused", "starts now"]
    assert found.left_over == ()


IN_ZONES = {**ON, "TopologyAwareWorkloadScheduling": True}


def test_a_gang_of_one_zone_starts_where_the_zone_is_known() -> None:
    """One more GPU pair in zone a, where one is there; the nodes of zone b don't count."""
    there = [node("n1", labels={ZONE: "a"}), pool(gpus(2), "n1"), node("n2", labels={ZONE: "b"}), pool(gpus(2), "n2")]
    waits = [pod_group(2, topology=ZONE), *members(2, request(count=2))]
    found = simulated(*there, *waits, add=template(2, labels={ZONE: "a"}), gates=IN_ZONES)
    assert set(verdicts(found).values()) == {"starts"}
    found = simulated(*there, *waits, add=template(2, labels={ZONE: "c"}), gates=IN_ZONES)
    assert set(verdicts(found).values()) == {"waits for its group"}


def test_a_gang_of_one_zone_is_unknown_where_the_zone_is_not() -> None:
    waits = [pod_group(2, topology=ZONE), *members(2, request(count=2))]
    add = template(4, labels={ZONE: "a"}, unpredictable=frozenset({ZONE}))
    found = simulated(*waits, add=add, gates=IN_ZONES)
    assert set(verdicts(found).values()) == {"unknown"}
    assert "topology constraint of PodGroup default/g" in found.outcomes[0].why


def test_a_required_neighbour_that_comes_later_in_the_queue_opens_the_node() -> None:
    near = {"podAffinity": reading("affinity to other pods")["affinity"]["podAffinity"]}
    items = [plain("a", "1", affinity=near), plain("b", "1", metadata={"labels": {"app": "x"}})]
    found = simulated(*items, add=template(labels={ZONE: "a"}))
    assert verdicts(found) == {"a": "starts", "b": "starts"}


def test_what_one_kind_of_new_node_refuses_is_not_known_while_another_may_take_it() -> None:
    view = cluster(device_class(), *asking("a", 1), *asking("b", 1))
    dark = template(name="dark", devices_known=False)
    found = simulate(view, pods(view), [(template(1), 1), (dark, 1)])
    assert verdicts(found) == {"a": "starts", "b": "unknown"}


def test_a_group_of_which_one_member_is_not_known_is_not() -> None:
    mate = pod("m-1", schedulingGroup={"podGroupName": "g"}, requests={"cpu": "1"})
    found = simulated(pod_group(2), *member(0, request()), mate, add=template(devices_known=False), gates=ON)
    assert set(verdicts(found).values()) == {"unknown"}


RACK = "example.com/rack"
NO_RACK = {"unpredictable": frozenset({RACK}), "labels": {RACK: ""}}
IN_A_RACK = {"nodeSelector": {RACK: "x"}}


NEWER = (
    {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "newer"}, "spec": {"selectors": [{"later": {}}]}},
    claim("c", {"name": "r", "exactly": {"deviceClassName": "newer"}}),
)
"""A claim whose class selects devices in a way that no release knows yet."""


def mixed(*cpus: tuple[str, bool]) -> list[Item]:
    """Members of one group, by cpu and whether they ask about the rack."""
    return [
        item for number, (cpu, asks) in enumerate(cpus) for item in member(number, requests={"cpu": cpu}, **(IN_A_RACK if asks else {}))
    ]


def test_a_gang_is_counted_by_what_is_known_of_its_members() -> None:
    """The pod ahead takes all of the node, if it takes the node; one member asks about the rack itself."""
    ahead = plain("u", "8", priority=100, **IN_A_RACK)
    (gang,) = simulated(ahead, pod_group(2), *mixed(("4", False), ("4", False)), add=template(**NO_RACK), gates=ON).gangs
    assert (gang.then, gang.starts, gang.fit) == (0, False, None)
    (gang,) = simulated(pod_group(3), *mixed(("2", False), ("2", True), ("99", False)), add=template(**NO_RACK), gates=ON).gangs
    assert (gang.then, gang.starts, gang.fit) == (0, False, None)
    (gang,) = simulated(
        pod_group(2), *mixed(("2", False), ("2", False)), plain("u", "1", **IN_A_RACK), add=template(**NO_RACK), gates=ON
    ).gangs
    assert (gang.then, gang.starts, gang.fit) == (2, True, 2)


def test_what_starts_only_without_a_pod_of_which_it_is_not_known_is_not() -> None:
    """The one ahead of the others takes all of the node, if it takes the node."""
    ahead = plain("u", "8", priority=100, **IN_A_RACK)
    found = simulated(ahead, plain("v1", "4"), plain("v2", "4"), add=template(**NO_RACK))
    assert verdicts(found) == {"u": "unknown", "v1": "unknown", "v2": "unknown"}
    why = next(outcome.why for outcome in found.outcomes if outcome.pod.name == "v1")
    assert why.startswith(f"depends on where default/u goes: which {RACK} a new node of big will have isn't known")
    assert not found.starting


def test_what_starts_either_way_starts() -> None:
    ahead = plain("u", "4", priority=100, **IN_A_RACK)
    assert verdicts(simulated(ahead, plain("v", "4"), add=template(**NO_RACK))) == {"u": "unknown", "v": "starts"}
    assert verdicts(simulated(plain("u", "8", **IN_A_RACK), plain("v", "8", priority=1), add=template(**NO_RACK))) == {
        "u": "no room",
        "v": "starts",
    }


def test_room_that_a_pod_leaves_if_another_kind_of_node_takes_it_is_not_known() -> None:
    """p has room on nodes of kind a for certain, and perhaps on those of b; q on those of a only."""
    view = cluster(device_class(), plain("p", "8", priority=10, **IN_A_RACK), plain("q", "8", nodeSelector={"k": "a"}))
    kinds = template(name="a", labels={"k": "a", RACK: "x"}), template(name="b", **NO_RACK)
    assert verdicts(simulate(view, pods(view), [(kind, 1) for kind in kinds])) == {"p": "starts", "q": "unknown"}


def test_a_pod_for_which_there_is_no_room_where_it_is_not_known_goes_where_it_is() -> None:
    view = cluster(device_class(), *(plain(f"p{number}", "8", priority=9 - number, **IN_A_RACK) for number in range(3)))
    kinds = template(name="a", labels={RACK: "x"}), template(name="b", **NO_RACK)
    found = simulate(view, pods(view), [(kind, 1) for kind in kinds])
    assert verdicts(found) == {"p0": "starts", "p1": "unknown", "p2": "no room"}


def test_on_nodes_there_are_an_allocation_without_a_verdict_is_a_doubt_too() -> None:
    ahead = pod("u", ("c",), requests={"cpu": "8"}, priority=100)
    view = cluster(device_class(), node("n1"), pool(gpus(1), "n1"), *NEWER, ahead, plain("v", "8"))
    assert verdicts(simulate(view, pods(view), [])) == {"u": "unknown", "v": "unknown"}


def test_which_devices_an_allocation_without_a_verdict_leaves_is_not_known() -> None:
    ahead = pod("u", ("c",), requests={"cpu": "1"}, priority=100)
    others = [*asking("v"), plain("w", "1")]
    assert verdicts(simulated(*NEWER, ahead, *others, add=template(1))) == {"u": "unknown", "v": "unknown", "w": "starts"}
    last = pod("u", ("c",), requests={"cpu": "1"}, priority=-100)
    assert verdicts(simulated(*NEWER, last, *others, add=template(1))) == {"u": "unknown", "v": "starts", "w": "starts"}


def test_a_group_that_cannot_reach_its_minimum_does_not_start_whatever_is_not_known() -> None:
    found = simulated(pod_group(2), *mixed(("99", False), ("1", True)), add=template(**NO_RACK), gates=ON)
    assert verdicts(found) == {"m-0": "refused", "m-1": "waits for its group"}


def test_a_group_whose_members_have_no_room_together_does_not_start_whatever_is_not_known() -> None:
    found = simulated(pod_group(2), *mixed(("8", False), ("8", True)), add=template(**NO_RACK), gates=ON)
    assert verdicts(found) == {"m-0": "waits for its group", "m-1": "waits for its group"}
    ahead = plain("u", "8", priority=100, **IN_A_RACK)
    found = simulated(pod_group(2), *mixed(("8", False), ("8", True)), ahead, add=template(**NO_RACK), count=2, gates=ON)
    assert set(verdicts(found).values()) == {"unknown"}


def test_a_group_that_reaches_its_minimum_without_what_is_not_known_starts() -> None:
    found = simulated(pod_group(2), *mixed(("1", False), ("1", False), ("99", False), ("1", True)), add=template(**NO_RACK), gates=ON)
    assert verdicts(found) == {"m-0": "starts", "m-1": "starts", "m-2": "refused", "m-3": "unknown"}


def test_members_that_are_there_count() -> None:
    items = [*member(7, on="n1"), *mixed(("1", False), ("1", True))]
    found = simulated(node("n1", allocatable={"cpu": "0"}), pod_group(2), *items, add=template(**NO_RACK), gates=ON)
    assert verdicts(found) == {"m-0": "starts", "m-1": "unknown"}


def test_a_group_that_is_not_known_to_be_one_is_unknown_and_so_is_what_comes_after_it() -> None:
    group = {**pod_group(2), "spec": {"schedulingPolicy": {"later": {}}}}
    found = simulated(group, *mixed(("8", False), ("1", False)), plain("v", "8", priority=-1), add=template(), gates=ON)
    assert set(verdicts(found).values()) == {"unknown"}
    assert found.outcomes[0].why == "its scheduling policy isn't known"
