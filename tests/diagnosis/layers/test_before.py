"""Pods that no scheduler looks at: queues, gates, claims that nobody made, schedulers that aren't there, devices that aren't ready."""

from __future__ import annotations

from typing import Any

import pytest

from k8s_topo_mcp.diagnosis.evidence import Absent, Remover, Stated
from k8s_topo_mcp.diagnosis.triage import waiting_groups
from k8s_topo_mcp.objects import Pod
from tests.diagnosis.clusters import (
    Item,
    answered,
    asking,
    claim,
    cluster,
    code,
    device_class,
    explained,
    gpus,
    helping,
    node,
    pod,
    pool,
    request,
)
from tests.diagnosis.gangs import IN_1_36, ON, pod_group

from .objects import cluster_queue, condition, event, lease, local_queue, queued, quota

HERE = (node("n1"), device_class(), pool(gpus(2)))
TEMPLATE: Item = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaimTemplate",
    "metadata": {"name": "t", "namespace": "default"},
    "spec": {"spec": {"devices": {"requests": [request()]}}},
}
FROM_TEMPLATE: Item = {"resourceClaims": [{"name": "g", "resourceClaimTemplateName": "t"}]}
GATED: Item = {"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]}
# sigs.k8s.io/kueue pkg/scheduler/flavorassigner
NO_QUOTA = "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor h100, 4 more needed"
PENDING = condition("QuotaReserved", "False", "Pending", NO_QUOTA)


def kueue(*more: Item, workload: Item | None = None, **spec: Any) -> Any:
    own = pod("p", **GATED)
    made = workload if workload is not None else queued("w", PENDING, owner=own, **spec)
    return explained(cluster(*HERE, own, made, *more))


def test_a_workload_without_quota_is_told_in_the_words_of_its_queue() -> None:
    report = kueue(local_queue(), cluster_queue())
    assert report.verdict == "held before scheduling"
    found = report.cause.finding
    assert (found.code, found.text("queue"), found.text("message")) == ("QUEUE_NOT_ADMITTED", "ClusterQueue gpus", NO_QUOTA)
    assert report.behind == ()
    assert report.fits_on == ("n1",)


def test_device_trouble_waits_behind_the_queue() -> None:
    own = asking(request("r", 5), **GATED)
    report = explained(cluster(*HERE, *own, queued("w", PENDING, owner=own[1])))
    assert code(report) == "QUEUE_NOT_ADMITTED"
    assert [found.code for found in report.behind] == ["NOT_ENOUGH_DEVICES"]


def test_pods_of_a_group_find_their_workload_by_its_name() -> None:
    own = pod("p", metadata={"labels": {"kueue.x-k8s.io/pod-group-name": "group"}}, **GATED)
    assert code(explained(cluster(*HERE, own, queued("group", PENDING)))) == "QUEUE_NOT_ADMITTED"


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ((local_queue(stopPolicy="Hold"),), "QUEUE_STOPPED"),
        ((local_queue(), cluster_queue(stopPolicy="HoldAndDrain")), "QUEUE_STOPPED"),
        (
            (local_queue(), cluster_queue("gpus", condition("Active", "False", "FlavorNotFound", "Can't admit new workloads"))),
            "QUEUE_STOPPED",
        ),
        ((local_queue(), cluster_queue("others")), "QUEUE_MISSING"),
        ((local_queue("other"),), "QUEUE_MISSING"),
        ((), "QUEUE_NOT_ADMITTED"),
    ],
)
def test_a_queue_that_takes_nothing_is_the_cause(items: tuple[Item, ...], expected: str) -> None:
    assert code(kueue(*items)) == expected


def test_quota_without_its_admission_check_names_the_check() -> None:
    checks = {"admissionChecks": [{"name": "prov", "state": "Pending", "message": "waiting for nodes"}]}
    reserved = queued("w", condition("QuotaReserved"), owner=pod("p"), status=checks)
    report = kueue(workload=reserved)
    assert (code(report), report.cause.finding.text("check")) == ("QUEUE_CHECK_PENDING", "prov")


def test_an_eviction_is_seen_beside_the_queue() -> None:
    evicted = queued("w", PENDING, condition("Evicted", "True", "Preempted", "Preempted to accommodate a workload"), owner=pod("p"))
    seen = kueue(workload=evicted).cause.evidence
    assert [(entry.type, entry.reason) for entry in seen if isinstance(entry, Stated)] == [("Evicted", "Preempted")]


def test_an_admitted_workload_leaves_the_gate_as_the_cause() -> None:
    report = kueue(workload=queued("w", condition("QuotaReserved"), condition("Admitted", "True", "Admitted"), owner=pod("p")))
    assert code(report) == "SCHEDULING_GATED"
    assert any(isinstance(entry, Stated) and entry.type == "Admitted" for entry in report.cause.evidence)


def test_known_gates_name_who_removes_them_and_others_are_shown() -> None:
    gates = [{"name": "kueue.x-k8s.io/topology"}, {"name": "example.com/mine"}]
    report = explained(cluster(*HERE, pod("p", schedulingGates=gates)))
    assert report.cause is not None
    assert [entry.gate for entry in report.cause.evidence if isinstance(entry, Remover)] == ["kueue.x-k8s.io/topology"]
    assert report.cause.finding.values["gates"] == ("kueue.x-k8s.io/topology", "example.com/mine")


def test_a_claim_that_a_quota_refuses_names_the_quota() -> None:
    # pkg/controller/resourceclaim/controller.go syncPod and handleClaim, as a real 1.37 wrote it
    key = "gpu.deviceclass.resource.k8s.io/devices"
    text = (
        'PodResourceClaim g: create ResourceClaim : resourceclaims.resource.k8s.io "p-g-7xk2p" is forbidden: '
        f"exceeded quota: team, requested: {key}=1, used: {key}=4, limited: {key}=4"
    )
    own = pod("p", **FROM_TEMPLATE)
    complaint = event(own, "FailedResourceClaimCreation", text, component="resource_claim", count=9)
    report = explained(cluster(*HERE, TEMPLATE, own, complaint, quota("team", {key: "4"}, {key: "4"})))
    assert report.verdict == "held before scheduling"
    assert report.cause is not None
    assert (report.cause.finding.code, report.cause.finding.text("what")) == ("QUOTA_EXCEEDED", "ResourceClaim")
    assert report.behind == ()


def test_silence_about_a_claim_is_evidence() -> None:
    report = explained(cluster(*HERE, TEMPLATE, pod("p", **FROM_TEMPLATE)))
    assert (report.verdict, code(report)) == ("waits", "CLAIM_NOT_CREATED")
    assert report.cause is not None
    said = [entry.what for entry in report.cause.evidence if isinstance(entry, Absent)]
    assert [text.split(" ")[:3] for text in said] == [["no", "event", "of"], ["no", "PodScheduled", "condition:"]]


def gang_of_two(minor: int, *, claimless: tuple[int, ...] = (0, 1), group: int = 2) -> Any:
    """Two members that take claims from a template; `claimless` ones have none yet. GenericWorkload is on where it can be seen."""
    pods = [pod(f"m-{n}", schedulingGroup={"podGroupName": "g"}, **(FROM_TEMPLATE if n in claimless else {})) for n in (0, 1)]
    return cluster(*HERE, TEMPLATE, pod_group(group), *pods, minor=minor, gates=ON if minor == 37 else IN_1_36)


OTHER_SIDE = "switch GenericWorkload on in kube-controller-manager too"


def test_members_of_a_gang_whose_claims_nobody_makes_are_told_of_the_gate_of_the_other_component() -> None:
    view = gang_of_two(37)
    for name in ("m-0", "m-1"):
        report = explained(view, name)
        assert (report.verdict, code(report)) == ("waits", "CLAIM_NOT_CREATED")
        assert [advice.text.split(":")[0] for advice in report.advice] == [OTHER_SIDE]
        assert report.look_at != ()
    text = answered(view, "m-0")
    assert "if GenericWorkload is off in kube-controller-manager, members of a PodGroup get no claims" in text
    assert "no event of resource_claim about this pod" in text


def test_a_member_that_has_its_claims_is_told_of_the_one_that_has_not() -> None:
    view = gang_of_two(37, claimless=(1,))
    report = explained(view, "m-0")
    assert (report.verdict, code(report)) == ("held before scheduling", "GANG_MEMBER_HELD")
    assert [advice.text.split(":")[0] for advice in report.advice] == [OTHER_SIDE]
    text = answered(view, "m-0")
    assert "GenericWorkload is off in kube-controller-manager" in text
    assert OTHER_SIDE in text


def test_before_1_37_the_controller_makes_claims_of_members_whatever_the_gate() -> None:
    # k8s.io/kubernetes v1.36.3 pkg/controller/resourceclaim/controller.go doesn't ask for the gate
    assert explained(gang_of_two(36), "m-0").advice == ()


def test_a_gate_of_one_member_is_told_to_all_with_who_removes_it() -> None:
    pods = [pod("m-0", schedulingGroup={"podGroupName": "g"}), pod("m-1", schedulingGroup={"podGroupName": "g"}, **GATED)]
    report = explained(cluster(*HERE, pod_group(2), *pods, gates=ON), "m-0")
    assert report.cause is not None
    assert code(report) == "GANG_MEMBER_HELD"
    assert [entry.gate for entry in report.cause.evidence if isinstance(entry, Remover)] == ["kueue.x-k8s.io/admission"]


def test_a_queue_comes_before_the_gang() -> None:
    own = pod("m-0", schedulingGroup={"podGroupName": "g"}, **GATED)
    report = explained(cluster(*HERE, pod_group(2), own, queued("w", PENDING, owner=own), gates=ON), "m-0")
    assert code(report) == "QUEUE_NOT_ADMITTED"


def test_a_scheduler_that_is_down_comes_before_the_gang() -> None:
    own = [pod(f"m-{n}", schedulingGroup={"podGroupName": "g"}) for n in (0, 1)]
    down = (NODE_LEASE, lease("kube-scheduler", "2026-11-29T11:40:00Z"))
    assert code(explained(cluster(*HERE, pod_group(2), *own, *down, gates=ON), "m-0")) == "SCHEDULER_DOWN"


NODE_LEASE = lease("n1", "2026-11-29T11:59:55Z", "n1", "kube-node-lease")


def test_a_scheduler_that_stopped_renewing_its_lease_schedules_nobody() -> None:
    view = cluster(*HERE, *asking(), NODE_LEASE, lease("kube-scheduler", "2026-11-29T11:40:00Z"))
    report = explained(view)
    assert (report.verdict, code(report)) == ("waits", "SCHEDULER_DOWN")
    assert "waits: it wants a live kube-scheduler; its Lease was last renewed 20m ago by cp-1_x: nobody schedules" in answered(view)


@pytest.mark.parametrize("renewed", ["2026-11-29T11:59:50Z", "2026-11-29T11:59:00Z"])
def test_a_lease_that_lags_a_little_is_live(renewed: str) -> None:
    assert explained(cluster(*HERE, *asking(), NODE_LEASE, lease("kube-scheduler", renewed))).verdict == "fits now"


def test_leases_are_judged_as_of_their_own_list() -> None:
    old = (lease("n1", "2026-11-29T10:00:00Z", "n1", "kube-node-lease"), lease("kube-scheduler", "2026-11-29T09:59:58Z"))
    assert explained(cluster(*HERE, *asking(), *old)).verdict == "fits now"


def test_a_scheduler_without_any_sign_of_life_is_unknown_here() -> None:
    own = asking(schedulerName="vulcano")
    assert code(explained(cluster(*HERE, *own, NODE_LEASE))) == "SCHEDULER_UNKNOWN"
    assert code(explained(cluster(*HERE, *own, NODE_LEASE, pod("q", on="n1", schedulerName="vulcano")))) == ""
    assert code(explained(cluster(*HERE, *own, NODE_LEASE, lease("vulcano", "2026-11-29T11:59:50Z")))) == ""
    assert code(explained(cluster(*HERE, *own))) == ""


def binding(*conditions: Item, at: str = "2026-11-29T11:58:00Z") -> tuple[Item, ...]:
    result = {
        "request": "r",
        "driver": "gpu.example.com",
        "pool": "n1",
        "device": "gpu-0",
        "bindingConditions": ["Attached"],
        "bindingFailureConditions": ["AttachFailed"],
    }
    status: Item = {
        "allocation": {"devices": {"results": [result]}, "allocationTimestamp": at},
        "reservedFor": [{"resource": "pods", "name": "p", "uid": "uid-p"}],
    }
    if conditions:
        status["devices"] = [{"driver": "gpu.example.com", "pool": "n1", "device": "gpu-0", "conditions": list(conditions)}]
    return claim("c", request(), status=status), pod("p", ("c",))


GATES = {"DRADeviceBindingConditions": True, "DRAResourceClaimDeviceStatus": True}


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        (binding(), "BINDING_CONDITIONS_PENDING"),
        (binding(condition("Attached", "False", "Attaching")), "BINDING_CONDITIONS_PENDING"),
        (binding(at="2026-11-29T11:40:00Z"), "BINDING_TIMED_OUT"),
        (binding(condition("AttachFailed", "True", "NoPort")), "BINDING_FAILED"),
        (binding(condition("Attached", "True")), ""),
    ],
)
def test_a_device_that_is_not_ready_for_binding(items: tuple[Item, ...], expected: str) -> None:
    report = explained(cluster(*HERE, *items, gates=GATES))
    assert code(report) == expected
    assert report.verdict == ("waits" if expected else "fits now")


def test_without_the_gate_nobody_waits_for_devices() -> None:
    assert code(explained(cluster(*HERE, *binding(), gates={"DRADeviceBindingConditions": False}))) == ""


def of_another(items: tuple[Item, ...]) -> tuple[Item, ...]:
    """The same claim, but reserved for another pod."""
    own, waiting = items
    return {**own, "status": {**own["status"], "reservedFor": [{"resource": "pods", "name": "o", "uid": "uid-o"}]}}, waiting


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        (binding(), ""),
        (binding(at="2026-11-29T11:40:00Z"), "CLAIM_STUCK"),
        (binding(condition("AttachFailed", "True", "NoPort")), "CLAIM_STUCK"),
        (binding(condition("Attached", "True")), ""),
    ],
)
def test_a_claim_whose_devices_do_not_become_ready_is_no_use_to_others(items: tuple[Item, ...], expected: str) -> None:
    report = explained(cluster(*HERE, *of_another(items), gates=GATES))
    assert code(report) == expected
    assert report.verdict == ("blocked" if expected else "fits now")
    assert helping(report) == ({"claim default/c deallocated": ("n1",)} if expected else {})
    assert code(explained(cluster(*HERE, *of_another(items), gates={"DRADeviceBindingConditions": False}))) == ""


def test_a_claim_that_is_reserved_for_as_many_as_it_may_be_takes_no_other() -> None:
    own, waiting = binding(condition("Attached", "True"))
    others = [{"resource": "pods", "name": f"o{number}", "uid": f"uid-o{number}"} for number in range(256)]
    for count, expected in ((255, ""), (256, "CLAIM_FULL")):
        full = {**own, "status": {**own["status"], "reservedFor": others[:count]}}
        assert code(explained(cluster(*HERE, full, waiting))) == expected
    mine = {**own, "status": {**own["status"], "reservedFor": [*others[:255], {"resource": "pods", "name": "p", "uid": "uid-p"}]}}
    assert code(explained(cluster(*HERE, mine, waiting))) == ""


def test_devices_that_are_not_prepared_need_a_node_that_knows_it() -> None:
    own, waiting = binding()
    (result,) = own["status"]["allocation"]["devices"]["results"]
    result.pop("bindingConditions")
    result["skipNodeOperations"] = ["*"]
    assert code(explained(cluster(*HERE, own, waiting))) == "CLAIM_NEEDS_FEATURE"
    first, *rest = HERE
    knows = {**first, "status": {**first["status"], "declaredFeatures": ["DRAOptionalNodeOperations"]}}
    assert explained(cluster(knows, *rest, own, waiting)).verdict == "fits now"


def test_triage_names_each_queue_by_itself() -> None:
    items: list[Item] = []
    for name, queue in (("a", "research"), ("b", "research"), ("c", "products")):
        own = pod(name, **GATED)
        items += [own, queued(f"w-{name}", PENDING, owner=own, queue=queue)]
    view = cluster(*HERE, *items)
    groups = waiting_groups(view, view.all(Pod))
    assert sorted((group.code, len(group.pods)) for group in groups) == [
        ("QUEUE_NOT_ADMITTED", 1),
        ("QUEUE_NOT_ADMITTED", 2),
    ]
