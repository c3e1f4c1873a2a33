"""Requests and constraints that can't hold together, each of which could hold alone."""

from __future__ import annotations

import pytest

from k8s_topo_mcp.diagnosis.scheduler_gates import without_each
from k8s_topo_mcp.objects import Pod

from .clusters import (
    DRIVER,
    STANDARD,
    Item,
    answered,
    asking,
    claim,
    cluster,
    code,
    device_class,
    distinct,
    explained,
    gpu,
    gpus,
    held,
    helping,
    match,
    node,
    pod,
    pool,
    request,
    trials,
    vain,
)

NUMA = {"STD__numaNode": lambda number: number // 2, "STD__pcieRoot": lambda number: f"pci{number}"}
NIC = "nic.example.com"
HERE = (node("n1"), node("n2"), device_class(), pool(gpus(4, **NUMA), "n1"), pool(gpus(4, **NUMA), "n2"))


def nic(on: str, *roots: str) -> Item:
    devices = [{"name": f"nic-{number}", "attributes": {f"{STANDARD}/pcieRoot": {"string": root}}} for number, root in enumerate(roots)]
    return pool(devices, on, driver=NIC)


def test_a_constraint_names_the_largest_group_and_how_a_node_divides() -> None:
    report = explained(cluster(*HERE, *asking(request("r", 3), constraints=[match(f"{STANDARD}/numaNode")])))
    assert code(report) == "CONSTRAINT_UNSATISFIABLE"
    assert report.cause is not None
    assert report.cause.groups is not None
    assert (report.cause.groups.largest_free, report.cause.groups.largest_all) == (2, 2)
    assert report.cause.groups.values == (("0", (2,)), ("1", (2,)))
    assert helping(report) == {"count 3 → 2": ("n1", "n2"), "constraint removed": ("n1", "n2")}
    assert "more nodes of this shape" in vain(report)


def test_a_group_that_others_have_broken_into_is_a_matter_of_holders() -> None:
    items = (*HERE, held("a", ["gpu-0", "gpu-2"], "n1"), held("b", ["gpu-0", "gpu-2"], "n2"))
    report = explained(cluster(*items, *asking(request("r", 2), constraints=[match(f"{STANDARD}/numaNode")])))
    assert code(report) == "DEVICES_IN_USE"
    assert report.cause is not None
    assert report.cause.finding.field == "spec.devices.constraints[0]"
    assert {"count 2 → 1", "constraint removed", "releasing claim default/a (its pods are gone)"} <= set(helping(report))


def test_free_devices_that_never_fit_do_not_hide_a_node_where_others_are_in_the_way() -> None:
    """On n3 and n4 all share a value; n3 is full, on n4 two are free, and a third one is all that a claim holds there."""
    larger = (node("n3"), node("n4"), *(pool(gpus(5, STD__numaNode=7), on) for on in ("n3", "n4")))
    holders = (("full", range(5), "n3"), ("large", range(2), "n4"), ("small", range(2, 3), "n4"))
    taken = [
        item
        for name, numbers, on in holders
        for item in (held(name, [f"gpu-{number}" for number in numbers], on, name), pod(name, (name,), on=on))
    ]
    report = explained(cluster(*HERE, *larger, *taken, *asking(request("r", 3), constraints=[match(f"{STANDARD}/numaNode")])))
    assert (report.verdict, code(report)) == ("blocked by holders", "DEVICES_IN_USE")
    assert report.cause is not None
    assert report.cause.groups is not None
    assert (report.cause.groups.node, report.cause.groups.largest_free, report.cause.groups.largest_all) == ("n4", 2, 5)
    assert next(text for text in helping(report) if text.startswith("releasing")) == "releasing default/small"


def test_an_attribute_under_another_domain_is_found_as_a_look_alike() -> None:
    report = explained(cluster(*HERE, *asking(request("r", 2), constraints=[match(f"{DRIVER}/numaNode")])))
    assert code(report) == "CONSTRAINT_ATTRIBUTE_MISSING"
    assert report.cause is not None
    assert report.cause.look_alike is not None
    assert report.cause.look_alike.attribute == f"{STANDARD}/numaNode"
    first = report.remedies[0].change
    assert (first.text, first.keeps_intent) == (f"matchAttribute {STANDARD}/numaNode", True)


def test_an_attribute_of_another_name_with_the_values_that_the_other_devices_have_is_a_look_alike_too() -> None:
    roots = gpus(2, rootComplex=lambda number: f"pci{number}", serial=lambda number: f"s{number}")
    items = (node("n1"), device_class(), pool(roots), nic("n1", "pci0", "pci1"), device_class("nic", f'device.driver == "{NIC}"'))
    asked = asking(request("gpu"), request("nic", of="nic"), constraints=[match(f"{STANDARD}/pcieRoot")])
    report = explained(cluster(*items, *asked))
    assert code(report) == "CONSTRAINT_ATTRIBUTE_MISSING"
    assert report.cause is not None
    alike = report.cause.look_alike
    assert alike is not None
    assert (alike.attribute, alike.shared, alike.published) == (f"{DRIVER}/rootComplex", 2, 2)
    assert f"matchAttribute {DRIVER}/rootComplex" in vain(report)
    assert f"on 2 of them with the same values as {STANDARD}/pcieRoot of devices of another request" in answered(cluster(*items, *asked))


def test_one_text_that_devices_share_or_texts_that_no_one_node_has_are_no_look_alike() -> None:
    """A constant of all devices is equal by chance; and slices for all nodes don't say which devices are on one."""
    items = (node("n1"), device_class(), device_class("nic", f'device.driver == "{NIC}"'))
    asked = asking(request("gpu"), request("nic", of="nic"), constraints=[match(f"{STANDARD}/pcieRoot")])
    constant = (pool(gpus(2, partition="0")), nic("n1", "0", "1"))
    nics = [gpu(f"nic-{number}", {f"{STANDARD}/pcieRoot": f"pci{number}"}) for number in range(2)]
    for_all = (pool(gpus(2, rack=lambda number: f"pci{number}"), allNodes=True), pool(nics, driver=NIC, allNodes=True))
    for slices in (constant, for_all):
        report = explained(cluster(*items, *slices, *asked))
        assert code(report) == "CONSTRAINT_ATTRIBUTE_MISSING"
        assert report.cause is not None
        assert report.cause.look_alike is None


def test_an_attribute_without_a_look_alike_is_just_missing() -> None:
    report = explained(cluster(*HERE, *asking(request("r", 2), constraints=[match(f"{DRIVER}/rack")])))
    assert code(report) == "CONSTRAINT_ATTRIBUTE_MISSING"
    assert report.cause is not None
    assert report.cause.look_alike is None


def test_of_two_drivers_the_one_whose_devices_lack_the_attribute_is_named() -> None:
    items = (*HERE, nic("n1", "pci0"), device_class("nic", f'device.driver == "{NIC}"'))
    claims = asking(request("gpu"), request("nic", of="nic"), constraints=[match(f"{STANDARD}/numaNode")])
    report = explained(cluster(*items, *claims))
    assert code(report) == "CONSTRAINT_ATTRIBUTE_MISSING"
    assert report.cause is not None
    assert report.cause.funnel is not None
    assert report.cause.funnel.name == "nic"


LISTS = "DRAListTypeAttributes"
OFF = {LISTS: False}


def near_two_roots(*roots: list[str]) -> tuple[Item, ...]:
    """A node with a GPU near each of these pairs of roots and with two NICs, each near one root; both on one root are wanted."""
    devices = gpus(len(roots), STD__pcieRoot=lambda number: roots[number])
    items = (node("n1"), device_class(), pool(devices), nic("n1", "pci0", "pci1"), device_class("nic", f'device.driver == "{NIC}"'))
    return *items, *asking(request("gpu"), request("nic", of="nic"), constraints=[match(f"{STANDARD}/pcieRoot")])


def test_lists_that_the_scheduler_does_not_compare_are_the_cause_and_not_their_values() -> None:
    view = cluster(*near_two_roots(["pci0", "pci2"]), gates=OFF)
    report = explained(view)
    assert (report.verdict, code(report)) == ("blocked", "FEATURE_OFF")
    assert report.cause is not None
    assert report.cause.finding.text("feature") == LISTS
    assert list(helping(report)) == [f"{LISTS} on in kube-scheduler", "constraint removed"]
    lines = answered(view).split("\n")
    assert "devices that agree in pcieRoot; some publish it as a list" in lines[0]
    assert lines[2].strip() == f"matchAttribute {STANDARD}/pcieRoot"


def test_lists_that_share_no_value_are_no_matter_of_the_feature() -> None:
    assert code(explained(cluster(*near_two_roots(["pci2", "pci3"]), gates=OFF))) == "CONSTRAINT_UNSATISFIABLE"


def test_single_values_are_no_matter_of_the_feature() -> None:
    items = (*HERE, nic("n1", "pci9"), device_class("nic", f'device.driver == "{NIC}"'))
    asked = asking(request("gpu"), request("nic", of="nic"), constraints=[match(f"{STANDARD}/pcieRoot")])
    assert code(explained(cluster(*items, *asked, gates=OFF))) == "CONSTRAINT_UNSATISFIABLE"


@pytest.mark.parametrize(("minor", "expected"), [(36, "RELEASE_MISSES"), (37, "FEATURE_OFF")])
def test_behind_lists_that_are_not_compared_stands_who_holds_the_devices(minor: int, expected: str) -> None:
    other = held("other", ["gpu-0"], "n1", "q")
    items = (*near_two_roots(["pci0", "pci2"], ["pci4", "pci5"]), other, pod("q", ("other",), on="n1"))
    report = explained(cluster(*items, minor=minor, gates={LISTS: minor == 36}))
    assert code(report) == expected
    assert [found.code for found in report.behind] == ["DEVICES_IN_USE"]


def test_1_36_compares_no_lists_either_where_the_feature_is_off() -> None:
    """No selector is in the way: with the feature on nothing would be different."""
    items = [entry for entry in near_two_roots(["pci0", "pci2"]) if entry["kind"] != "DeviceClass"]
    classes = [{**entry, "spec": {}} for entry in (device_class(), device_class("nic"))]
    assert code(explained(cluster(*items, *classes, minor=36, gates=OFF))) == "RELEASE_MISSES"


def test_1_36_tells_only_selectors_of_the_feature() -> None:
    report = explained(cluster(*near_two_roots(["pci0", "pci2"]), minor=36, gates={LISTS: True}))
    assert (report.verdict, code(report)) == ("missed by this release", "RELEASE_MISSES")
    assert report.cause is not None
    assert "a list of values is equal to nothing" in report.cause.finding.text("effect")
    assert helping(report)[f"Kubernetes 1.36 → 1.37 with {LISTS} on"] == ("n1",)
    assert "Kubernetes 1.36 → 1.37" in vain(report)


def test_1_36_is_told_of_the_feature_where_its_scheduler_has_it_off() -> None:
    """The feature alone is no remedy there."""
    items = [entry for entry in near_two_roots(["pci0", "pci2"]) if entry["kind"] != "DeviceClass"]
    classes = [{**entry, "spec": {}} for entry in (device_class(), device_class("nic"))]
    tried = trials(explained(cluster(*items, *classes, minor=36, gates=OFF)))
    assert [trial.change.text for trial in tried if trial.change.release is not None and trial.nodes] == [
        f"Kubernetes 1.36 → 1.37 with {LISTS} on"
    ]


def test_what_fits_only_with_a_feature_that_the_scheduler_may_not_have_is_said_to() -> None:
    told = f"it fits if {LISTS}, which is on in the API server, is on in kube-scheduler too (off by default)"
    assert told in explained(cluster(*near_two_roots(["pci0", "pci2"]))).assumptions
    assert told not in explained(cluster(*near_two_roots(["pci0", "pci2"]), gates={LISTS: True})).assumptions
    one_root = [match(f"{STANDARD}/pcieRoot", "nic")]
    loose = asking(request("gpu"), request("nic", of="nic"), constraints=one_root)
    assert explained(cluster(*near_two_roots(["pci0", "pci2"])[:-2], *loose)).assumptions == ()


def refused(message: str, reason: str = "Unschedulable") -> Item:
    """Pod p with its claim c, of which the scheduler said so."""
    condition = {"type": "PodScheduled", "status": "False", "reason": reason, "message": message}
    return pod("p", ("c",), status={"phase": "Pending", "conditions": [condition]})


@pytest.mark.parametrize("said", ["0/1 nodes are available: 1 cannot allocate all claims.", "0/1 nodes are available: 1 Insufficient cpu."])
def test_a_refusal_that_a_device_given_back_since_would_explain_does_not_tell_that_a_feature_is_off(said: str) -> None:
    """Who had the device is gone with all its objects: the sentence is the same as with the feature off."""
    report = explained(cluster(*near_two_roots(["pci0", "pci2"])[:-1], refused(said)))
    assert (report.verdict, code(report)) == ("fits now", "")
    assert report.check.match == "differs"
    assert report.assumptions == (f"it fits if {LISTS}, which is on in the API server, is on in kube-scheduler too (off by default)",)


SHARES = "DRAConsumableCapacity"
SHARES_OFF = f"{SHARES} is on in the API server, and by its sentence off in kube-scheduler"
NO_SHARES = (
    'running "DynamicResources" filter plugin: claim default/c, request r: has capacity requests, but the DRAConsumableCapacity feature '
    "is disabled"
)


@pytest.mark.parametrize("asked", ["10Gi", "90Gi"])
def test_a_refusal_of_the_feature_itself_tells_that_it_is_off_in_the_scheduler(asked: str) -> None:
    """Whether the pod fits with it or not: no device changes that."""
    part = claim("c", request("r", capacity={"requests": {"memory": asked}}))
    shared = pool([gpu("gpu-0", allowMultipleAllocations=True)])
    report = explained(cluster(node("n1"), device_class(), shared, part, refused(NO_SHARES, "SchedulerError"), minor=34))
    assert (code(report), report.assumptions) == ("FEATURE_OFF", (SHARES_OFF,))
    assert report.cause is not None
    assert report.cause.finding.text("feature") == SHARES


def test_without_devices_to_allocate_a_pod_is_not_placed_under_other_gates() -> None:
    view = cluster(*near_two_roots(["pci0", "pci2"]), pod("plain"))
    plain, asking_for_devices = (view.get(Pod, name, "default") for name in ("plain", "p"))
    assert plain is not None
    assert asking_for_devices is not None
    assert without_each(view, plain) == ()
    assert [name for name, _ in without_each(view, asking_for_devices)] == [LISTS]
    assert without_each(view, asking_for_devices) is without_each(view, asking_for_devices)


def test_distinct_values_are_counted() -> None:
    report = explained(cluster(*HERE, *asking(request("r", 3), constraints=[distinct(f"{STANDARD}/numaNode")])))
    assert code(report) == "CONSTRAINT_UNSATISFIABLE"
    assert report.cause is not None
    assert report.cause.finding.number("largest") == 2
    assert "count 3 → 2" in helping(report)


def test_a_constraint_over_two_requests_shows_what_each_has_of_every_value_and_the_minimal_conflict() -> None:
    items = (*HERE, nic("n1", "pci9"), nic("n2", "pci8"), device_class("nic", f'device.driver == "{NIC}"'))
    claims = asking(request("gpu"), request("nic", of="nic"), constraints=[match(f"{STANDARD}/pcieRoot")])
    report = explained(cluster(*items, *claims))
    assert code(report) == "CONSTRAINT_UNSATISFIABLE"
    assert report.cause is not None
    assert report.cause.groups is not None
    assert report.cause.groups.requests == ("gpu", "nic")
    assert ("pci0", (1, 0)) in report.cause.groups.values
    assert report.cause.conflict == ("matchAttribute pcieRoot", "request gpu (1 × gpu)", "request nic (1 × nic)")
    assert {"constraint removed", "request gpu removed", "request nic removed"} <= set(helping(report))


def test_requests_that_want_more_together_than_there_is_compete() -> None:
    report = explained(cluster(*HERE, *asking(request("a", 3), request("b", 2))))
    assert code(report) == "REQUESTS_COMPETE"
    assert report.cause is not None
    assert report.cause.conflict == ("request a (3 × gpu)", "request b (2 × gpu)")
    assert "count 3 → 2" in helping(report)


def test_an_innocent_request_is_left_out_of_the_conflict() -> None:
    items = (*HERE, nic("n1", "pci0"), device_class("nic", f'device.driver == "{NIC}"'))
    report = explained(cluster(*items, *asking(request("a", 3), request("nic", of="nic"), request("b", 2))))
    assert report.cause is not None
    assert report.cause.conflict == ("request a (3 × gpu)", "request b (2 × gpu)")


def test_claims_of_one_pod_compete_too_and_are_named() -> None:
    report = explained(cluster(*HERE, claim("c", request("a", 3)), claim("d", request("b", 3)), pod("p", ("c", "d"))))
    assert report.cause is not None
    assert report.cause.conflict == ("c: request a (3 × gpu)", "d: request b (3 × gpu)")


def test_claims_whose_constraints_hold_alone_and_not_together_compete() -> None:
    numa = [match(f"{STANDARD}/numaNode")]
    made = (
        claim("c", request("a", 2), constraints=numa),
        claim("d", request("b", 1), constraints=numa),
        claim("e", request("f", 2), constraints=numa),
    )
    report = explained(cluster(*HERE, *made, pod("p", ("c", "d", "e"))))
    assert code(report) == "REQUESTS_COMPETE"
    assert report.cause is not None
    assert report.cause.finding.values["requests"] == ("a of c", "b of d", "f of e")
