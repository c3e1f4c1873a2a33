"""Errors that end every scheduling attempt, and what older releases make of a claim that could be met."""

from __future__ import annotations

import pytest

from k8s_topo_mcp.tools import blocker_parts, wording

from .clusters import (
    DRIVER,
    STANDARD,
    Item,
    answered,
    asking,
    cluster,
    code,
    device_class,
    either,
    exactly,
    explained,
    gpu,
    gpus,
    helping,
    match,
    node,
    offered,
    partitioned,
    pool,
    request,
    vain,
)

OWN = f'device.attributes["{DRIVER}"]'
ONE = (node("n1"), device_class())
NUMA = f"{STANDARD}/numaNode"


def test_a_misspelt_attribute_is_respelt_and_guards_do_not_help() -> None:
    report = explained(cluster(*ONE, pool(gpus(2)), *asking(request("r", 1, f'{OWN}.tpye == "gpu"'))))
    assert report.verdict == "aborted by an error"
    assert code(report) == "CEL_KEY_MISSING"
    assert list(helping(report)) == ["tpye → type", "selectors[0] removed"]
    assert {"has() guard on tpye", ".?tpye.orValue('')"} <= set(vain(report))
    assert vain(report)['.?tpye.orValue("gpu")'].startswith("starts, but on any device")


def test_a_key_under_the_wrong_domain_is_told_from_one_that_is_not_there() -> None:
    view = cluster(
        *ONE, pool(gpus(2, index=lambda number: number)), *asking(request("r", 1, 'device.attributes["gpu.exmaple.com"].index == 1'))
    )
    report = explained(view)
    assert report.cause is not None
    said = wording.wanted_and_found(report.cause.finding, report.cause)
    assert said == (
        "attribute 'index' of domain gpu.exmaple.com",
        "no device publishes anything under that domain (nearest: gpu.example.com/index, on 2 of 2)",
    )
    assert blocker_parts.blocker(report.cause).published == ("gpu.example.com/index", "gpu.example.com/type")
    assert helping(report)["gpu.exmaple.com/index → gpu.example.com/index"] == ("n1",)
    assert offered(report)[0].to == 'device.attributes["gpu.example.com"].index == 1'


def test_a_standard_attribute_is_found_under_its_own_domain() -> None:
    devices = [gpu("a"), gpu("b", {NUMA: 1})]
    report = explained(cluster(*ONE, pool(devices), *asking(request("r", 1, f"{OWN}.numaNode == 1"))))
    assert report.cause is not None
    assert wording.wanted_and_found(report.cause.finding, report.cause)[1] == f"no device publishes it (nearest: {NUMA}, on 1 of 2)"
    respelt = f"gpu.example.com/numaNode → {NUMA}"
    assert helping(report)[f"{respelt} and a has() guard on it"] == ("n1",)
    assert respelt in vain(report), "device a would still end the attempt"


def test_a_misspelt_capacity_is_a_capacity_and_is_respelt_with_a_value_that_is_there() -> None:
    asked = f'device.capacity["{DRIVER}"].memry.compareTo(quantity("90Gi")) >= 0'
    report = explained(cluster(*ONE, pool(gpus(2)), *asking(request("r", 1, asked))))
    assert report.cause is not None
    assert wording.wanted_and_found(report.cause.finding, report.cause) == (
        "capacity 'memry'",
        "no device publishes it (nearest: memory, on 2 of 2)",
    )
    assert blocker_parts.blocker(report.cause).published == ("memory",)
    assert list(helping(report)) == ["memry → memory and 90Gi → 80Gi", "selectors[0] removed"]
    assert "memry → memory" in vain(report)
    assert vain(report)['.?memry.orValue(quantity("90Gi"))'].startswith("starts, but on any device")


def test_a_capacity_read_as_an_attribute_is_read_as_a_capacity() -> None:
    asked = f'{OWN}.memory.compareTo(quantity("40Gi")) >= 0'
    report = explained(cluster(*ONE, pool(gpus(2)), *asking(request("r", 1, asked))))
    assert list(helping(report)) == ["attribute memory → capacity memory", "selectors[0] removed"]


def test_a_key_is_never_said_to_be_near_itself() -> None:
    devices = [gpu("a", {"index": 0}), gpu("b")]
    report = explained(cluster(*ONE, pool(devices), *asking(request("r", 1, f"{OWN}.index >= 0"))))
    assert not [text for text in (*helping(report), *vain(report)) if "→" in text]


def test_an_attribute_that_some_devices_lack_says_how_many_have_it() -> None:
    devices = [gpu("a", {"index": 0}), gpu("b")]
    report = explained(cluster(*ONE, pool(devices), *asking(request("r", 2, f"{OWN}.index >= 0"))))
    assert code(report) == "CEL_KEY_MISSING"
    assert report.cause is not None
    assert (report.cause.finding.number("having"), report.cause.finding.number("of")) == (1, 2)


def test_a_selector_of_a_class_is_changed_at_the_class() -> None:
    bad = device_class("bad", f"{OWN}.x == 1")
    report = explained(cluster(*ONE, pool(gpus(2)), bad, *asking(request(of="bad"))))
    assert helping(report) == {"selectors[0] of DeviceClass bad removed": ("n1",)}


def test_a_selector_that_fails_otherwise_names_device_and_error() -> None:
    devices = gpus(2, index=lambda number: number)
    report = explained(cluster(*ONE, pool(devices), *asking(request("r", 1, f"10 / {OWN}.index == 5"))))
    assert code(report) == "CEL_ERROR"
    assert report.cause is not None
    assert report.cause.finding.text("error") == "division by zero"


def test_a_selector_that_does_not_compile_is_an_error_of_every_attempt() -> None:
    assert code(explained(cluster(*ONE, pool(gpus(2)), *asking(request("r", 1, "device.nope == 1"))))) == "CEL_COMPILE_ERROR"


def test_all_devices_of_a_pool_that_is_being_updated_is_an_error() -> None:
    report = explained(cluster(*ONE, pool(gpus(2), count=2), *asking(request("r", None))))
    assert code(report) == "ALL_POOL_UNUSABLE"


def test_all_devices_against_a_constraint_is_told_to_depend_on_order_and_the_order_that_works_is_offered() -> None:
    gpus_here = pool([gpu("g0", {NUMA: 0}), gpu("g1", {NUMA: 1})])
    nics = pool([{"name": "nic", "attributes": {NUMA: {"int": 1}}}], driver="nic.example.com")
    classes = (device_class(), device_class("nic", 'device.driver == "nic.example.com"'))
    claims = asking(request("gpu"), request("nics", None, of="nic"), constraints=[match(NUMA)])
    report = explained(cluster(node("n1"), *classes, gpus_here, nics, *claims))
    assert code(report) == "ALL_CONSTRAINT"
    assert report.cause is not None
    assert report.cause.order
    assert helping(report)["requests in the order nics, gpu"] == ("n1",)


def test_an_order_that_does_not_work_either_is_not_offered() -> None:
    devices = gpus(4, STD__numaNode=lambda number: number // 2)
    claims = asking(request("all", None), request("one"), constraints=[match(NUMA)])
    report = explained(cluster(*ONE, pool(devices), *claims))
    assert "requests in the order one, all" in vain(report)


def test_more_results_than_a_claim_may_have_are_cut_to_what_is_there() -> None:
    report = explained(cluster(*ONE, pool(gpus(4)), *asking(request("r", 33))))
    assert code(report) == "TOO_MANY_RESULTS"
    assert helping(report) == {"count 33 → 4": ("n1",)}


def test_a_feature_that_is_off_is_named_by_its_gate() -> None:
    claims = asking(either("r", exactly(1), exactly(2)))
    report = explained(cluster(*ONE, pool(gpus(2)), *claims, gates={"DRAPrioritizedList": False}))
    assert code(report) == "FEATURE_OFF"
    assert report.cause is not None
    assert report.cause.finding.text("feature") == "DRAPrioritizedList"
    assert helping(report) == {"only the first alternative": ("n1",)}


def charging(name: str, numa: int) -> Item:
    return gpu(name, {NUMA: numa}, consumesCounters=[{"counterSet": "card", "counters": {"m": {"value": "10"}}}])


@pytest.fixture
def leaking() -> tuple[Item, ...]:
    """1.35 charges y's counters, rejects y for its NUMA node, and forgets to give them back: z then seems to be taken."""
    counters = [{"name": "card", "counters": {"m": {"value": "10"}}}]
    devices = [gpu("x", {NUMA: 0}), charging("y", 1), charging("z", 0)]
    slices = (pool(devices, count=2), pool([], name="sets", count=2, sharedCounters=counters))
    return (*ONE, *slices, *asking(request("r", 2), constraints=[match(NUMA)]))


def test_a_solution_that_this_release_misses_is_told_with_the_defect_and_the_release_that_finds_it(leaking: tuple[Item, ...]) -> None:
    report = explained(cluster(*leaking, minor=35, gates={"DRAPartitionableDevices": True}))
    assert report.verdict == "missed by this release"
    assert code(report) == "RELEASE_MISSES"
    assert report.cause is not None
    assert report.cause.finding.values["defects"] == ("counters leak",)
    assert helping(report)["Kubernetes 1.35 → 1.37"] == ("n1",)


def test_the_newest_release_finds_it(leaking: tuple[Item, ...]) -> None:
    assert explained(cluster(*leaking, minor=37)).verdict == "fits now"


def test_a_scheduler_that_crashes_is_said_to_crash() -> None:
    view = cluster(*ONE, *partitioned(minor=35), *asking(request("r", None)), minor=35, gates={"DRAPartitionableDevices": True})
    report = explained(view)
    assert code(report) == "SCHEDULER_CRASH"
    assert "allocationMode All → ExactCount 1" in helping(report)


def test_an_outcome_that_depends_on_the_order_of_pools_is_unknown() -> None:
    broken = pool([gpu("x"), gpu("x")], driver="other.example.com", name="zz")
    report = explained(cluster(*ONE, device_class("any", "true"), pool(gpus(1)), broken, *asking(request(of="any")), minor=34))
    assert report.verdict == "unknown"
    assert code(report) == "ORDER_DEPENDENT"


def test_a_capacity_that_the_arithmetic_of_the_device_cannot_hold_is_an_error() -> None:
    capacity = {"memory": {"value": "80Gi", "requestPolicy": {"default": "10Gi", "validRange": {"min": "10Gi", "step": "16Gi"}}}}
    device = {"name": "s0", "allowMultipleAllocations": True, "capacity": capacity}
    claims = asking(request("r", 1, capacity={"requests": {"memory": "9223372036854775800"}}))
    view = cluster(*ONE, pool([device]), *claims)
    report = explained(view)
    assert code(report) == "CAPACITY_NOT_REPRESENTABLE"
    assert "passes MaxInt64" in answered(view)


def test_a_selector_of_an_unknown_kind_is_refused_by_the_scheduler() -> None:
    claims = asking({"name": "r", "exactly": {**exactly(1), "selectors": [{}]}})
    view = cluster(*ONE, pool(gpus(2)), *claims)
    report = explained(view)
    assert code(report) == "REQUEST_NOT_SUPPORTED"
    assert "CEL expression empty" in answered(view)


def test_a_derived_attribute_that_fails_names_the_device_and_the_expression() -> None:
    expression = f'device.attributes["{DRIVER}"].lane'
    derived = [{"name": "example.com/lane", "expression": expression}]
    claims = asking(request("r", 2, derivedAttributes=derived), constraints=[match("example.com/lane")])
    view = cluster(*ONE, pool(gpus(2)), *claims, gates={"DRADerivedAttributes": True})
    report = explained(view)
    assert code(report) == "CEL_ERROR"
    assert report.cause is not None
    assert report.cause.finding.field == "spec.devices.requests[0].exactly.derivedAttributes[0]"
    assert "no such key: lane" in answered(view)
    assert "a derived attribute can't be evaluated: it fails on device" in answered(view)


def test_past_the_step_bound_the_answer_is_unknown_and_says_what_was_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("k8s_topo_mcp.dra.allocation.STEP_BOUND", 2)
    devices = gpus(6, STD__numaNode=lambda number: number // 3)
    view = cluster(*ONE, pool(devices), *asking(request("a", 2), request("b", 2), constraints=[match(NUMA)]))
    report = explained(view)
    assert report.verdict == "unknown"
    assert code(report) == "SEARCH_BOUND"
    assert "bound" in answered(view)
