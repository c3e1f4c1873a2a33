"""Gangs: quorum, the trial of the whole group, its cause and remedies, and the texts that its members carry."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from k8s_topo_mcp.diagnosis.evidence import Said
from k8s_topo_mcp.diagnosis.report import Report
from k8s_topo_mcp.diagnosis.triage import waiting_groups
from k8s_topo_mcp.objects import Pod
from k8s_topo_mcp.sources.snapshot import load_text
from k8s_topo_mcp.view import ClusterView, Unreadable

from .clusters import (
    DRIVER,
    MOMENT,
    Item,
    answered,
    claim,
    cluster,
    code,
    device_class,
    explained,
    gpus,
    held,
    helping,
    node,
    owned_by,
    pod,
    pool,
    replicated,
    request,
)  # fmt: skip
from .gangs import IN_1_36, ON, member, members, nodes, pod_group
from .layers.objects import event

RECORDED = Path(__file__).parents[1] / "scenes/gang-16.json"
TOPOLOGY = {**ON, "TopologyAwareWorkloadScheduling": True}


@pytest.fixture(scope="module")
def recorded() -> ClusterView:
    """A real 1.37 control plane: 16 pods that each want two GPUs on one PCIe root, and room for 12."""
    return load_text(RECORDED.read_text(encoding="utf-8"), name="gang-16")


def gang(minimum: int, *items: Item, group: Item | None = None, minor: int = 37, gates: Any = None, name: str = "m-0") -> Report:
    """The report of member 0 of a gang among these objects."""
    whole = (device_class(), group or pod_group(minimum), *items)
    return explained(cluster(*whole, minor=minor, gates=gates or (ON if minor == 37 else IN_1_36)), name)


def values(report: Report) -> dict[str, Any]:
    assert report.cause is not None
    return dict(report.cause.finding.values)


def outcomes(report: Report) -> dict[str, tuple[int | None, int | None]]:
    """change -> how many then start, of how many."""
    return {trial.change.text: (trial.fit, trial.of) for trial in report.remedies}


# --- the recorded one -------------------------------------------------------------------------------------------------------------


def test_every_member_of_the_recorded_gang_has_the_same_answer(recorded: ClusterView) -> None:
    reports = [explained(recorded, f"llama-{number}") for number in range(16)]
    assert {code(report) for report in reports} == {"GANG_PARTIAL_FIT"}
    assert len({report.cause for report in reports}) == len({report.remedies for report in reports}) == 1
    assert values(reports[0]) == {"min_count": 16, "fit": 12, "untried": 3, "member": "llama-12", "because": "DEVICES_IN_USE"}
    assert reports[0].verdict == "blocked by holders"
    assert [holder.about.name for holder in reports[0].holders] == ["eval"]


def test_the_text_of_every_member_is_predicted_word_for_word(recorded: ClusterView) -> None:
    for number in range(16):
        check = explained(recorded, f"llama-{number}").check
        assert (check.match, check.possible) == ("agrees", 1), number
        assert check.predicted == check.message


def test_the_remedies_of_the_recorded_gang_are_tried_with_all_sixteen(recorded: ClusterView) -> None:
    report = explained(recorded, "llama-7")
    found = outcomes(report)
    assert found["releasing default/eval"] == (16, 16)
    assert found["1 node more like gpu-0"] == (16, 16)
    assert found["minCount 16 → 12 (mutable in 1.37)"] == (12, 16)
    assert {trial.change.text: trial.why for trial in report.not_helping} == {"constraint removed": "12 of 16"}


def test_the_answer_names_who_carries_which_text(recorded: ClusterView) -> None:
    text = answered(recorded, "llama-7")
    assert text.startswith("default/llama-7 waits with its gang: PodGroup default/llama starts 16 pods together or none; 12 would fit now.")
    assert "minCount 16 · 12 fit, the 13th (llama-12) doesn't, 3 were not tried" in text
    assert "12 like llama-0, 3 like llama-13, 1 like llama-12" in text


def test_a_text_that_no_turn_gives_differs(recorded: ClusterView) -> None:
    wrong = RECORDED.read_text(encoding="utf-8").replace("12 scheduled, 3 remaining", "11 scheduled, 4 remaining")
    check = explained(load_text(wrong, name="wrong"), "llama-0").check
    assert check.match == "differs"
    assert "12 scheduled, 3 remaining" in check.predicted


# --- before the queue -------------------------------------------------------------------------------------------------------------


def test_a_gang_with_too_few_pods_waits_and_says_how_many_there_are() -> None:
    report = gang(4, *nodes(2, gpus(2)), *members(3))
    assert (report.verdict, code(report)) == ("held before scheduling", "GANG_WAITS_FOR_MEMBERS")
    assert values(report) == {"min_count": 4, "exist": 3}
    assert outcomes(report) == {"minCount 4 → 3 (mutable in 1.37)": (3, 3)}


def test_members_that_have_ended_do_not_count_and_bound_ones_do() -> None:
    ended = pod("m-7", schedulingGroup={"podGroupName": "g"}, status={"phase": "Succeeded"})
    bound = pod("m-8", on="n1", schedulingGroup={"podGroupName": "g"})
    assert values(gang(4, *nodes(2, gpus(2)), *members(2), ended, bound)) == {"min_count": 4, "exist": 3}


@pytest.mark.parametrize(("minor", "expected"), [(37, "GANG_MEMBER_HELD"), (36, "GANG_PARTIAL_FIT")])
def test_a_member_with_a_gate_holds_the_whole_gang_from_1_37_on(minor: int, expected: str) -> None:
    items = (*nodes(2, gpus(2)), *members(2), *member(2, request(), schedulingGates=[{"name": "example.com/gate"}]))
    report = gang(3, *items, minor=minor)
    assert code(report) == expected
    if minor == 37:
        assert values(report) == {"member": "m-2", "because": "SCHEDULING_GATED"}
        assert code(gang(3, *items, name="m-2")) == "SCHEDULING_GATED"


def test_what_an_autoscaler_said_of_a_member_is_told_beside_its_gang() -> None:
    items = (*nodes(1, gpus(1)), *members(2))
    said = event(items[-1], "NotTriggerScaleUp", "pod didn't trigger scale-up", component="cluster-autoscaler", kind="Normal")
    assert [entry.component for entry in gang(2, *items, said, name="m-1").autoscaler if isinstance(entry, Said)] == ["cluster-autoscaler"]


def test_a_member_whose_claim_is_missing_holds_the_others() -> None:
    lost = pod("m-2", ("lost",), schedulingGroup={"podGroupName": "g"})
    report = gang(3, *nodes(2, gpus(2)), *members(2), lost)
    assert values(report) == {"member": "m-2", "because": "CLAIM_MISSING"}


def test_pods_of_different_priority_are_refused_as_a_group() -> None:
    report = gang(2, *nodes(2, gpus(2)), *member(0, request()), *member(1, request(), priority=7))
    assert (report.verdict, code(report)) == ("aborted by an error", "GANG_REFUSED")
    assert values(report)["what"] == "all pods in a single pod group should have the same priority as the pod group's priority, got 7 and 0"


def test_a_group_under_a_composite_one_is_unknown() -> None:
    group = pod_group(2, parentCompositePodGroupName="above", workloadRef={"workloadName": "w", "templateName": "t"})
    report = gang(2, *nodes(2, gpus(2)), *members(2), group=group, gates={**ON, "CompositePodGroup": True})
    assert (report.verdict, code(report)) == ("unknown", "GANG_NOT_MODELLED")


@pytest.mark.parametrize(
    ("hidden", "what"),
    [
        ("PodGroup", "PodGroup default/g could not be read"),
        ("ResourceSlice", "member m-0: ResourceSlices could not be read"),
        ("ResourceClaim", "ResourceClaim default/c-0 could not be read"),
    ],
)
def test_a_group_that_needs_what_could_not_be_read_is_unknown_and_says_what(hidden: str, what: str) -> None:
    items = [pod_group(2), device_class(), *nodes(2, gpus(2)), *members(2)]
    seen = cluster(*(item for item in items if item["kind"] != hidden), gates=ON)
    view = ClusterView(
        (item for kind in seen.kinds for item in seen.all(kind)), release=seen.release, now=seen.now, unreadable=[Unreadable(hidden, "403")]
    )
    report = explained(view, "m-0")
    assert (report.verdict, code(report)) == ("unknown", "UNREADABLE")
    assert values(report) == {"what": what}


# --- the trial --------------------------------------------------------------------------------------------------------------------


def test_a_gang_that_fits_says_where() -> None:
    report = gang(4, *nodes(2, gpus(2)), *members(4))
    assert (report.verdict, report.fits_on) == ("fits now", ("n1", "n2"))


def test_members_take_cpu_from_each_other() -> None:
    report = gang(3, node("n1", allocatable={"cpu": "5"}), *member(0, requests={"cpu": "2"}), *member(1, requests={"cpu": "2"}),
                  *member(2, requests={"cpu": "2"}))  # fmt: skip
    assert values(report) == {"min_count": 3, "fit": 2, "untried": 0, "member": "m-2", "because": "INSUFFICIENT_RESOURCE"}


def test_bound_members_count_towards_the_minimum() -> None:
    bound = pod("m-9", on="n1", schedulingGroup={"podGroupName": "g"})
    report = gang(4, *nodes(1, gpus(2)), *members(3), bound)
    assert report.gang is not None
    assert (values(report)["fit"], report.gang.bound, report.gang.turn) == (3, 1, 4)


def test_members_above_the_minimum_may_stay_behind() -> None:
    assert gang(2, *nodes(1, gpus(2)), *members(5)).verdict == "fits now"


def test_as_many_more_nodes_as_the_gang_needs_are_counted() -> None:
    assert outcomes(gang(7, *nodes(1, gpus(2)), *members(7)))["3 nodes more like n1"] == (7, 7)


def test_a_node_that_brings_nothing_is_not_offered() -> None:
    report = gang(2, *nodes(1, gpus(2)), *members(2, request("r", 3)))
    assert outcomes(report) == {}
    useless = {trial.change.text: trial.why for trial in report.not_helping}
    assert useless == {"count 3 → 2": "1 of 2", "1 node more like n1": "0 of 2"}


def test_a_claim_that_members_share_is_allocated_once() -> None:
    shared = [claim("all"), *(pod(f"m-{number}", ("all",), schedulingGroup={"podGroupName": "g"}) for number in range(3))]
    assert gang(3, *nodes(2, gpus(1)), *shared).verdict == "fits now"


def test_a_shared_claim_keeps_members_on_its_node() -> None:
    asking = [
        pod(f"m-{number}", ("all",), requests={"cpu": "5"}, schedulingGroup={"podGroupName": "g"}) for number in range(2)
    ]  # a node has 8 cpu: the second finds the claim on the first one's node, and too little there
    report = gang(2, *nodes(2, gpus(1)), claim("all"), *asking)
    assert values(report)["fit"] == 1


def test_a_claim_of_the_pod_group_is_its_members_own() -> None:
    owner = {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "name": "g", "uid": "uid-group-g", "controller": True}
    status = {"phase": "Pending", "resourceClaimStatuses": [{"name": "x", "resourceClaimName": "made"}]}
    entry = {"name": "x", "resourceClaimTemplateName": "t"}
    pods = [pod(f"m-{n}", schedulingGroup={"podGroupName": "g"}, resourceClaims=[entry], status=status) for n in range(2)]
    items = (*nodes(1, gpus(1)), claim("made", ownerReferences=[owner]), *pods)
    group = pod_group(2, resourceClaims=[entry])
    assert gang(2, *items, group=group, gates={**ON, "DRAWorkloadResourceClaims": True}).verdict == "fits now"
    assert code(gang(2, *items, group=group, gates={**ON, "DRAWorkloadResourceClaims": False})) == "CLAIM_OTHER_OWNER"


def test_where_the_choice_of_nodes_decides_the_verdict_is_unknown() -> None:
    """A pod for any node and one for the first: on the first node there is room for one of them."""
    roomy = (node("n1", labels={"fast": "yes"}, allocatable={"cpu": "4"}), node("n2", allocatable={"cpu": "3"}))
    items = (*roomy, *member(0, requests={"cpu": "2"}), *member(1, requests={"cpu": "3"}, nodeSelector={"fast": "yes"}))
    report = gang(2, *items)
    assert (report.verdict, code(report)) == ("unknown", "GANG_ORDER_DEPENDENT")
    assert (values(report)["fit"], values(report)["most"]) == (1, 2)


def other_shards(number: int) -> Item:
    """A wish to be away from shard 0."""
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"shard": "0"}}}
    return {"affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term}]}}}


def if_possible(number: int) -> Item:
    """A spread of each shard by itself, if possible."""
    constraint = {"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway"}
    return {"topologySpreadConstraints": [{**constraint, "labelSelector": {"matchLabels": {"shard": str(number)}}}]}


@pytest.mark.parametrize("wishes", [other_shards, if_possible, lambda number: {}])
@pytest.mark.parametrize("owned", [False, True])
def test_wishes_of_members_that_ask_the_same_make_nothing_uncertain(owned: bool, wishes: Callable[[int], Item]) -> None:
    """One shard in each StatefulSet: two fit on a node, whichever."""
    items: list[Item] = [node("n1"), node("n2")]
    for number in range(5):
        labels = {"shard": str(number)}
        (made,) = member(number, requests={"cpu": "3"}, metadata={"labels": labels}, **wishes(number))
        owner = replicated("StatefulSet", f"shard-{number}", **labels)
        items += [owner, owned_by(made, owner)] if owned else [made]
    report = gang(5, *items)
    assert (code(report), values(report)["fit"], values(report)["because"]) == ("GANG_PARTIAL_FIT", 4, "INSUFFICIENT_RESOURCE")
    assert outcomes(report) == {"1 node more like n1": (5, 5), "minCount 5 → 4 (mutable in 1.37)": (4, 5), "cpu 3 → 2": (5, 5)}


def test_what_no_assignment_can_place_is_certain_though_members_differ() -> None:
    items = (*nodes(2, gpus(2)), *member(0, request()), *member(1, request("r", 5)))
    assert values(gang(2, *items))["because"] == "NOT_ENOUGH_DEVICES"


def test_an_error_of_one_member_ends_the_attempt_for_all() -> None:
    broken = request("r", 1, "device.attributes['gpu.example.com'].absent == 'x'")
    report = gang(2, *nodes(1, gpus(4)), *member(0, request()), *member(1, broken))
    assert (report.verdict, code(report)) == ("aborted by an error", "GANG_MEMBER_ABORTS")
    assert values(report) == {"member": "m-1", "because": "CEL_KEY_MISSING"}


def test_what_closes_the_nodes_with_devices_is_opened_for_all_though_a_plain_node_is_open() -> None:
    taint = {"key": "team", "value": "b", "effect": "NoSchedule"}
    report = gang(2, node("n1", taints=[taint]), node("plain"), pool(gpus(2)), *members(2))
    assert report.cause is not None
    assert values(report)["because"] == "UNTOLERATED_TAINT"
    assert list(outcomes(report).values()) == [(2, 2)]


def test_of_a_resource_that_nodes_count_the_pods_of_the_nearest_node_are_in_the_way() -> None:
    """Those of a node that is tainted too aren't, however many they are."""
    count = {"example.com/gpu": "8"}
    busy = [pod(f"small-{number}", on="t", requests={"example.com/gpu": "1"}) for number in range(5)]
    tainted = node("t", allocatable=count, taints=[{"key": "team", "value": "b", "effect": "NoSchedule"}])
    big = pod("big", on="n1", requests={"example.com/gpu": "6"})
    gang = [pod_group(2), *(item for number in range(2) for item in member(number, requests={"example.com/gpu": "4"}))]
    report = explained(cluster(tainted, node("n1", allocatable=count), *busy, big, *gang, gates=ON), "m-0")
    assert report.verdict == "blocked by holders"
    assert [(holder.pods, holder.devices) for holder in report.holders] == [(("default/big",), 6)]
    assert {trial.change.text: trial.fit for trial in report.remedies} == {"pod default/big ends": 2, "1 node more like n1": 2}


def test_members_that_must_not_be_near_each_other_need_a_node_each() -> None:
    apart = {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "kubernetes.io/hostname"}
            ]
        }
    }
    pods = [pod(f"m-{n}", metadata={"labels": {"app": "x"}}, affinity=apart, schedulingGroup={"podGroupName": "g"}) for n in range(3)]
    labelled = [{**item, "metadata": {"namespace": "default", "name": item["metadata"]["name"], **item["metadata"]}} for item in pods]
    report = gang(3, node("n1"), node("n2"), *labelled)
    assert report.gang is not None
    assert report.gang.fit == 2


# --- topology ---------------------------------------------------------------------------------------------------------------------


def racks(*sizes: int) -> list[Item]:
    """Racks a, b, … with so many nodes of two devices."""
    found: list[Item] = []
    for rack, size in zip("abcdef", sizes, strict=False):
        for number in range(size):
            name = f"{rack}{number}"
            found += [node(name, labels={"rack": rack}), pool(gpus(2), name)]
    return found


def test_a_gang_that_fits_in_no_single_rack_says_how_many_fit_in_each() -> None:
    report = gang(5, *racks(2, 1), *members(5), group=pod_group(5, topology="rack"), gates=TOPOLOGY)
    assert code(report) == "GANG_NO_DOMAIN"
    assert values(report) == {"key": "rack", "min_count": 5, "domains": 2, "best": "a", "fit": 4}
    assert report.gang is not None
    assert report.gang.domains == (("a", 4), ("b", 2))


def test_one_rack_with_room_is_enough() -> None:
    report = gang(4, *racks(1, 2), *members(4), group=pod_group(4, topology="rack"), gates=TOPOLOGY)
    assert (report.verdict, report.fits_on) == ("fits now", ("b0", "b1"))


def test_a_bound_member_pins_the_rack() -> None:
    bound = pod("m-9", on="a0", schedulingGroup={"podGroupName": "g"})
    report = gang(4, *racks(1, 2), *members(3), bound, group=pod_group(4, topology="rack"), gates=TOPOLOGY)
    assert values(report) == {"key": "rack", "min_count": 4, "domains": 1, "best": "a", "fit": 3}


def test_without_the_gate_the_constraint_means_nothing() -> None:
    assert gang(5, *racks(2, 1), *members(5), group=pod_group(5, topology="rack")).verdict == "fits now"


def test_no_node_with_the_label_is_no_domain() -> None:
    report = gang(2, *nodes(2, gpus(2)), *members(2), group=pod_group(2, topology="rack"), gates=TOPOLOGY)
    assert values(report) == {"key": "rack", "min_count": 2, "domains": 0, "best": "", "fit": 0}


# --- what members carry -----------------------------------------------------------------------------------------------------------

QUORUM = "minCount (5) cannot be satisfied: 3 scheduled, 1 remaining"
NO_VICTIMS = "pod group preemption: No preemption victims found for incoming preemptor"
UNSCHEDULABLE = "pod group is unschedulable"


def carrying(message: str, reason: str = "Unschedulable") -> dict[str, Any]:
    condition = {"type": "PodScheduled", "status": "False", "reason": reason, "message": message, "lastTransitionTime": MOMENT}
    return {"phase": "Pending", "conditions": [condition]}


@pytest.mark.parametrize(
    ("gates", "placed", "untried"),
    [
        (ON, f"{UNSCHEDULABLE}, {QUORUM}, {NO_VICTIMS}", QUORUM),
        (
            TOPOLOGY,
            f"{UNSCHEDULABLE}, {UNSCHEDULABLE}, 0/1 placements are available, first placement status: {QUORUM}, {NO_VICTIMS}",
            f"{UNSCHEDULABLE}, 0/1 placements are available, first placement status: {QUORUM}",
        ),
    ],
    ids=["without domains", "with TopologyAwareWorkloadScheduling"],
)
def test_texts_seen_on_a_real_control_plane_are_predicted(gates: dict[str, bool], placed: str, untried: str) -> None:
    """Five pods, three nodes with room for one each (a 1.37.2 control plane, quiet)."""
    own = "0/3 nodes are available: 3 cannot allocate all claims."
    texts = [placed, placed, placed, own, untried]
    items = [item for number, text in enumerate(texts) for item in member(number, request("r", 2), status=carrying(text))]
    view = cluster(device_class(), pod_group(5), *nodes(3, gpus(2)), *items, gates=gates)
    assert [explained(view, f"m-{number}").check.match for number in range(5)] == ["agrees"] * 5


@pytest.mark.parametrize("gates", [ON, TOPOLOGY])
def test_members_of_one_that_aborts_say_whose_fault_it_was_without_a_name(gates: dict[str, bool]) -> None:
    error = (
        'running "DynamicResources" filter plugin: claim default/c-1: selector #0 on device gpu.example.com/n1/gpu-1: CEL runtime error: '
        "no such key: absent. consider using CEL optional chaining (.? followed by orValue()) "
        "or guarding the check with has() for optional fields"
    )
    broken = request("r", 1, "device.attributes['gpu.example.com'].absent == 'x'")
    other = carrying(f"failed to schedule other pod from a pod group: {error}", "SchedulerError")
    items = (*member(0, request(), status=other), *member(1, broken, status=carrying(error, "SchedulerError")))
    view = cluster(device_class(), pod_group(2), *nodes(1, gpus(2)), *items, gates=gates)
    assert [explained(view, f"m-{number}").check.match for number in range(2)] == ["agrees", "agrees"]


def test_where_no_node_has_the_label_the_scheduler_says_so() -> None:
    items = members(2, status=carrying("no feasible placements found"))
    view = cluster(device_class(), pod_group(2, topology="rack"), *nodes(2, gpus(2)), *items, gates=TOPOLOGY)
    assert explained(view, "m-0").check.match == "agrees"


def test_with_victims_around_the_end_of_the_text_is_left_open() -> None:
    lower = pod("low", on="n1", priority=-5)
    text = f"{UNSCHEDULABLE}, minCount (3) cannot be satisfied: 2 scheduled, 0 remaining, pod group preemption: something about victims"
    view = cluster(device_class(), pod_group(3), *nodes(1, gpus(2)), lower, *members(3, status=carrying(text)), gates=ON)
    assert explained(view, "m-0").check.match == "agrees"


# --- other releases ---------------------------------------------------------------------------------------------------------------


def test_1_36_tries_every_member_and_cannot_change_the_minimum_in_place() -> None:
    report = gang(4, *nodes(1, gpus(2)), *members(4), minor=36)
    assert values(report)["untried"] == 0
    lower = next(trial for trial in report.remedies if trial.change.text.startswith("minCount"))
    assert lower.change.text == "minCount 4 → 2 (in a new PodGroup)"
    assert "immutable" in lower.change.apply


def test_1_35_finds_the_gang_in_its_workload() -> None:
    workload = {
        "apiVersion": "scheduling.k8s.io/v1alpha1",
        "kind": "Workload",
        "metadata": {"name": "w", "namespace": "default"},
        "spec": {"podGroups": [{"name": "workers", "policy": {"gang": {"minCount": 3}}}]},
    }
    pods = [
        item
        for number in range(3)
        for item in (claim(f"c-{number}"), pod(f"m-{number}", (f"c-{number}",), workloadRef={"name": "w", "podGroup": "workers"}))
    ]
    view = cluster(device_class(), *nodes(1, gpus(2)), workload, *pods, minor=35, gates=IN_1_36)
    report = explained(view, "m-0")
    assert values(report) == {"min_count": 3, "fit": 2, "untried": 0, "member": "m-2", "because": "DEVICES_IN_USE"}
    assert report.cause is not None
    assert report.cause.finding.field == "spec.podGroups[0].policy.gang.minCount"


def test_a_basic_group_leaves_each_pod_its_own_verdict() -> None:
    report = gang(0, *nodes(1, gpus(1)), held("h", ["gpu-0"]), *members(2), group=pod_group(None))
    assert code(report) == "DEVICES_IN_USE"


def test_two_gangs_are_two_groups_of_what_waits() -> None:
    other = [item for number in range(5, 8) for item in member(number, request(), group="h")]
    view = cluster(device_class(), pod_group(3), pod_group(3, name="h"), *nodes(1, gpus(2)), *members(3), *other, gates=ON)
    pods = [entry for entry in view.all(Pod) if entry.is_pending]
    assert [(group.judged.word, len(group.pods)) for group in waiting_groups(view, pods)] == [("waits", 3), ("waits", 3)]


def test_two_pods_whose_end_lets_the_group_start_are_told() -> None:
    """One member has room; for the second both pods of the node would have to end, not a member."""
    pods = [pod(name, on="n1", requests={"cpu": "2"}) for name in ("a", "b")]
    view = cluster(node("n1", allocatable={"cpu": "8"}), *pods, pod_group(2), *one_and_one("4"), gates=ON)
    report = explained(view, "m-0")
    assert helping(report)["pods default/a and default/b end"] == ("n1",)
    short = cluster(node("n1", allocatable={"cpu": "8"}), *pods, pod_group(2), *one_and_one("5"), gates=ON)
    assert not any(text.endswith(" end") for text in helping(explained(short, "m-0")))


def one_and_one(cpu: str) -> list[Item]:
    return [item for number in range(2) for item in member(number, requests={"cpu": cpu})]


def test_a_node_that_registered_a_moment_ago_is_what_the_group_waits_for() -> None:
    labels = {"eks.amazonaws.com/nodegroup": "train"}
    young = node("young", labels=labels)
    young["metadata"]["creationTimestamp"] = "2026-11-29T11:59:20Z"
    view = cluster(device_class(), node("n1", labels=labels), pool(gpus(2), "n1"), young, pod_group(4), *members(4, request()), gates=ON)
    first = explained(view, "m-0").remedies[0]
    assert (first.change.text, first.fit) == (f"{DRIVER} publishes on young, registered 40 s ago, as on n1", 4)
    assert first.change.apply == "nothing is to be changed: wait for young"
    more = cluster(device_class(), node("n1", labels=labels), pool(gpus(2), "n1"), young, pod_group(5), *members(5, request()), gates=ON)
    assert not any("registered" in trial.change.text for trial in explained(more, "m-0").remedies)


def test_of_young_nodes_as_many_count_as_a_gang_has_members() -> None:
    labels = {"eks.amazonaws.com/nodegroup": "train"}
    young = [node(f"y{number}", labels=labels) for number in range(10)]
    for item in young:
        item["metadata"]["creationTimestamp"] = "2026-11-29T11:59:20Z"
    settled = (node("n1", labels=labels), pool(gpus(1), "n1"), held("h", ["gpu-0"], "n1", "q"), pod("q", ("h",), on="n1"))
    first = explained(cluster(device_class(), *settled, *young, pod_group(10), *members(10, request()), gates=ON), "m-0").remedies[0]
    assert (first.change.text, first.fit) == (f"{DRIVER} publishes on y0, y1 and 8 more, registered 40 s ago, as on n1", 10)
    assert first.change.apply == "nothing is to be changed: wait for y0, y1 and 8 more"
