"""What holds a pod before any node is looked at: gates, gangs, claims that aren't there or aren't its own."""

from __future__ import annotations

from typing import Any

import pytest

from .clusters import (
    DRIVER,
    MOMENT,
    Item,
    answered,
    asking,
    claim,
    cluster,
    code,
    device_class,
    explained,
    gpu,
    gpus,
    held,
    helping,
    node,
    pod,
    pool,
    request,
    trials,
    vain,
)
from .layers.objects import quota

HERE = (node("n1"), device_class(), pool(gpus(2)))
FROM_TEMPLATE = {"resourceClaims": [{"name": "g", "resourceClaimTemplateName": "t"}]}
TEMPLATE: Item = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaimTemplate",
    "metadata": {"name": "t", "namespace": "default"},
    "spec": {"spec": {"devices": {"requests": [request()]}}},
}


GATES = [{"name": "example.com/quota"}]


def test_a_pod_with_gates_is_held_and_its_device_trouble_waits_behind() -> None:
    report = explained(cluster(*HERE, *asking(request("r", 5), schedulingGates=GATES)))
    assert report.verdict == "held before scheduling"
    assert code(report) == "SCHEDULING_GATED"
    assert [found.code for found in report.behind] == ["NOT_ENOUGH_DEVICES"]
    assert helping(report) == {"count 5 → 2": ("n1",)}
    assert "once it isn't held, fits if (each checked)" in answered(cluster(*HERE, *asking(request("r", 5), schedulingGates=GATES)))


def test_a_pod_with_gates_that_would_fit_says_where() -> None:
    report = explained(cluster(*HERE, *asking(request(), schedulingGates=GATES)))
    assert report.verdict == "held before scheduling"
    assert report.behind == ()
    assert report.fits_on == ("n1",)


def test_a_pod_whose_pod_group_does_not_exist_is_held_and_its_device_trouble_waits_behind() -> None:
    items = (*HERE, *asking(request("r", 5), schedulingGroup={"podGroupName": "g"}))
    report = explained(cluster(*items, gates={"GenericWorkload": True}))
    assert report.verdict == "held before scheduling"
    assert code(report) == "POD_GROUP_MISSING"
    assert [found.code for found in report.behind] == ["NOT_ENOUGH_DEVICES"]


def test_a_claim_that_does_not_exist_is_named_with_the_one_that_was_meant() -> None:
    report = explained(cluster(*HERE, claim("trainer"), pod("p", ("trainr",))))
    assert code(report) == "CLAIM_MISSING"
    assert helping(report) == {"resourceClaimName trainr → trainer": ("n1",)}


def test_a_free_claim_is_offered_before_one_that_another_pod_uses_and_sharing_is_said() -> None:
    used = held("trainer", ["gpu-0"], "n1", "q")
    report = explained(cluster(*HERE, used, pod("q", ("trainer",), on="n1"), claim("trainer2"), pod("p", ("trainr",))))
    assert list(helping(report)) == [
        "resourceClaimName trainr → trainer2",
        "resourceClaimName trainr → trainer (shared with pod default/q)",
    ]
    assert report.remedies[0].change.field == "spec.resourceClaims[0].resourceClaimName"
    assert [trial.change.keeps_intent for trial in report.remedies] == [True, False]


def test_a_claim_that_was_not_generated_yet_is_waited_for() -> None:
    report = explained(cluster(*HERE, TEMPLATE, pod("p", **FROM_TEMPLATE)))
    assert report.verdict == "waits"
    assert code(report) == "CLAIM_NOT_CREATED"


def test_a_template_that_does_not_exist_is_the_cause() -> None:
    assert code(explained(cluster(*HERE, pod("p", **FROM_TEMPLATE)))) == "TEMPLATE_MISSING"


def test_a_claim_that_is_being_deleted_is_waited_for() -> None:
    gone = claim("c", deletionTimestamp=MOMENT, finalizers=["resource.kubernetes.io/delete-protection"])
    report = explained(cluster(*HERE, gone, pod("p", ("c",))))
    assert report.verdict == "waits"
    assert code(report) == "CLAIM_BEING_DELETED"


def test_a_claim_that_a_foreign_finalizer_keeps_is_not_waited_for_and_the_finalizer_is_named() -> None:
    gone = claim("c", deletionTimestamp=MOMENT, finalizers=["resource.kubernetes.io/delete-protection", "example.com/f"])
    view = cluster(*HERE, gone, pod("p", ("c",)))
    report = explained(view)
    assert (report.verdict, code(report)) == ("blocked", "CLAIM_BEING_DELETED")
    assert "it is being deleted, and finalizer example.com/f keeps it" in answered(view)


def test_a_generated_claim_of_another_pod_is_not_its_own() -> None:
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "q", "uid": "uid-q", "controller": True}
    status = {"phase": "Pending", "resourceClaimStatuses": [{"name": "g", "resourceClaimName": "c"}]}
    report = explained(cluster(*HERE, TEMPLATE, claim("c", ownerReferences=[owner]), pod("p", status=status, **FROM_TEMPLATE)))
    assert code(report) == "CLAIM_OTHER_OWNER"


@pytest.mark.parametrize("asked", ["gpus", "gpu-large", "gpu.example.org"])
def test_a_class_that_does_not_exist_is_named_with_one_of_about_its_name(asked: str) -> None:
    report = explained(cluster(*HERE, *asking(request(of=asked))))
    assert code(report) == "CLASS_MISSING"
    assert helping(report) == {f"deviceClassName {asked} → gpu": ("n1",)}


@pytest.mark.parametrize(
    ("asked", "there", "misspelt"),
    [("gpus", "gpu", True), ("gpu.example.cmo", "gpu.example.com", True), ("gpu-h100", "gpu-l4", False), ("nvidia-gpu", "amd-gpu", False)],
)
def test_another_class_is_what_was_meant_only_where_the_name_is_misspelt(asked: str, there: str, misspelt: bool) -> None:
    report = explained(cluster(HERE[0], device_class(there), pool(gpus(1)), *asking(request(of=asked))))
    changes = {trial.change.text: trial.change.keeps_intent for trial in report.remedies}
    assert changes == {f"deviceClassName {asked} → {there}": misspelt}


@pytest.mark.parametrize("asked", ["nvidia.com", "nic", "dra.net", ".", "a."])
def test_for_a_class_that_does_not_exist_no_other_kind_of_device_is_offered(asked: str) -> None:
    report = explained(cluster(*HERE, *asking(request(of=asked))))
    assert code(report) == "CLASS_MISSING"
    assert helping(report) == {}
    assert report.behind == ()


def test_the_class_of_a_driver_that_publishes_devices_is_created() -> None:
    other = device_class("nic", 'device.driver == "nic.example.com"')
    report = explained(cluster(HERE[0], other, pool(gpus(2)), *asking(request(of=DRIVER))))
    assert code(report) == "CLASS_MISSING"
    assert helping(report) == {f"DeviceClass {DRIVER} created (device.driver == '{DRIVER}')": ("n1",)}
    assert report.behind == ()


def test_behind_a_missing_class_it_is_told_that_its_driver_publishes_nothing() -> None:
    report = explained(cluster(*HERE, *asking(request(of="nic.example.com"))))
    assert code(report) == "CLASS_MISSING"
    assert [(found.code, str(found.object)) for found in report.behind] == [("CLASS_NO_MATCH", "DeviceClass nic.example.com")]
    assert "DeviceClass nic.example.com created (device.driver == 'nic.example.com')" in vain(report)


@pytest.mark.parametrize("of_the_other", ["device.driver == 'gpu.example.com'", "device.attributes['gpu.example.com'].type == 'gpu'"])
def test_a_class_that_may_be_for_devices_of_a_driver_of_another_name_is_not_imagined(of_the_other: str) -> None:
    """mig.example.com is of devices of driver gpu.example.com, which has no class for them or says of them that they are such."""
    here = (HERE[0], device_class(DRIVER, of_the_other), pool([gpu("mig-0", {"type": "mig"})]))
    report = explained(cluster(*here, *asking(request(of="mig.example.com"))))
    assert code(report) == "CLASS_MISSING"
    assert report.behind == ()
    assert not any("created" in trial.change.text for trial in trials(report))


@pytest.mark.parametrize(
    ("name", "said", "imagined"),
    [
        ("gpu-0", "gpu", True), ("gpu-0", "migration", True), ("gpu-0", "MIG", False), ("gpu-0", "NVIDIA MIG 1g", False),
        ("mig-0", "gpu", False),
    ],
)  # fmt: skip
def test_a_device_that_is_called_like_a_missing_class_may_be_of_it(name: str, said: str, imagined: bool) -> None:
    here = (HERE[0], device_class(DRIVER), pool([gpu(name, {"type": said})]))
    report = explained(cluster(*here, *asking(request(of="mig.example.com"))))
    assert code(report) == "CLASS_MISSING"
    assert [found.code for found in report.behind] == (["CLASS_NO_MATCH"] if imagined else [])


def test_behind_a_missing_class_of_a_domain_that_nobody_here_has_nothing_is_said() -> None:
    assert explained(cluster(*HERE, *asking(request(of="large.company.org")))).behind == ()


def test_without_nodes_in_sight_nothing_is_said_to_fit() -> None:
    report = explained(cluster(device_class(), *asking()))
    assert report.verdict == "unknown"


RUNNING: dict[str, Any] = {
    "phase": "Pending",
    "containerStatuses": [{"name": "main", "state": {"waiting": {"reason": "ContainerCreating"}}}],
}


def test_a_pod_that_is_bound_but_does_not_start_is_no_scheduling_problem() -> None:
    assert explained(cluster(*HERE, pod("p", on="n1", status=RUNNING))).verdict == "not a scheduling problem"


@pytest.mark.parametrize("status", [{"phase": "Succeeded"}, {"phase": "Failed"}])
def test_a_pod_that_has_ended_is_not_pending(status: Item) -> None:
    assert explained(cluster(*HERE, pod("p", status=status))).verdict == "not pending"


def test_a_pod_of_another_scheduler_has_device_facts_and_says_that_its_rules_are_not_known() -> None:
    report = explained(cluster(*HERE, *asking(request("r", 5), schedulerName="volcano")))
    assert code(report) == "NOT_ENOUGH_DEVICES"
    assert any("volcano" in text for text in report.assumptions)
    assert report.check.match == "none"


def test_a_pod_that_fits_now_is_told_where() -> None:
    report = explained(cluster(*HERE, *asking()))
    assert report.verdict == "fits now"
    assert report.fits_on == ("n1",)


def test_behind_a_claim_that_is_not_generated_its_template_is_tried() -> None:
    many = {**TEMPLATE, "spec": {"spec": {"devices": {"requests": [request("r", 9)]}}}}
    report = explained(cluster(*HERE, many, pod("p", **FROM_TEMPLATE)))
    assert code(report) == "CLAIM_NOT_CREATED"
    assert [(found.code, str(found.object), found.field) for found in report.behind] == [
        ("NOT_ENOUGH_DEVICES", "ResourceClaimTemplate default/t", "spec.spec.devices.requests[0].exactly.count")
    ]


def test_behind_a_claim_that_is_not_generated_those_that_are_there_stay() -> None:
    """One entry's claim holds a device for the pod already; the other's, of the other device, is still to be made."""
    entries = [{"name": name, "resourceClaimTemplateName": "t"} for name in ("g", "h")]
    there = held("p-g-x", ["gpu-0"], pod="p")
    waiting = pod(
        "p", resourceClaims=entries, status={"phase": "Pending", "resourceClaimStatuses": [{"name": "g", "resourceClaimName": "p-g-x"}]}
    )
    report = explained(cluster(*HERE, TEMPLATE, there, waiting))
    assert code(report) == "CLAIM_NOT_CREATED"
    assert report.behind == ()


def test_a_quota_without_room_is_named_though_nobody_says_so() -> None:
    devices = "gpu.deviceclass.resource.k8s.io/devices"
    items = (*HERE, TEMPLATE, pod("p", **FROM_TEMPLATE))
    full = explained(cluster(*items, quota("team", {devices: "4"}, {devices: "4"}), quota("pods", {"pods": "9"}, {"pods": "1"})))
    assert (full.verdict, code(full)) == ("held before scheduling", "QUOTA_EXCEEDED")
    assert full.cause is not None
    assert str(full.cause.finding.object) == "ResourceQuota default/team"
    assert code(explained(cluster(*items, quota("team", {devices: "4"}, {devices: "3"})))) == "CLAIM_NOT_CREATED"


def test_of_a_generated_claim_that_is_gone_a_template_that_is_gone_too_is_the_cause() -> None:
    status = {"phase": "Pending", "resourceClaimStatuses": [{"name": "g", "resourceClaimName": "p-g-x"}]}
    waiting = pod("p", **FROM_TEMPLATE, status=status)
    report = explained(cluster(*HERE, waiting))
    assert code(report) == "TEMPLATE_MISSING"
    assert report.behind == ()
    assert code(explained(cluster(*HERE, TEMPLATE, waiting))) == "CLAIM_MISSING"
